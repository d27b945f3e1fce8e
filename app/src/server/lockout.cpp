#include "lockout.h"

#include <algorithm>

namespace deltascope::server {

Lockout::Lockout(std::function<Clock::time_point()> now)
    : m_now(std::move(now))
{
}

void Lockout::fail(const std::string& client)
{
    if (!m_failures.contains(client))
        makeRoom();
    const Clock::time_point now = m_now();
    Failures& failures = m_failures[client];
    if (now - failures.last >= kMemory)
        failures.count = 0;
    constexpr int kDoublings = 6; // 64 s is above the longest already
    const std::chrono::seconds wait(1 << std::min(failures.count++, kDoublings));
    failures.last = now;
    m_waits.erase({ failures.until, client });
    failures.until = now + std::min(wait, kLongest);
    m_waits.emplace(failures.until, client);
}

std::chrono::seconds Lockout::wait(const std::string& client) const
{
    const auto found = m_failures.find(client);
    const Clock::time_point now = m_now();
    return found == m_failures.end() || found->second.until <= now
        ? std::chrono::seconds(0)
        : std::chrono::ceil<std::chrono::seconds>(found->second.until - now);
}

void Lockout::makeRoom()
{
    if (m_failures.size() < kMostClients)
        return;
    m_failures.erase(m_waits.begin()->second);
    m_waits.erase(m_waits.begin());
}

} // namespace deltascope::server
