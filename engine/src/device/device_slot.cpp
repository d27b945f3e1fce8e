#include "device/device_slot.h"

namespace deltascope {

Result<std::unique_ptr<DeviceSlot>> DeviceSlot::open(const DeviceModule& module, DeviceHandle* device)
{
    constexpr std::uint64_t Bytes = 3 * AreaBytes;
    DS_TRY(std::unique_ptr<DeviceQueue> queue, DeviceQueue::open(module, device));
    std::unique_ptr<DeviceSlot> slot(new DeviceSlot(std::move(queue)));
    DS_CHECK(slot->m_queue->call(module.allocate, std::uint64_t { Bytes }, &slot->m_device));
    void* pinned = nullptr;
    const Result<void> granted = slot->m_queue->call(module.allocateHost, std::uint64_t { Bytes }, &pinned);
    if (!granted && granted.error().code != Code::NoSpace)
        return fail(granted.error());
    slot->m_host = static_cast<std::byte*>(pinned);
    if (!granted) {
        slot->m_pageable.resize(Bytes);
        slot->m_host = slot->m_pageable.data();
    }
    return slot;
}

Result<void> DeviceSlot::sendUp(Area area, std::size_t bytes)
{
    return m_queue->call(m_queue->module().upload, device(area), static_cast<const void*>(host(area).data()),
                         std::uint64_t { bytes });
}

Result<void> DeviceSlot::bringDown(Area to, Area from, std::size_t bytes)
{
    return m_queue->fetch(host(to).first(bytes), device(from));
}

} // namespace deltascope
