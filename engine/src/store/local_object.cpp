#include "local_object.h"

#include "../base/errno_error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <sys/random.h>
#include <unistd.h>

namespace deltascope {

namespace {

constexpr std::string_view TemporaryMark = ".ds-tmp-";
constexpr std::int64_t FreshSeconds = 3600;

std::int64_t nanoseconds(const timespec& time) noexcept
{
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// ctime, not mtime: copying tools set the mtime back, and every write moves the ctime.
bool isFresh(const struct stat& status) noexcept
{
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - status.st_ctim.tv_sec < FreshSeconds;
}

bool hasHole(const FileHandle& file, const struct stat& status) noexcept
{
    const off_t hole = ::lseek(file.get(), 0, SEEK_HOLE);
    if (hole < 0)
        return errno == ENXIO; // cut to nothing since the stat; other errors: the file system knows no holes
    return hole < status.st_size;
}

ObjectInfo describe(const struct stat& status, const std::string& key)
{
    ObjectInfo object;
    object.key = key;
    object.sizeBytes = static_cast<std::uint64_t>(status.st_size);
    object.identity = identityOf(status);
    object.modifiedUs = nanoseconds(status.st_mtim) / 1000;
    return object;
}

std::string_view kindOf(mode_t mode) noexcept
{
    return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a FIFO" : S_ISSOCK(mode) ? "a socket" : "a device";
}

/// " (../../blobs/4f2a)" of a link; nothing where it cannot be read.
std::string targetOf(const FileHandle& folder, const std::string& name)
{
    std::array<char, 256> target {};
    const ssize_t bytes = ::readlinkat(folder.get(), name.c_str(), target.data(), target.size());
    return bytes > 0 ? fmt::format(" ({})", std::string_view(target.data(), static_cast<std::size_t>(bytes)))
                     : std::string();
}

struct FreePath {
    void operator()(char* path) const noexcept { std::free(path); }
};

/// Without links. Nothing: errno says why.
std::optional<std::string> realPath(const std::string& path)
{
    const std::unique_ptr<char, FreePath> real(::realpath(path.c_str(), nullptr));
    return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

bool isWithin(std::string_view path, std::string_view folder) noexcept
{
    if (folder == "/")
        return true;
    return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

/// Where the Hub's cache keeps the files of a snapshot: "…/models--a--b/blobs" of "…/models--a--b/snapshots/<rev>/…".
std::optional<std::string> blobsOf(std::string_view path)
{
    constexpr std::string_view Snapshots = "/snapshots/";
    for (std::size_t at = path.rfind(Snapshots); at != std::string_view::npos && at > 0;
         at = path.rfind(Snapshots, at - 1)) {
        const std::string_view repository = path.substr(0, at);
        const std::string_view name = repository.substr(repository.rfind('/') + 1);
        if (name.starts_with("models--") || name.starts_with("datasets--") || name.starts_with("spaces--"))
            return std::string(repository) + "/blobs";
    }
    return std::nullopt;
}

/// The file may still be written, so whether it has holes matters.
bool needsHoleCheck(const struct stat& status) noexcept { return status.st_size > 0 && isFresh(status); }

} // namespace

std::string temporaryName(std::string_view name)
{
    constexpr std::size_t MaxNameBytes = 150; // leaves room for the rest within the 255 bytes of a name
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) {
        timespec now = {};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        random = static_cast<std::uint64_t>(nanoseconds(now));
    }
    return fmt::format(".{}{}{}-{:016x}", name.substr(0, MaxNameBytes), TemporaryMark, ::getpid(), random);
}

bool isTemporaryName(std::string_view name) noexcept
{
    return name.starts_with('.') && name.find(TemporaryMark) != std::string_view::npos;
}

std::optional<std::int64_t> writerOf(std::string_view name) noexcept
{
    constexpr std::size_t RandomDigits = 16;
    const std::size_t mark = name.rfind(TemporaryMark);
    if (!isTemporaryName(name) || mark == std::string_view::npos)
        return std::nullopt;
    const std::string_view rest = name.substr(mark + TemporaryMark.size());
    const std::size_t dash = rest.find('-');
    if (dash == std::string_view::npos || rest.size() != dash + 1 + RandomDigits
        || rest.find_first_not_of("0123456789abcdef", dash + 1) != std::string_view::npos)
        return std::nullopt;
    const std::optional<std::int64_t> process = parseNumber(rest.substr(0, dash));
    return process && *process > 0 && *process <= std::numeric_limits<pid_t>::max() ? process : std::nullopt;
}

std::string identityOf(const struct stat& status)
{
    return fmt::format("{}:{}:{}:{}:{}", status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim),
                       nanoseconds(status.st_ctim));
}

Result<ObjectInfo> describeFile(const FileHandle& file, const std::string& key)
{
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0)
        return failErrno("fstat", errno, key);
    ObjectInfo object = describe(status, key);
    object.hasUnwrittenPart = needsHoleCheck(status) && hasHole(file, status);
    return object;
}

Result<std::optional<ObjectInfo>> examineName(const FileHandle& folder, const std::string& name, const std::string& key)
{
    struct stat status = {};
    if (::fstatat(folder.get(), name.c_str(), &status, 0) != 0) {
        if (meansAbsent(errno))
            return std::optional<ObjectInfo>();
        return failErrno("stat", errno, key);
    }
    if (!S_ISREG(status.st_mode))
        return std::optional<ObjectInfo>();
    if (!needsHoleCheck(status))
        return describe(status, key);

    const FileHandle file = openAt(folder.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file) {
        if (meansAbsent(errno))
            return std::optional<ObjectInfo>();
        if (errno == EACCES || errno == EPERM)
            return describe(status, key); // not for us to read, so nobody is misled by its holes
        return failErrno("open", errno, key);
    }
    if (::fstat(file.get(), &status) != 0)
        return failErrno("fstat", errno, key);
    if (!S_ISREG(status.st_mode))
        return std::optional<ObjectInfo>();
    return describeFile(file, key);
}

Result<std::optional<ObjectInfo>> examineEntry(const FileHandle& folder, const std::string& name,
                                               const std::string& key, const std::string& root, const std::string& home)
{
    DS_TRY(std::optional<ObjectInfo> object, examineName(folder, name, key));
    if (object)
        return object;
    struct stat entry = {};
    if (::fstatat(folder.get(), name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) != 0) {
        if (meansAbsent(errno)) // gone meanwhile
            return std::optional<ObjectInfo>();
        return failErrno("stat", errno, key);
    }
    const bool isLink = S_ISLNK(entry.st_mode);
    struct stat target = {};
    const bool leadsSomewhere = ::fstatat(folder.get(), name.c_str(), &target, 0) == 0;
    if (leadsSomewhere && S_ISREG(target.st_mode)) // it came meanwhile, and is listed at the next look
        return std::optional<ObjectInfo>();
    if (isLink && leadsSomewhere && S_ISDIR(target.st_mode) && !isNamedAsFile(name)) {
        const std::optional<std::string> real = realPath(root + '/' + key);
        if (!real || *real == home || isWithin(*real, home))
            return std::optional<ObjectInfo>();
    }
    object = describe(entry, key);
    object->sizeBytes = 0;
    object->oddity = !leadsSomewhere ? fmt::format("a link that leads nowhere{}", targetOf(folder, name))
                                     : fmt::format("{}{}", isLink ? "a link to " : "", kindOf(target.st_mode));
    return object;
}

std::optional<std::string> followedFolder(const std::string& root, std::string_view key)
{
    const std::string path = root + '/' + std::string(key);
    struct stat target = {};
    if (::stat(path.c_str(), &target) != 0 || !S_ISDIR(target.st_mode))
        return std::nullopt;
    std::optional<std::string> real = realPath(path);
    const bool isElsewhere = real && *real != root && !isWithin(*real, root) && !isWithin(root, *real);
    return isElsewhere ? real : std::nullopt;
}

bool isNamedAsFile(std::string_view name) noexcept
{
    constexpr std::array<std::string_view, 6> Ends = { ".safetensors", ".json", ".zst", ".bin", ".pt", ".distcp" };
    return std::any_of(Ends.begin(), Ends.end(),
                       [name](std::string_view end) { return name.size() > end.size() && name.ends_with(end); });
}

Result<bool> linkLeadsOutside(const std::string& root, std::string_view key)
{
    const std::string path = root + '/' + std::string(key);
    const std::optional<std::string> real = realPath(path);
    if (!real) {
        if (meansAbsent(errno))
            return false;
        return failErrno("realpath", errno, key);
    }
    if (isWithin(*real, root))
        return false;
    for (std::size_t slash = key.find('/'); slash != std::string_view::npos; slash = key.find('/', slash + 1)) {
        if (const std::optional<std::string> home = followedFolder(root, key.substr(0, slash)))
            return !isWithin(*real, *home);
    }
    const std::optional<std::string> blobs = blobsOf(path);
    return !blobs || !isWithin(*real, *blobs);
}

bool meansAbsent(int errnoValue) noexcept
{
    return errnoValue == ENOENT || errnoValue == ENOTDIR || errnoValue == ELOOP || errnoValue == ENAMETOOLONG
        || errnoValue == ENXIO;
}

} // namespace deltascope
