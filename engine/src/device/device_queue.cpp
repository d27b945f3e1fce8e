#include "device/device_queue.h"

#include <algorithm>

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

Result<std::uint64_t> DeviceQueue::room(Place place, std::size_t bytes)
{
    constexpr std::size_t Least = std::size_t { 1 } << 20;
    Room& room = m_rooms[static_cast<std::size_t>(place)];
    if (room.bytes < bytes) {
        if (room.address != 0)
            m_module.release(m_queue, room.address);
        room = {};
        const std::size_t wanted = std::max(bytes, Least);
        DS_CHECK(call(m_module.allocate, std::uint64_t { wanted }, &room.address));
        room.bytes = wanted;
    }
    return room.address;
}

Result<std::uint64_t> DeviceQueue::send(Place place, ByteSpan bytes)
{
    DS_TRY(const std::uint64_t address, room(place, bytes.size()));
    DS_CHECK(call(m_module.upload, address, static_cast<const void*>(bytes.data()), std::uint64_t { bytes.size() }));
    return address;
}

Result<void> DeviceQueue::fetch(MutableByteSpan to, std::uint64_t from)
{
    return call(m_module.download, static_cast<void*>(to.data()), from, std::uint64_t { to.size() });
}

} // namespace deltascope
