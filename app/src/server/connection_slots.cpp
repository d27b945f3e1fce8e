#include "connection_slots.h"

#include <utility>

namespace deltascope::server {

ConnectionSlots::Slot::Slot(ConnectionSlots& slots, std::string client)
    : m_slots(&slots)
    , m_client(std::move(client))
{
    ++m_slots->m_all;
    if (!m_client.empty())
        ++m_slots->m_byClient[m_client];
}

ConnectionSlots::Slot::Slot(Slot&& other) noexcept
    : m_slots(std::exchange(other.m_slots, nullptr))
    , m_client(std::move(other.m_client))
{
}

ConnectionSlots::Slot::~Slot()
{
    if (!m_slots)
        return;
    --m_slots->m_all;
    const auto found = m_slots->m_byClient.find(m_client);
    if (found != m_slots->m_byClient.end() && --found->second == 0)
        m_slots->m_byClient.erase(found);
}

std::size_t ConnectionSlots::of(const std::string& client) const
{
    const auto found = m_byClient.find(client);
    return found == m_byClient.end() ? 0 : found->second;
}

} // namespace deltascope::server
