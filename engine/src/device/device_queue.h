#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/device_module.h"

#include <memory>

namespace deltascope {

/// The error that a module reports.
Error errorOf(const DeviceFault& fault);

/// A queue of a device. One thread at a time.
class DeviceQueue {
public:
    static Result<std::unique_ptr<DeviceQueue>> open(const DeviceModule& module, DeviceHandle* device);
    ~DeviceQueue();
    DeviceQueue(const DeviceQueue&) = delete;
    DeviceQueue& operator=(const DeviceQueue&) = delete;

    /// Calls a function of the module with this queue.
    template <class... Parameters, class... Arguments>
    Result<void> call(std::int32_t (*function)(DeviceQueueHandle*, Parameters...), Arguments... arguments)
    {
        DeviceFault fault {};
        if (function(m_queue, arguments..., &fault) != 0)
            return fail(errorOf(fault));
        return {};
    }
    /// Copies from the memory of the device; the bytes are there after wait().
    Result<void> fetch(MutableByteSpan to, std::uint64_t from);
    Result<void> wait() { return call(m_module.wait); }
    const DeviceModule& module() const noexcept { return m_module; }
    DeviceQueueHandle* handle() const noexcept { return m_queue; } ///< for functions that cannot fail

private:
    DeviceQueue(const DeviceModule& module, DeviceQueueHandle* queue)
        : m_module(module)
        , m_queue(queue)
    {
    }

    const DeviceModule& m_module;
    DeviceQueueHandle* m_queue;
};

} // namespace deltascope
