#include "store/xet/byte_budget.h"

#include <algorithm>
#include <chrono>

namespace deltascope::xet {

Result<ByteBudget::Buffer> ByteBudget::lend(std::size_t bytes, TaskContext& task)
{
    constexpr auto Look = std::chrono::milliseconds(50); // a task tells nobody that it is to stop
    constexpr std::size_t Step = std::size_t { 1 } << 20; // so that spare buffers fit more often
    const std::size_t room = (bytes + Step - 1) / Step * Step;
    std::unique_lock lock(m_mutex);
    while (m_lentBytes > 0 && m_lentBytes + room > m_mostBytes) {
        DS_CHECK(task.going());
        m_changed.wait_for(lock, Look);
    }
    Spare spare = takeSpare(room);
    m_lentBytes += spare.roomBytes;
    return Buffer(*this, std::move(spare.memory), spare.roomBytes);
}

ByteBudget::Spare ByteBudget::takeSpare(std::size_t bytes)
{
    auto best = m_spares.end();
    for (auto at = m_spares.begin(); at != m_spares.end(); ++at) {
        if (at->roomBytes >= bytes && at->roomBytes < 2 * bytes
            && (best == m_spares.end() || at->roomBytes < best->roomBytes))
            best = at;
    }
    if (best != m_spares.end()) {
        Spare spare = std::move(*best);
        m_spares.erase(best);
        m_spareBytes -= spare.roomBytes;
        return spare;
    }
    while (!m_spares.empty() && m_lentBytes + m_spareBytes + bytes > m_mostBytes) {
        m_spareBytes -= m_spares.back().roomBytes;
        m_spares.pop_back();
    }
    return { std::make_unique_for_overwrite<std::byte[]>(bytes), bytes };
}

void ByteBudget::giveBack(std::unique_ptr<std::byte[]> memory, std::size_t roomBytes)
{
    {
        const std::lock_guard lock(m_mutex);
        m_lentBytes -= roomBytes;
        if (m_lentBytes + m_spareBytes + roomBytes <= m_mostBytes) {
            m_spareBytes += roomBytes;
            m_spares.push_back({ std::move(memory), roomBytes });
        }
    }
    m_changed.notify_all();
}

} // namespace deltascope::xet
