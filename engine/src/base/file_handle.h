#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace deltascope {

/// Owns a file descriptor.
class FileHandle {
public:
    FileHandle() = default;
    explicit FileHandle(int descriptor) noexcept
        : m_descriptor(descriptor)
    {
    }
    FileHandle(FileHandle&& other) noexcept
        : m_descriptor(std::exchange(other.m_descriptor, -1))
    {
    }
    FileHandle& operator=(FileHandle&& other) noexcept
    {
        std::swap(m_descriptor, other.m_descriptor);
        return *this;
    }
    ~FileHandle();

    int get() const noexcept { return m_descriptor; }
    /// Gives the descriptor away.
    int release() noexcept { return std::exchange(m_descriptor, -1); }
    explicit operator bool() const noexcept { return m_descriptor >= 0; }

private:
    int m_descriptor = -1;
};

/// openat(2) with O_CLOEXEC, tried again after signals. `folder` may be AT_FDCWD. If nothing was opened errno says why.
FileHandle openAt(int folder, const char* name, int flags, mode_t mode = 0) noexcept;

/// Reads until `out` is full or the file ends; returns how much it read.
Result<std::size_t> readAt(const FileHandle& file, std::uint64_t offset, MutableByteSpan out, std::string_view where);

Result<void> writeAt(const FileHandle& file, std::uint64_t offset, ByteSpan bytes, std::string_view where);

/// fsync of a folder. File systems that cannot do it (EINVAL) need none.
Result<void> syncEntries(const FileHandle& folder, std::string_view where);

} // namespace deltascope
