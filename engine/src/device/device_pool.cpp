#include "device/device_pool.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>

namespace deltascope {

namespace {

constexpr std::uint64_t FreeShare = 10;
constexpr std::size_t UsualSlots = 8; ///< 256 MiB of pinned memory, with what their queues need at most
constexpr std::size_t MostSlots = 64; ///< where the user says how much memory

} // namespace

Result<std::unique_ptr<DevicePool>> DevicePool::open(const DeviceBackend::Load& load,
                                                     std::optional<std::uint64_t> memory)
{
    DS_TRY(const DeviceModule* const module, load());
    DeviceFault fault {};
    DeviceHandle* device = nullptr;
    if (module->open(0, &device, &fault) != 0)
        return fail(errorOf(fault));
    std::unique_ptr<DevicePool> pool(new DevicePool(*module, device));
    DS_TRY(const DeviceInfo info, pool->describe());
    pool->m_memory = memory.value_or(info.freeBytes / FreeShare);
    pool->m_idle.reserve(MostSlots); // giveBack() is called where nothing may fail
    pool->m_allowed =
        std::min<std::uint64_t>(pool->m_memory / DeviceSlot::DeviceBytes, memory ? MostSlots : UsualSlots);
    pool->m_most = pool->m_allowed;
    return pool;
}

Result<void> DevicePool::expectRoom() const
{
    if (m_allowed > 0)
        return {};
    DS_TRY(const DeviceInfo info, describe());
    return fail(Code::NoSpace,
                fmt::format("{} MiB of the memory of {} may be taken, and a batch takes {} MiB; --device-memory allows "
                            "more",
                            m_memory >> 20, info.name, DeviceSlot::DeviceBytes >> 20));
}

DevicePool::~DevicePool()
{
    m_idle.clear();
    m_module.close(m_device);
}

Result<DeviceInfo> DevicePool::describe() const
{
    DeviceFault fault {};
    DeviceInfo info {};
    if (m_module.describe(m_device, &info, &fault) != 0)
        return fail(errorOf(fault));
    return info;
}

std::unique_ptr<DeviceSlot> DevicePool::take()
{
    if (m_isLost)
        return nullptr;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_idle.empty()) {
            std::unique_ptr<DeviceSlot> slot = std::move(m_idle.back());
            m_idle.pop_back();
            return slot;
        }
        if (m_open == m_most)
            return nullptr;
        ++m_open;
    }
    Result<std::unique_ptr<DeviceSlot>> opened = openSlot();
    if (opened)
        return std::move(*opened);
    drop(opened.error());
    const std::lock_guard lock(m_mutex);
    if (m_open > 0)
        m_most = m_open; // there is no room for more: it takes long to find that out again and again
    return nullptr;
}

Result<std::unique_ptr<DeviceSlot>> DevicePool::openSlot()
{
    try {
        return DeviceSlot::open(m_module, m_device);
    } catch (const std::bad_alloc&) {
        return fail(Code::NoSpace, "there is no memory of the host for a batch");
    }
}

void DevicePool::giveBack(std::unique_ptr<DeviceSlot> slot, const std::optional<Error>& failure)
{
    if (failure) {
        slot.reset();
        return drop(*failure);
    }
    const std::lock_guard lock(m_mutex);
    m_idle.push_back(std::move(slot));
}

void DevicePool::closeIdle() noexcept
{
    const std::lock_guard lock(m_mutex); // until they are closed, so that nobody opens more than fit
    m_open -= m_idle.size();
    m_idle.clear(); // keeps its room
    m_most = m_allowed;
}

void DevicePool::drop(const Error& error)
{
    const bool lost = error.code != Code::NoSpace; // memory may be free again
    const bool wasLost = lost ? m_isLost.exchange(true) : m_isLost.load();
    const Error notice { error.code,
                         "the CUDA device failed (" + error.text + "); the processor did its work"
                             + (lost ? ", and does all that follows" : ""),
                         {},
                         {},
                         error.action };
    const std::lock_guard lock(m_mutex);
    --m_open;
    if (!wasLost && std::find(m_notices.begin(), m_notices.end(), notice) == m_notices.end())
        m_notices.push_back(notice);
}

std::vector<Error> DevicePool::notices() const
{
    const std::lock_guard lock(m_mutex);
    return m_notices;
}

} // namespace deltascope
