#include "device/device_queue.h"

namespace deltascope {

Error errorOf(const DeviceFault& fault)
{
    return Error { static_cast<Code>(fault.code), fault.text, {}, {}, fault.action };
}

Result<std::unique_ptr<DeviceQueue>> DeviceQueue::open(const DeviceModule& module, DeviceHandle* device)
{
    DeviceFault fault {};
    DeviceQueueHandle* queue = nullptr;
    if (module.openQueue(device, &queue, &fault) != 0)
        return fail(errorOf(fault));
    return std::unique_ptr<DeviceQueue>(new DeviceQueue(module, queue));
}

DeviceQueue::~DeviceQueue() { m_module.closeQueue(m_queue); }

Result<void> DeviceQueue::fetch(MutableByteSpan to, std::uint64_t from)
{
    return call(m_module.download, static_cast<void*>(to.data()), from, std::uint64_t { to.size() });
}

} // namespace deltascope
