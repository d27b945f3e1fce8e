#include "cached_reads.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

namespace deltascope {

namespace {

constexpr auto LookForStop = std::chrono::milliseconds(50); // a task tells nobody that it is to stop

} // namespace

std::vector<std::uint64_t> CachedReads::Object::unsettled() const
{
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, leaf] : leaves) {
        if (!leaf.isSettled())
            numbers.push_back(number);
    }
    return numbers;
}

CachedReads::Claims::~Claims()
{
    for (const auto& [object, leaves] : m_held) {
        for (const std::uint64_t leaf : leaves)
            m_memory.abandon(object->name, object->sizeBytes, { leaf, 1 });
    }
}

void CachedReads::Claims::add(Object& object, const std::vector<LeafRange>& ranges)
{
    for (const LeafRange& range : ranges) {
        m_pieces.push_back({ &object, range });
        for (std::uint64_t leaf = range.first; leaf < range.end(); ++leaf)
            m_held[&object].insert(leaf);
    }
}

BlockMemory::BlockPtr CachedReads::Claims::publish(const Piece& piece, RawBytes bytes)
{
    BlockMemory::BlockPtr block = m_memory.publish(piece.object->name, piece.leaves, std::move(bytes));
    release(piece);
    return block;
}

void CachedReads::Claims::abandon(const Piece& piece)
{
    m_memory.abandon(piece.object->name, piece.object->sizeBytes, piece.leaves);
    release(piece);
}

void CachedReads::Claims::release(const Piece& piece)
{
    std::set<std::uint64_t>& held = m_held[piece.object];
    for (std::uint64_t leaf = piece.leaves.first; leaf < piece.leaves.end(); ++leaf)
        held.erase(leaf);
}

void CachedReads::add(const RangeRead& wanted)
{
    Object& object = objectOf(wanted.object);
    const LeafRange leaves = leavesOf(wanted.offset, wanted.out.size());
    for (std::uint64_t leaf = leaves.first; leaf < leaves.end(); ++leaf)
        object.leaves.try_emplace(leaf);
    m_reads.push_back(wanted);
    m_wantedBytes += wanted.out.size();
}

CachedReads::Object& CachedReads::objectOf(const ObjectRef& object)
{
    std::string name = m_store.nameOf(object);
    const auto place = m_objects.find(name);
    return place != m_objects.end()
        ? place->second
        : m_objects.emplace(name, Object { name, object, *object.sizeBytes, {}, false }).first->second;
}

bool CachedReads::addAhead(const ObjectRef& wanted, const LeafRange& leaves)
{
    Object& object = objectOf(wanted);
    std::vector<std::uint64_t> numbers(leaves.count);
    std::iota(numbers.begin(), numbers.end(), leaves.first);
    const std::optional<BlockMemory::Answer> answer =
        m_store.m_memory->askAhead(object.name, object.sizeBytes, numbers, m_task);
    if (!answer)
        return false;
    m_ahead.add(object, answer->claimed);
    for (const LeafRange& range : answer->claimed)
        m_aheadBytes += bytesOfLeaves(range, object.sizeBytes);
    return true;
}

bool CachedReads::fetchAhead() { return fetch(takeFromDisk(m_ahead), m_ahead); }

std::vector<Result<void>> CachedReads::run()
{
    std::vector<Result<void>> outcomes;
    const Result<void> settled = settle();
    for (const RangeRead& wanted : m_reads)
        outcomes.push_back(settled ? deliver(wanted) : settled);
    m_reads.clear();
    m_objects.clear();
    m_wantedBytes = 0;
    return outcomes;
}

/// Each round fetches what nobody else fetches before it waits for others, so that no two threads wait for each other.
Result<void> CachedReads::settle()
{
    while (!isSettled()) {
        DS_CHECK(m_task.checkpoint());
        const std::uint64_t news = m_store.m_memory->news();
        Claims claims(*m_store.m_memory);
        ask(claims);
        fetch(takeFromDisk(claims), claims);
        if (claims.pieces().empty() && !isSettled())
            m_store.m_memory->waitForNews(news, LookForStop);
    }
    return m_task.going();
}

bool CachedReads::isSettled() const
{
    return std::all_of(m_objects.begin(), m_objects.end(), [](const auto& object) {
        const auto& leaves = object.second.leaves;
        return std::all_of(leaves.begin(), leaves.end(), [](const auto& leaf) { return leaf.second.isSettled(); });
    });
}

void CachedReads::ask(Claims& claims)
{
    for (auto& [name, object] : m_objects) {
        const std::vector<std::uint64_t> leaves = object.unsettled();
        if (leaves.empty())
            continue;
        BlockMemory::Answer answer =
            m_store.m_memory->ask(name, object.sizeBytes, leaves, m_store.m_readsAhead > 0, m_task);
        claims.add(object, answer.claimed);
        for (auto& [number, block] : answer.found) {
            Leaf& leaf = object.leaves[number];
            leaf.block = std::move(block);
            ++m_store.m_counts.hits;
        }
        for (const std::uint64_t number : answer.stuck)
            object.leaves[number].isDirect = true;
    }
}

/// Returns what is left to be fetched. What nobody waits for stays on disk if it is there.
std::vector<CachedReads::Piece> CachedReads::takeFromDisk(Claims& claims)
{
    if (!m_store.m_disk)
        return claims.pieces();
    std::vector<Piece> left;
    for (const Piece& piece : claims.pieces()) {
        Object& object = *piece.object;
        bool isContinued = false;
        for (std::uint64_t number = piece.leaves.first; number < piece.leaves.end(); ++number) {
            const Piece one { &object, { number, 1 } };
            const bool isWanted = object.leaves.contains(number);
            if (!isWanted && m_store.m_disk->mayHave(object.name, number)) {
                claims.abandon(one);
                isContinued = false;
                continue;
            }
            std::optional<RawBytes> bytes;
            if (isWanted)
                bytes = m_store.m_disk->read(object.name, number, bytesOfLeaves(one.leaves, object.sizeBytes));
            if (bytes) {
                m_store.m_counts.bytesFromDisk += bytes->size();
                ++m_store.m_counts.diskHits;
                publish(one, std::move(*bytes), claims);
                isContinued = false;
            } else if (isContinued) {
                ++left.back().leaves.count;
            } else {
                left.push_back(one);
                isContinued = true;
            }
        }
    }
    return left;
}

/// False: something did not come.
bool CachedReads::fetch(const std::vector<Piece>& pieces, Claims& claims)
{
    if (pieces.empty())
        return true;
    std::vector<RawBytes> room;
    std::vector<RangeRead> reads;
    for (const Piece& piece : pieces) {
        room.emplace_back(bytesOfLeaves(piece.leaves, piece.object->sizeBytes));
        reads.push_back({ piece.object->ref, piece.leaves.first * CacheLeafBytes, room.back() });
        m_store.m_counts.bytesFromNetwork += room.back().size();
    }
    const std::vector<Result<void>> outcomes = m_store.below().readMany(reads, m_task);
    for (std::size_t i = 0; i < pieces.size(); ++i)
        dropIfWrong(*pieces[i].object, outcomes[i]);
    std::vector<std::pair<const Object*, BlockMemory::BlockPtr>> fetched;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Piece& piece = pieces[i];
        auto leaf = piece.object->leaves.lower_bound(piece.leaves.first);
        const auto end = piece.object->leaves.lower_bound(piece.leaves.end());
        m_store.m_counts.misses += static_cast<std::uint64_t>(std::distance(leaf, end));
        if (outcomes[i] && !piece.object->isWrong) {
            fetched.emplace_back(piece.object, publish(piece, std::move(room[i]), claims));
            continue;
        }
        claims.abandon(piece);
        for (; leaf != end && !outcomes[i]; ++leaf) {
            if (outcomes[i].error().code == Code::Truncated) // what is wanted of it may be there all the same
                leaf->second.isDirect = true;
            else
                leaf->second.error = outcomes[i].error();
        }
    }
    std::set<const Object*> objects;
    for (const auto& [object, block] : fetched) { // behind all, since others wait
        keepOnDisk(*object, block);
        objects.insert(object);
    }
    for (const Object* const object : objects)
        settleOnDisk(*object);
    return fetched.size() == pieces.size();
}

/// What is not proven yet waits. What nothing can prove is as good as it gets.
void CachedReads::settleOnDisk(const Object& object)
{
    if (m_store.m_disk && m_store.below().proofOf(object.ref) != ReadProof::Partial)
        m_store.m_disk->settle(object.name);
}

/// One of the reads of the object by now was wrong, and which one is not known: nothing of it is given to anybody, also
/// where only bytes that nobody has asked for yet have shown it.
void CachedReads::dropIfWrong(Object& object, const Result<void>& outcome)
{
    if (outcome || outcome.error().code != Code::Digest)
        return;
    object.isWrong = true;
    for (auto& [number, leaf] : object.leaves)
        leaf.error = outcome.error();
    m_store.m_memory->forget(object.name);
    if (m_store.m_disk)
        m_store.m_disk->discard(object.name);
}

BlockMemory::BlockPtr CachedReads::publish(const Piece& piece, RawBytes bytes, Claims& claims)
{
    BlockMemory::BlockPtr block = claims.publish(piece, std::move(bytes));
    auto leaf = piece.object->leaves.lower_bound(piece.leaves.first);
    for (; leaf != piece.object->leaves.end() && leaf->first < piece.leaves.end(); ++leaf)
        leaf->second.block = block;
    return block;
}

void CachedReads::keepOnDisk(const Object& object, const BlockMemory::BlockPtr& block)
{
    if (m_store.m_disk && !m_task.stopRequested())
        m_store.m_disk->keep(object.name, block->leaves, std::shared_ptr<const RawBytes>(block, &block->bytes));
}

Result<void> CachedReads::deliver(const RangeRead& wanted)
{
    Object& object = m_objects.at(m_store.nameOf(wanted.object));
    const LeafRange range = leavesOf(wanted.offset, wanted.out.size());
    for (std::uint64_t number = range.first; number < range.end(); ++number) {
        const Leaf& leaf = object.leaves.at(number);
        if (leaf.isDirect) {
            m_store.m_counts.bytesFromNetwork += wanted.out.size();
            Result<void> outcome = m_store.below().read(wanted.object, wanted.offset, wanted.out, m_task);
            dropIfWrong(object, outcome);
            return outcome;
        }
        if (leaf.error)
            return deltascope::fail(*leaf.error);
    }
    std::size_t done = 0;
    for (std::uint64_t number = range.first; number < range.end(); ++number) {
        const Leaf& leaf = object.leaves.at(number);
        const ByteSpan bytes = leaf.block->leaf(number);
        const std::uint64_t skipped = wanted.offset + done - number * CacheLeafBytes;
        const std::size_t count = std::min<std::size_t>(bytes.size() - skipped, wanted.out.size() - done);
        std::memcpy(wanted.out.data() + done, bytes.data() + skipped, count);
        done += count;
        m_store.m_counts.bytesFromMemory += m_store.m_memory->noteRead(leaf.block, number, count);
    }
    return {};
}

} // namespace deltascope
