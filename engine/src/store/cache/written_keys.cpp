#include "written_keys.h"

#include <utility>

namespace deltascope {

void WrittenKeys::note(std::string_view key, std::string identity)
{
    const std::lock_guard lock(m_mutex);
    const auto [place, isNew] = m_identities.insert_or_assign(std::string(key), std::move(identity));
    if (!isNew)
        return;
    m_order.emplace_back(key);
    if (m_order.size() > MostWritten) {
        m_identities.erase(m_order.front());
        m_order.pop_front();
    }
}

bool WrittenKeys::mayStand(std::string_view key, std::string_view identity) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_identities.find(key);
    return found == m_identities.end() || found->second == identity;
}

} // namespace deltascope
