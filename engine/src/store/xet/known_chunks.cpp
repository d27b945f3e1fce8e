#include "store/xet/known_chunks.h"

namespace deltascope::xet {

std::optional<KnownChunks::Place> KnownChunks::find(const Hash& chunk) const
{
    const std::lock_guard lock(m_mutex);
    const auto at = m_places.find(chunk);
    if (at == m_places.end())
        return std::nullopt;
    return Place { m_owners.at(at->second.xorb), at->second.index };
}

void KnownChunks::add(std::shared_ptr<const KnownXorb> xorb)
{
    const std::lock_guard lock(m_mutex);
    if (xorb->chunks.size() > m_mostChunks || !m_hashes.insert(xorb->hash).second)
        return;
    for (std::uint32_t i = 0; i < xorb->chunks.size(); ++i)
        m_places.try_emplace(xorb->chunks[i].hash, Slot { xorb.get(), i });
    m_count += xorb->chunks.size();
    m_owners.emplace(xorb.get(), xorb);
    m_xorbs.push_back(std::move(xorb));
    while (m_count > m_mostChunks)
        dropOldest();
}

void KnownChunks::dropOldest()
{
    const std::shared_ptr<const KnownXorb> oldest = std::move(m_xorbs.front());
    m_xorbs.pop_front();
    for (const Chunk& chunk : oldest->chunks) {
        const auto at = m_places.find(chunk.hash);
        if (at != m_places.end() && at->second.xorb == oldest.get())
            m_places.erase(at);
    }
    m_count -= oldest->chunks.size();
    m_owners.erase(oldest.get());
    m_hashes.erase(oldest->hash);
}

void KnownChunks::clear()
{
    const std::lock_guard lock(m_mutex);
    m_places.clear();
    m_owners.clear();
    m_hashes.clear();
    m_xorbs.clear();
    m_count = 0;
}

} // namespace deltascope::xet
