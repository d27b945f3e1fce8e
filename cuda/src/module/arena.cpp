#include "module/arena.h"

#include <algorithm>

namespace deltascope::cuda {

Result<void> Arena::open()
{
    const Driver& driver = m_device.driver();
    DS_CHECK(m_device.check(driver.memHostAlloc(&m_host, Bytes, PortableHost), "cuMemHostAlloc"));
    return m_device.check(driver.memAlloc(&m_memory, Bytes), "cuMemAlloc");
}

Arena::~Arena()
{
    const Current current(m_device);
    if (m_host)
        m_device.driver().memFreeHost(m_host);
    if (m_memory)
        m_device.driver().memFree(m_memory);
}

Arena::Place Arena::take(std::uint64_t bytes) noexcept
{
    const Place place { static_cast<char*>(m_host) + m_used, m_memory + m_used };
    m_used = std::min(Bytes, m_used + (bytes + Alignment - 1) / Alignment * Alignment);
    return place;
}

} // namespace deltascope::cuda
