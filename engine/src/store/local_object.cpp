#include "local_object.h"

#include "../base/errno_error.h"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
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

bool meansAbsent(int errnoValue) noexcept
{
    return errnoValue == ENOENT || errnoValue == ENOTDIR || errnoValue == ELOOP || errnoValue == ENAMETOOLONG
        || errnoValue == ENXIO;
}

} // namespace deltascope
