#include "block_memory.h"

#include <algorithm>
#include <set>
#include <utility>

namespace deltascope {

BlockMemory::Answer BlockMemory::ask(const std::string& object, std::uint64_t sizeBytes,
                                     const std::vector<std::uint64_t>& leaves, bool isPlanned, const TaskContext& task)
{
    const std::lock_guard lock(m_mutex);
    FetchWish wish;
    wish.sizeBytes = sizeBytes;
    wish.isPlanned = isPlanned;
    wish.windowBytes = roomWithin(m_budget / 4 * 3);
    wish.aheadBytes = roomWithin(m_budget / 2);
    return answer(object, leaves, std::move(wish), task);
}

std::optional<BlockMemory::Answer> BlockMemory::askAhead(const std::string& object, std::uint64_t sizeBytes,
                                                         const std::vector<std::uint64_t>& leaves,
                                                         const TaskContext& task)
{
    const std::lock_guard lock(m_mutex);
    if (roomWithin(m_budget / 2) == 0)
        return std::nullopt;
    FetchWish wish;
    wish.sizeBytes = sizeBytes;
    wish.isPlanned = true;
    wish.windowBytes = roomWithin(m_budget / 4);
    const auto read = m_read.find(object);
    if (read == m_read.end())
        return answer(object, leaves, std::move(wish), task);
    std::vector<std::uint64_t> unread = leaves;
    std::erase_if(unread, [&](std::uint64_t leaf) { return leaf < read->second.size() && read->second[leaf]; });
    return answer(object, unread, std::move(wish), task);
}

/// `wish`: without what is missing.
BlockMemory::Answer BlockMemory::answer(const std::string& object, const std::vector<std::uint64_t>& leaves,
                                        FetchWish wish, const TaskContext& task)
{
    Answer answer;
    const auto known = m_objects.find(object);
    const Slots none;
    const Slots& slots = known == m_objects.end() ? none : known->second;
    for (const std::uint64_t leaf : leaves) {
        const auto slot = slots.find(leaf);
        if (slot == slots.end()) {
            wish.missing.push_back(leaf);
        } else if (const BlockPtr& block = slot->second.block) {
            Blocks& list = block->isSpent ? m_spent : m_fresh;
            list.splice(list.end(), list, block->place);
            answer.found.emplace(leaf, block);
        } else {
            (slot->second.fetcher->paused() ? answer.stuck : answer.underWay).push_back(leaf);
        }
    }
    if (wish.missing.empty())
        return answer;
    wish.isFirstLook = slots.empty();
    answer.claimed = planFetch(wish, [&](std::uint64_t leaf) { return !slots.contains(leaf); });
    Slots& claims = m_objects[object];
    for (const LeafRange& range : answer.claimed) {
        for (std::uint64_t leaf = range.first; leaf < range.end(); ++leaf)
            claims.emplace(leaf, Slot { nullptr, &task });
        m_underWayBytes += bytesOfLeaves(range, wish.sizeBytes);
    }
    makeRoom();
    return answer;
}

/// What may still be fetched before it is wanted, where all that was and waits for its readers shall be at most `part`.
std::uint64_t BlockMemory::roomWithin(std::uint64_t part) const noexcept
{
    const std::uint64_t waiting = m_waitingBytes + m_underWayBytes;
    return part - std::min(part, waiting);
}

/// Small objects take more than their bytes.
std::uint64_t BlockMemory::costOf(const Block& block) noexcept
{
    constexpr std::uint64_t Overhead = 512;
    return block.bytes.size() + 2 * block.object.size() + Overhead;
}

BlockMemory::BlockPtr BlockMemory::publish(const std::string& object, const LeafRange& range, RawBytes bytes)
{
    auto block = std::make_shared<Block>();
    block->leaves = range;
    block->bytes = std::move(bytes);
    block->object = object;
    const std::uint64_t size = block->bytes.size();
    block->isWaiting = range != LeafRange { 0, 1 }; // of many objects only the headers are read

    const std::lock_guard lock(m_mutex);
    Slots& slots = m_objects[object];
    for (std::uint64_t leaf = range.first; leaf < range.end(); ++leaf)
        slots[leaf] = Slot { block, nullptr };
    block->place = m_fresh.insert(m_fresh.end(), block);
    m_underWayBytes -= size;
    m_bytes += costOf(*block);
    m_waitingBytes += block->isWaiting ? size : 0;
    m_published += size;
    m_young.emplace_back(m_published, block);
    ageOut();
    makeRoom();
    tellNews();
    return block;
}

void BlockMemory::abandon(const std::string& object, std::uint64_t sizeBytes, const LeafRange& range)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_objects.find(object);
    if (known == m_objects.end())
        return;
    for (std::uint64_t leaf = range.first; leaf < range.end(); ++leaf)
        known->second.erase(leaf);
    if (known->second.empty())
        m_objects.erase(known);
    m_underWayBytes -= bytesOfLeaves(range, sizeBytes);
    tellNews();
}

void BlockMemory::forget(const std::string& object)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_objects.find(object);
    if (known == m_objects.end())
        return;
    std::set<BlockPtr> blocks;
    for (const auto& [leaf, slot] : known->second) {
        if (slot.block)
            blocks.insert(slot.block);
    }
    for (const BlockPtr& block : blocks)
        drop(block);
}

std::uint64_t BlockMemory::noteRead(const BlockPtr& block, std::uint64_t leaf, std::uint64_t bytes)
{
    const std::lock_guard lock(m_mutex);
    block->readBytes += bytes;
    const std::uint64_t again = std::min(bytes, block->readBytes - std::min(block->readBytes, block->bytes.size()));
    const auto object = m_objects.find(block->object);
    const bool isHere = object != m_objects.end() && object->second.contains(leaf)
        && object->second.at(leaf).block == block; // it may have made room meanwhile
    if (!block->isSpent && block->readBytes >= block->bytes.size() && isHere) {
        block->isSpent = true;
        stopWaiting(*block);
        m_spent.splice(m_spent.end(), m_fresh, block->place);
        noteReadWhole(*block);
        tellNews();
    }
    return again;
}

void BlockMemory::beginAhead()
{
    const std::lock_guard lock(m_mutex);
    ++m_aheads;
}

void BlockMemory::endAhead()
{
    const std::lock_guard lock(m_mutex);
    if (--m_aheads == 0)
        m_read.clear();
}

void BlockMemory::noteReadWhole(const Block& block)
{
    if (m_aheads == 0)
        return;
    std::vector<bool>& read = m_read[block.object];
    read.resize(std::max<std::size_t>(read.size(), block.leaves.end()));
    std::fill_n(read.begin() + static_cast<std::ptrdiff_t>(block.leaves.first), block.leaves.count, true);
}

/// What was fetched long ago and not read to its end is not waiting for a reader any more.
void BlockMemory::ageOut()
{
    while (!m_young.empty() && m_published - m_young.front().first >= 4 * m_budget) {
        if (const BlockPtr block = m_young.front().second.lock())
            stopWaiting(*block);
        m_young.pop_front();
    }
}

void BlockMemory::stopWaiting(Block& block)
{
    if (std::exchange(block.isWaiting, false))
        m_waitingBytes -= block.bytes.size();
}

void BlockMemory::makeRoom()
{
    while (m_bytes + m_underWayBytes > m_budget && !(m_spent.empty() && m_fresh.empty()))
        drop(m_spent.empty() ? m_fresh.front() : m_spent.front());
}

void BlockMemory::drop(BlockPtr block)
{
    (block->isSpent ? m_spent : m_fresh).erase(block->place);
    stopWaiting(*block);
    const auto object = m_objects.find(block->object);
    for (std::uint64_t leaf = block->leaves.first; leaf < block->leaves.end(); ++leaf)
        object->second.erase(leaf);
    if (object->second.empty())
        m_objects.erase(object);
    m_bytes -= costOf(*block);
}

void BlockMemory::tellNews()
{
    ++m_news;
    m_changed.notify_all();
}

void BlockMemory::wakeAll()
{
    const std::lock_guard lock(m_mutex);
    tellNews();
}

std::uint64_t BlockMemory::news() const
{
    const std::lock_guard lock(m_mutex);
    return m_news;
}

void BlockMemory::waitForNews(std::uint64_t seen, std::chrono::milliseconds time) const
{
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, time, [&] { return m_news != seen; });
}

std::uint64_t BlockMemory::bytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_bytes;
}

} // namespace deltascope
