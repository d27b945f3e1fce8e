#include "local_watch.h"

#include "../base/errno_error.h"
#include "../base/folder_reader.h"
#include "local_listing.h"
#include "local_object.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace deltascope {

namespace {

using Milliseconds = std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds Slice { 50 }; // a stop request is seen after at most this
constexpr int MaxReadsPerDrain = 64;
constexpr std::size_t EventBufferBytes = 64 * 1024;
constexpr std::uint32_t WatchedEvents = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO
    | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW;

struct FolderId {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const FolderId&) const = default;
};

std::optional<FolderId> idOf(const std::string& path) noexcept
{
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return std::nullopt;
    return FolderId { status.st_dev, status.st_ino };
}

class LocalWatch final : public StoreWatch {
public:
    explicit LocalWatch(std::string root)
        : m_root(std::move(root))
        , m_buffer(EventBufferBytes)
    {
        m_rootId = idOf(m_root);
        rebuild();
    }

    Result<bool> wait(Milliseconds timeout, TaskContext& task) override
    {
        const auto start = SteadyClock::now();
        for (;;) {
            if (Result<void> going = task.going(); !going) {
                going.error().where = m_root;
                return fail(std::move(going.error()));
            }
            const bool rootChanged = followRoot();
            DS_TRY(const bool contentChanged, drain());
            if (rootChanged || contentChanged)
                return true;
            const auto elapsed = std::chrono::duration_cast<Milliseconds>(SteadyClock::now() - start);
            if (elapsed >= timeout)
                return m_blind;
            DS_CHECK(sleepOrWake(std::min(Slice, timeout - elapsed)));
        }
    }

private:
    Result<void> sleepOrWake(Milliseconds time) const
    {
        pollfd waiting = { m_inotify.get(), POLLIN, 0 };
        const int outcome = ::poll(&waiting, m_inotify ? 1 : 0, std::max(1, static_cast<int>(time.count())));
        if (outcome < 0 && errno != EINTR)
            return failErrno("poll", errno, m_root);
        return {};
    }

    /// True if the root was removed, moved away, replaced, or came back.
    bool followRoot()
    {
        // Looked at before the watches are set, so that a root replaced in between is noticed the next time.
        const std::optional<FolderId> now = idOf(m_root);
        if (now == m_rootId)
            return false;
        m_rootId = now;
        rebuild();
        return true;
    }

    void rebuild()
    {
        m_folders.clear();
        m_blind = false;
        m_inotify = FileHandle(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
        if (!m_inotify)
            m_blind = true;
        else if (m_rootId)
            addFolder(m_root, 0);
    }

    /// Watches a folder and all below. Watch first, then read: a folder created in between is seen either way.
    void addFolder(const std::string& path, int depth)
    {
        const int watch = ::inotify_add_watch(m_inotify.get(), path.c_str(), WatchedEvents);
        if (watch < 0) {
            if (errno != ENOENT && errno != ENOTDIR)
                m_blind = true;
            return;
        }
        m_folders[watch] = path;

        const FileHandle folder = openAt(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
        if (!folder && errno == ENOENT)
            return;
        if (!folder || depth == MaxFolderDepth || !seesAllChanges(folder)) {
            m_blind = true;
            return;
        }
        std::vector<std::string> inner;
        const auto outcome = readFolder(folder, path, [&](std::string_view name, EntryKind kind) {
            if (kind == EntryKind::Folder)
                inner.emplace_back(name);
            if (kind == EntryKind::Link) // what it leads to changes without an event here
                m_blind = true;
        });
        if (!outcome)
            m_blind = true;
        for (const std::string& name : inner)
            addFolder(path + '/' + name, depth + 1);
    }

    /// Takes all events that wait; true if one of them may concern an object.
    Result<bool> drain()
    {
        bool changed = false;
        for (int reads = 0; m_inotify && reads < MaxReadsPerDrain; ++reads) {
            const ssize_t got = ::read(m_inotify.get(), m_buffer.data(), m_buffer.size());
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0 && errno == EAGAIN)
                break;
            if (got < 0)
                return failErrno("read of inotify", errno, m_root);
            if (handleEvents(static_cast<std::size_t>(got)))
                changed = true;
        }
        return changed;
    }

    bool handleEvents(std::size_t bytes)
    {
        bool changed = false;
        bool overflow = false;
        for (std::size_t at = 0; at + sizeof(inotify_event) <= bytes;) {
            inotify_event event = {};
            std::memcpy(&event, m_buffer.data() + at, sizeof event);
            const char* const name = m_buffer.data() + at + sizeof event;
            at += sizeof event + event.len;
            if ((event.mask & IN_Q_OVERFLOW) != 0)
                overflow = true;
            else if (handleEvent(event, event.len == 0 ? std::string() : std::string(name)))
                changed = true;
        }
        if (overflow) // new folders may have gone unnoticed
            rebuild();
        return changed || overflow;
    }

    bool handleEvent(const inotify_event& event, const std::string& name)
    {
        if ((event.mask & IN_IGNORED) != 0) {
            m_folders.erase(event.wd);
            return true;
        }
        if (isTemporaryName(name))
            return false;
        const auto folder = m_folders.find(event.wd);
        if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0 && folder != m_folders.end())
            handleArrival(folder->second + '/' + name, (event.mask & IN_ISDIR) != 0);
        return true;
    }

    void handleArrival(const std::string& path, bool isFolder)
    {
        if (isFolder) {
            const auto depth = std::count(path.begin() + static_cast<std::ptrdiff_t>(m_root.size()), path.end(), '/');
            addFolder(path, static_cast<int>(std::min<std::ptrdiff_t>(depth, MaxFolderDepth)));
            return;
        }
        struct stat status = {};
        if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
            m_blind = true;
    }

    std::string m_root;
    std::vector<char> m_buffer;
    FileHandle m_inotify;
    std::unordered_map<int, std::string> m_folders; ///< path by watch descriptor
    std::optional<FolderId> m_rootId; ///< nothing while the root is missing
    bool m_blind = false; ///< some changes give no event
};

} // namespace

bool seesAllChanges(const FileHandle& folder) noexcept
{
    // EXT, XFS, BTRFS, F2FS, ZFS, BCACHEFS, TMPFS, RAMFS, OVERLAYFS, EXFAT, MSDOS, NTFS3: linux/magic.h and their
    // sources
    constexpr std::array<std::uint32_t, 12> Local = { 0xEF53,     0x58465342, 0x9123683E, 0xF2F52010,
                                                      0x2FC12FC1, 0xCA451A4E, 0x01021994, 0x858458F6,
                                                      0x794C7630, 0x2011BAB0, 0x4D44,     0x7366746E };
    struct statfs status = {};
    if (::fstatfs(folder.get(), &status) != 0)
        return false;
    return std::find(Local.begin(), Local.end(), static_cast<std::uint32_t>(status.f_type)) != Local.end();
}

Result<std::unique_ptr<StoreWatch>> watchLocalFolder(const std::string& root)
{
    const FileHandle folder = openAt(AT_FDCWD, root.c_str(), O_RDONLY | O_DIRECTORY);
    if (!folder)
        return failErrno("open", errno, root);
    return std::make_unique<LocalWatch>(root);
}

} // namespace deltascope
