#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "device/device_queue.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace deltascope {

/// Bytes in the memory of a device.
struct DeviceStretch {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
};

/// Brings memory of a device down in parts, over two places by turns: the next part is on its way while the one before
/// is used. They are pinned where the driver grants that. Outlives the queue. One thread at a time.
class StagedReads {
public:
    /// A part of a stretch, from byte `at` of it on; valid during the call.
    using TakePart = std::function<Result<void>(std::size_t stretch, std::uint64_t at, ByteSpan part)>;

    /// Parts in order, each of whole elements of every type and of whole blocks, but for the end of a stretch. Errors:
    /// those of the device and of `take`; then the queue may still write to the places.
    Result<void> read(DeviceQueue& queue, const std::vector<DeviceStretch>& stretches, const TakePart& take);
    /// The queue is gone, and the places that it had.
    void close() noexcept { m_places = {}; }

private:
    Result<void> open(DeviceQueue& queue);

    std::vector<std::byte> m_pageable; ///< the memory of m_places where none is pinned
    std::array<MutableByteSpan, 2> m_places; ///< empty: not open
};

} // namespace deltascope
