#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/device_module.h"

#include <array>
#include <memory>

namespace deltascope {

/// The error that a module reports.
Error errorOf(const DeviceFault& fault);

/// A queue of a device with memory for what a call takes up, kept between calls. One thread at a time.
class DeviceQueue {
public:
    static Result<std::unique_ptr<DeviceQueue>> open(const DeviceModule& module, DeviceHandle* device);
    ~DeviceQueue();
    DeviceQueue(const DeviceQueue&) = delete;
    DeviceQueue& operator=(const DeviceQueue&) = delete;

    /// Places in the memory of the device that one call needs at the same time.
    enum class Place { First, Second, Third };

    /// Memory of at least so many bytes; what was there is lost.
    Result<std::uint64_t> room(Place place, std::size_t bytes);
    /// Sends bytes to such a place. They live until wait().
    Result<std::uint64_t> send(Place place, ByteSpan bytes);
    Result<void> fetch(MutableByteSpan to, std::uint64_t from);
    /// Calls a function of the module with this queue.
    template <class... Parameters, class... Arguments>
    Result<void> call(std::int32_t (*function)(DeviceQueueHandle*, Parameters...), Arguments... arguments)
    {
        DeviceFault fault {};
        if (function(m_queue, arguments..., &fault) != 0)
            return fail(errorOf(fault));
        return {};
    }
    const DeviceModule& module() const noexcept { return m_module; }
    DeviceQueueHandle* handle() const noexcept { return m_queue; } ///< for functions that cannot fail

private:
    struct Room {
        std::uint64_t address = 0;
        std::size_t bytes = 0;
    };

    DeviceQueue(const DeviceModule& module, DeviceQueueHandle* queue)
        : m_module(module)
        , m_queue(queue)
    {
    }

    const DeviceModule& m_module;
    DeviceQueueHandle* m_queue;
    std::array<Room, 3> m_rooms;
};

} // namespace deltascope
