#include "local_cleanup.h"

#include "../base/errno_error.h"
#include "../base/folder_reader.h"
#include "local_listing.h"
#include "local_object.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace deltascope {

namespace {

bool runsHere(std::int64_t process) { return ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH; }

class TemporaryWalk {
public:
    TemporaryWalk(const std::function<bool(std::string_view folder)>& enters, TaskContext& task)
        : m_enters(enters)
        , m_task(task)
    {
    }

    Result<void> visit(const FileHandle& folder, const std::string& key, int depth)
    {
        DS_CHECK(m_task.checkpoint());
        std::vector<std::string> folders;
        std::vector<std::string> left;
        DS_CHECK(readFolder(folder, key, [&](std::string_view name, EntryKind kind) {
            if (kind == EntryKind::Folder && depth < MaxFolderDepth)
                folders.emplace_back(name);
            const std::optional<std::int64_t> writer = kind == EntryKind::File ? writerOf(name) : std::nullopt;
            if (writer && !runsHere(*writer))
                left.emplace_back(name);
        }));
        for (const std::string& name : left) {
            if (::unlinkat(folder.get(), name.c_str(), 0) == 0)
                ++m_removed;
            else if (errno != ENOENT)
                return failErrno("unlink", errno, key.empty() ? name : key + '/' + name);
        }
        for (const std::string& name : folders) {
            const std::string inner = key.empty() ? name : key + '/' + name;
            if (!m_enters(inner))
                continue;
            const FileHandle handle = openAt(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
            if (handle)
                DS_CHECK(visit(handle, inner, depth + 1));
        }
        return {};
    }

    std::size_t removed() const noexcept { return m_removed; }

private:
    const std::function<bool(std::string_view folder)>& m_enters;
    TaskContext& m_task;
    std::size_t m_removed = 0;
};

} // namespace

Result<std::size_t> removeLocalTemporaries(const std::string& root,
                                           const std::function<bool(std::string_view folder)>& enters,
                                           TaskContext& task)
{
    const FileHandle folder = openAt(AT_FDCWD, root.c_str(), O_RDONLY | O_DIRECTORY);
    if (!folder)
        return failErrno("open", errno, root);
    TemporaryWalk walk(enters, task);
    if (enters(""))
        DS_CHECK(walk.visit(folder, {}, 0));
    return walk.removed();
}

} // namespace deltascope
