#pragma once

#include "module/device.h"

namespace deltascope::cuda {

/// Pinned memory of the host and as much of the device, handed out side by side: job tables go up from it, results come
/// down into it. Empty again after clear().
class Arena {
public:
    explicit Arena(const Device& device)
        : m_device(device)
    {
    }
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    struct Place {
        void* host;
        Address device;
    };

    Result<void> open();
    /// Whether so much more fits.
    bool fits(std::uint64_t bytes) const noexcept { return bytes <= Bytes - m_used; }
    /// Aligned to 256 bytes; must fit.
    Place take(std::uint64_t bytes) noexcept;
    bool isEmpty() const noexcept { return m_used == 0; }
    void clear() noexcept { m_used = 0; }

    static constexpr std::uint64_t Bytes = 8 << 20;
    static constexpr std::uint64_t Alignment = 256;

private:
    const Device& m_device;
    void* m_host = nullptr;
    Address m_memory = 0;
    std::uint64_t m_used = 0;
};

} // namespace deltascope::cuda
