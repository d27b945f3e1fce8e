#include "file_handle.h"

#include "errno_error.h"

#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <unistd.h>

namespace deltascope {

namespace {

constexpr auto MaxOffset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());

bool fitsOffset(std::uint64_t offset, std::size_t bytes) noexcept
{
    return offset <= MaxOffset && bytes <= MaxOffset - offset;
}

} // namespace

FileHandle::~FileHandle()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

FileHandle openAt(int folder, const char* name, int flags, mode_t mode) noexcept
{
    int descriptor = -1;
    do {
        descriptor = ::openat(folder, name, flags | O_CLOEXEC, mode);
    } while (descriptor < 0 && errno == EINTR);
    return FileHandle(descriptor);
}

Result<std::size_t> readAt(const FileHandle& file, std::uint64_t offset, MutableByteSpan out, std::string_view where)
{
    if (!fitsOffset(offset, out.size()))
        return failErrno("pread", EINVAL, where);
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t got =
            ::pread(file.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failErrno("pread", errno, where);
        if (got == 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

Result<void> writeAt(const FileHandle& file, std::uint64_t offset, ByteSpan bytes, std::string_view where)
{
    if (!fitsOffset(offset, bytes.size()))
        return failErrno("pwrite", EFBIG, where);
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t put =
            ::pwrite(file.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return failErrno("pwrite", errno, where);
        if (put == 0)
            return fail(Code::Io, "pwrite: wrote nothing", std::string(where));
        done += static_cast<std::size_t>(put);
    }
    return {};
}

Result<void> syncEntries(const FileHandle& folder, std::string_view where)
{
    if (::fsync(folder.get()) != 0 && errno != EINVAL)
        return failErrno("fsync", errno, where);
    return {};
}

} // namespace deltascope
