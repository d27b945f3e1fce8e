#include "local_listing.h"

#include "../base/errno_error.h"
#include "../base/file_handle.h"
#include "../base/folder_reader.h"
#include "local_object.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>

namespace deltascope {

namespace {

constexpr std::size_t EntriesPerCheckpoint = 256;

Result<void> checkSame(const struct stat& opened, const struct stat& now, const std::string& path)
{
    if (opened.st_dev != now.st_dev || opened.st_ino != now.st_ino)
        return fail(Code::Transient, "the folder was replaced while it was listed", path);
    return {};
}

/// A name in a folder, as it sorts among the keys: folders end with a slash.
struct Entry {
    std::string sortName;
    bool isFolder() const noexcept { return sortName.back() == '/'; }
};

/// The smallest name first, and only as much sorting as the page needs.
class EntryQueue {
public:
    void add(std::string sortName) { m_heap.push_back(Entry { std::move(sortName) }); }
    void arrange() { std::make_heap(m_heap.begin(), m_heap.end(), later); }
    bool empty() const noexcept { return m_heap.empty(); }
    Entry take()
    {
        std::pop_heap(m_heap.begin(), m_heap.end(), later);
        Entry entry = std::move(m_heap.back());
        m_heap.pop_back();
        return entry;
    }

private:
    static bool later(const Entry& a, const Entry& b) noexcept { return a.sortName > b.sortName; }

    std::vector<Entry> m_heap;
};

class ListingWalk {
public:
    ListingWalk(const std::string& root, const ListRequest& request, TaskContext& task)
        : m_root(root)
        , m_request(request)
        , m_task(task)
    {
    }

    /// `key` is empty for the root and ends with a slash otherwise.
    Result<void> visitFolder(const FileHandle& folder, const std::string& key, int depth)
    {
        DS_CHECK(m_task.checkpoint());
        DS_TRY(EntryQueue entries, readEntries(folder, key));
        while (!entries.empty() && !m_page.more) {
            if (++m_visited % EntriesPerCheckpoint == 0)
                DS_CHECK(m_task.checkpoint());
            const Entry entry = entries.take();
            if (entry.isFolder())
                DS_CHECK(descend(folder, key, entry.sortName, depth));
            else
                DS_CHECK(addFile(folder, key, entry.sortName));
        }
        return {};
    }

    ListPage takePage() { return std::move(m_page); }

private:
    bool wantsFile(std::string_view key) const noexcept
    {
        return key > m_request.startAfter && key.starts_with(m_request.prefix);
    }

    bool wantsFolder(std::string_view key) const noexcept
    {
        const std::string_view prefix = m_request.prefix;
        const std::string_view after = m_request.startAfter;
        return (key.starts_with(prefix) || prefix.starts_with(key)) && (key > after || after.starts_with(key));
    }

    std::string pathOf(const std::string& key) const { return m_root + '/' + key; }

    Result<EntryQueue> readEntries(const FileHandle& folder, const std::string& key) const
    {
        EntryQueue entries;
        std::string full = key;
        DS_CHECK(readFolder(folder, pathOf(key), [&](std::string_view name, EntryKind kind) {
            if (isTemporaryName(name))
                return;
            full.resize(key.size());
            full += name;
            const bool isFollowed = kind == EntryKind::Link && !isNamedAsFile(name) && !m_home.has_value()
                && followedFolder(m_root, full).has_value();
            if (isFollowed)
                kind = EntryKind::Folder;
            if (kind == EntryKind::Folder && isNamedAsFile(name) && wantsFile(full))
                entries.add(full.substr(key.size()));
            if (kind == EntryKind::Folder)
                full += '/';
            if (kind == EntryKind::Folder ? wantsFolder(full) : wantsFile(full))
                entries.add(full.substr(key.size()));
        }));
        entries.arrange();
        return entries;
    }

    Result<void> descend(const FileHandle& folder, const std::string& key, const std::string& sortName, int depth)
    {
        const std::string inner = key + sortName;
        if (depth == MaxFolderDepth)
            return fail(Code::Unsupported, fmt::format("folders nested more than {} deep", MaxFolderDepth),
                        pathOf(inner));
        const std::string name = sortName.substr(0, sortName.size() - 1);
        const FileHandle handle = openAt(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (!handle) {
            if (errno == ENOTDIR || errno == ELOOP)
                return follow(folder, key + name, name, depth);
            if (errno == ENOENT) // vanished since it was read
                return {};
            return failErrno("open", errno, pathOf(inner));
        }
        DS_CHECK(visitFolder(handle, inner, depth + 1));
        return checkSameFolder(handle, folder, name, pathOf(inner), AT_SYMLINK_NOFOLLOW);
    }

    /// A link to a folder elsewhere. Links in that folder are not followed again, which cuts every cycle.
    Result<void> follow(const FileHandle& folder, const std::string& key, const std::string& name, int depth)
    {
        std::optional<std::string> home = m_home ? std::nullopt : followedFolder(m_root, key);
        if (!home) // replaced since it was read
            return {};
        const FileHandle handle = openAt(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
        if (!handle && meansAbsent(errno))
            return {};
        if (!handle)
            return failErrno("open", errno, pathOf(key));
        m_home = std::move(home);
        const Result<void> visited = visitFolder(handle, key + '/', depth + 1);
        m_home.reset();
        DS_CHECK(visited);
        return checkSameFolder(handle, folder, name, pathOf(key), 0);
    }

    /// A folder that was replaced under the walk may have read as empty although its successor is not.
    static Result<void> checkSameFolder(const FileHandle& handle, const FileHandle& parent, const std::string& name,
                                        const std::string& path, int flags)
    {
        struct stat opened = {};
        struct stat now = {};
        if (::fstat(handle.get(), &opened) != 0)
            return failErrno("fstat", errno, path);
        if (::fstatat(parent.get(), name.c_str(), &now, flags) != 0) {
            if (errno == ENOENT) // gone with all that it held
                return {};
            return failErrno("stat", errno, path);
        }
        return checkSame(opened, now, path);
    }

    Result<void> addFile(const FileHandle& folder, const std::string& key, const std::string& name)
    {
        DS_TRY(std::optional<ObjectInfo> object,
               examineEntry(folder, name, key + name, m_root, m_home.value_or(m_root)));
        if (!object)
            return {};
        if (m_page.objects.size() == m_request.maxKeys)
            m_page.more = true;
        else
            m_page.objects.push_back(std::move(*object));
        return {};
    }

    const std::string& m_root;
    const ListRequest& m_request;
    TaskContext& m_task;
    ListPage m_page;
    std::size_t m_visited = 0;
    std::optional<std::string> m_home; ///< the folder elsewhere that the walk is in
};

/// A root that was removed or replaced under the walk reads as empty; that must not look like an empty store.
Result<void> checkStillThere(const FileHandle& folder, const std::string& root)
{
    struct stat opened = {};
    struct stat now = {};
    if (::fstat(folder.get(), &opened) != 0)
        return failErrno("fstat", errno, root);
    if (::stat(root.c_str(), &now) != 0)
        return failErrno("stat", errno, root);
    return checkSame(opened, now, root);
}

} // namespace

Result<ListPage> listLocalFolder(const std::string& root, const ListRequest& request, TaskContext& task)
{
    if (request.maxKeys == 0)
        return fail(Code::Usage, "a page of a listing holds at least one key", root);
    const FileHandle folder = openAt(AT_FDCWD, root.c_str(), O_RDONLY | O_DIRECTORY);
    if (!folder)
        return failErrno("open", errno, root);
    ListingWalk walk(root, request, task);
    DS_CHECK(walk.visitFolder(folder, {}, 0));
    DS_CHECK(checkStillThere(folder, root));
    return walk.takePage();
}

} // namespace deltascope
