#include "disk_trim.h"

#include "../../base/folder_reader.h"
#include "../local_object.h"

#include <ctime>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace deltascope {

namespace {

constexpr std::size_t LeafFolderDigits = 2;
constexpr std::size_t LeafNameDigits = 30;
constexpr std::int64_t LeftoverSeconds = 3600;

bool isHexName(std::string_view name, std::size_t digits)
{
    return name.size() == digits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class LeafTrim {
public:
    explicit LeafTrim(const FileHandle& leaves)
        : m_leaves(leaves)
    {
        timespec now = {};
        ::clock_gettime(CLOCK_REALTIME, &now);
        m_now = now.tv_sec;
    }

    bool readAll()
    {
        std::vector<std::string> folders;
        const Result<void> read = readFolder(m_leaves, "leaves", [&](std::string_view name, EntryKind kind) {
            if (kind == EntryKind::Folder && isHexName(name, LeafFolderDigits))
                folders.emplace_back(name);
        });
        for (const std::string& folder : folders)
            readOne(folder);
        return read.has_value();
    }

    void shrinkTo(std::uint64_t mostBytes)
    {
        if (m_bytes <= mostBytes)
            return;
        std::sort(m_files.begin(), m_files.end(), [](const File& a, const File& b) { return a.usedNs < b.usedNs; });
        for (const File& file : m_files) {
            if (m_bytes <= mostBytes)
                return;
            ::unlinkat(m_leaves.get(), file.path.c_str(), 0);
            m_bytes -= file.bytes;
        }
    }

private:
    struct File {
        std::int64_t usedNs;
        std::uint64_t bytes;
        std::string path;
    };

    void readOne(const std::string& folder)
    {
        const FileHandle handle = openAt(m_leaves.get(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (!handle)
            return;
        static_cast<void>(readFolder(handle, folder, [&](std::string_view name, EntryKind kind) {
            if (kind != EntryKind::File || !(isHexName(name, LeafNameDigits) || isTemporaryName(name)))
                return;
            std::string path = folder + '/' + std::string(name);
            struct stat status = {};
            if (::fstatat(m_leaves.get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
                return;
            if (isTemporaryName(name) && m_now - status.st_mtim.tv_sec >= LeftoverSeconds) {
                ::unlinkat(m_leaves.get(), path.c_str(), 0);
                return;
            }
            const std::uint64_t bytes = takenBytes(static_cast<std::uint64_t>(status.st_size));
            m_bytes += bytes;
            if (!isTemporaryName(name)) // somebody is writing it
                m_files.push_back(
                    { std::int64_t { status.st_mtim.tv_sec } * 1'000'000'000 + status.st_mtim.tv_nsec, bytes, path });
        }));
    }

    const FileHandle& m_leaves;
    std::int64_t m_now = 0;
    std::vector<File> m_files;
    std::uint64_t m_bytes = 0;
};

} // namespace

bool trimLeaves(const FileHandle& leaves, std::uint64_t mostBytes)
{
    LeafTrim trim(leaves);
    if (!trim.readAll())
        return false;
    trim.shrinkTo(mostBytes);
    return true;
}

} // namespace deltascope
