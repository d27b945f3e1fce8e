#pragma once

#include "deltascope/base/bytes.h"
#include "device/device_queue.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace deltascope {

/// A queue of a device with memory for one batch: three areas on the host, pinned where the driver grants that, and the
/// same three on the device. One thread at a time.
class DeviceSlot {
public:
    static constexpr std::size_t AreaBytes = std::size_t { 4 } << 20;
    /// Memory of the device that it takes at most, with what its queue needs for a batch.
    static constexpr std::size_t DeviceBytes = std::size_t { 32 } << 20;
    static constexpr std::size_t Alignment = 256; ///< of what lies in an area, so that kernels read 16 bytes at a time

    enum class Area { First, Second, Third };

    static Result<std::unique_ptr<DeviceSlot>> open(const DeviceModule& module, DeviceHandle* device);

    DeviceQueue& queue() noexcept { return *m_queue; }
    MutableByteSpan host(Area area) const noexcept { return { m_host + offsetOf(area), AreaBytes }; }
    std::uint64_t device(Area area) const noexcept { return m_device + offsetOf(area); }
    /// Copies the front of an area to the device, or from there into the front of another one.
    Result<void> sendUp(Area area, std::size_t bytes);
    Result<void> bringDown(Area to, Area from, std::size_t bytes);

private:
    explicit DeviceSlot(std::unique_ptr<DeviceQueue> queue)
        : m_queue(std::move(queue))
    {
    }
    static std::size_t offsetOf(Area area) noexcept { return static_cast<std::size_t>(area) * AreaBytes; }

    std::vector<std::byte> m_pageable; ///< in the place of pinned memory; outlives the queue
    std::byte* m_host = nullptr;
    std::uint64_t m_device = 0;
    std::unique_ptr<DeviceQueue> m_queue;
};

/// The next offset in an area where something may lie.
constexpr std::size_t alignedInArea(std::size_t offset) noexcept
{
    return (offset + DeviceSlot::Alignment - 1) / DeviceSlot::Alignment * DeviceSlot::Alignment;
}

} // namespace deltascope
