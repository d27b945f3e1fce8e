#include "scratch.h"

#include "errno_error.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace deltascope {

Result<std::unique_ptr<Scratch>> Scratch::create(const std::string& folder)
{
    std::string where = folder;
    if (where.empty()) {
        const char* set = std::getenv("TMPDIR");
        where = set && *set ? set : "/var/tmp";
    }
    int descriptor = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        std::string name = where + "/.ds-scratch-XXXXXX";
        descriptor = ::mkostemp(name.data(), O_CLOEXEC);
        if (descriptor >= 0)
            ::unlink(name.c_str());
    }
    if (descriptor < 0)
        return fail(errnoError("open (scratch file)", errno, where));
    return std::unique_ptr<Scratch>(new Scratch(descriptor));
}

Scratch::~Scratch() { ::close(m_descriptor); }

Result<void> Scratch::write(std::uint64_t offset, ByteSpan bytes)
{
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(m_descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail(errnoError("pwrite", errno, "scratch file"));
        offset += static_cast<std::uint64_t>(done);
        bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return {};
}

Result<void> Scratch::read(std::uint64_t offset, MutableByteSpan out) const
{
    while (!out.empty()) {
        const ssize_t done = ::pread(m_descriptor, out.data(), out.size(), static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail(errnoError("pread", done == 0 ? EIO : errno, "scratch file"));
        offset += static_cast<std::uint64_t>(done);
        out = out.subspan(static_cast<std::size_t>(done));
    }
    return {};
}

void Scratch::release(std::uint64_t offset, std::uint64_t bytes) noexcept
{
    if (bytes != 0)
        (void)::fallocate(m_descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                          static_cast<off_t>(bytes));
}

} // namespace deltascope
