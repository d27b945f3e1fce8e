#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/base/task.h"

#include <cstdint>

namespace deltascope {

/// Bytes on their way out of this process: into a store, or to a server. They can be read again, and from any offset,
/// so that what failed can be repeated and parts can go in parallel.
class Payload {
public:
    virtual ~Payload() = default;
    virtual std::uint64_t sizeBytes() const noexcept = 0;
    /// Fills the front of `out` with what stands at `offset`; returns how much, never 0 before the end. Any thread. It
    /// may be called on a thread that serves many requests: it must not wait for anything but a local disk.
    virtual Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const = 0;
    /// Waits until these bytes can be read: some payloads are sent while they are made. Only a store that says that it
    /// puts what comes (StoreTraits::putsWhatComes) gets one of them. Errors: Canceled, also where it will never be
    /// made.
    virtual Result<void> await(std::uint64_t offset, std::uint64_t bytes, TaskContext& task) const;
};

/// A Payload over memory that the caller keeps alive.
class MemoryPayload final : public Payload {
public:
    explicit MemoryPayload(ByteSpan bytes)
        : m_bytes(bytes)
    {
    }
    std::uint64_t sizeBytes() const noexcept override { return m_bytes.size(); }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override;

private:
    ByteSpan m_bytes;
};

} // namespace deltascope
