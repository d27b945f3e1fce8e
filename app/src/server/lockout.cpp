#include "lockout.h"

namespace deltascope::server {

Lockout::Lockout(std::function<Clock::time_point()> now)
    : m_now(std::move(now))
{
}

void Lockout::fail(const std::string& client)
{
    forgetOld();
    m_failures[client].push_back(m_now());
}

bool Lockout::locked(const std::string& client)
{
    forgetOld();
    const auto found = m_failures.find(client);
    return found != m_failures.end() && found->second.size() >= kMaxFailures;
}

void Lockout::forgetOld()
{
    const Clock::time_point oldest = m_now() - kWindow;
    for (auto& [client, times] : m_failures) {
        while (!times.empty() && times.front() <= oldest)
            times.pop_front();
    }
    std::erase_if(m_failures, [](const auto& client) { return client.second.empty(); });
}

} // namespace deltascope::server
