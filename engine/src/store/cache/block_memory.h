#pragma once

#include "../../base/raw_bytes.h"
#include "cache_leaf.h"
#include "fetch_plan.h"

#include "deltascope/base/bytes.h"
#include "deltascope/base/task.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// Leaves of objects that were read, for all stores of a process together: within a budget, those first out that were
/// read whole, then those that nobody has read for the longest time. It also knows which leaves are on their way, so
/// that nobody fetches them twice. Any thread; a call never waits for another one's fetch but waitForNews().
class BlockMemory {
public:
    static constexpr std::uint64_t DefaultBudgetBytes = std::uint64_t { 256 } << 20;

    explicit BlockMemory(std::uint64_t budgetBytes = DefaultBudgetBytes)
        : m_budget(budgetBytes)
    {
    }
    BlockMemory(const BlockMemory&) = delete;
    BlockMemory& operator=(const BlockMemory&) = delete;

    /// Neighboring leaves that came together. What it holds never changes.
    struct Block {
        LeafRange leaves;
        RawBytes bytes;

        ByteSpan leaf(std::uint64_t number) const noexcept
        {
            const std::uint64_t begin = (number - leaves.first) * CacheLeafBytes;
            return ByteSpan(bytes).subspan(begin, std::min<std::uint64_t>(CacheLeafBytes, bytes.size() - begin));
        }

    private:
        friend class BlockMemory;
        std::string object;
        std::list<std::shared_ptr<Block>>::iterator place;
        std::uint64_t readBytes = 0;
        bool isWaiting = false; ///< counts in m_waitingBytes
        bool isSpent = false;
    };
    using BlockPtr = std::shared_ptr<Block>;

    /// What a reader has to do about the leaves that it wants of one object.
    struct Answer {
        std::map<std::uint64_t, BlockPtr> found;
        /// For the caller to fetch, and then to publish() or to abandon(), each range of them; nobody else does.
        std::vector<LeafRange> claimed;
        std::vector<std::uint64_t> underWay; ///< that others fetch
        std::vector<std::uint64_t> stuck; ///< that others fetch whose tasks are paused: they may take for ever
    };
    /// `object`: a name that no other bytes have. `leaves`: ascending, inside of the object. `isPlanned`: as in
    /// FetchWish. `task` must live until all that is claimed was published or abandoned.
    Answer ask(const std::string& object, std::uint64_t sizeBytes, const std::vector<std::uint64_t>& leaves,
               bool isPlanned, const TaskContext& task);
    /// As ask(), of leaves that nobody waits for yet: with the rest of their windows while a quarter of the budget
    /// waits for readers, then alone. Those that were read to their end since beginAhead() are left out. Nothing: half
    /// of the budget waits for readers.
    std::optional<Answer> askAhead(const std::string& object, std::uint64_t sizeBytes,
                                   const std::vector<std::uint64_t>& leaves, const TaskContext& task);
    /// Around the askAhead() of one pass. What was read is known until the last of several ends.
    void beginAhead();
    void endAhead();
    /// `range`: claimed, or a part of it. Returns what others see from now on.
    BlockPtr publish(const std::string& object, const LeafRange& range, RawBytes bytes);
    void abandon(const std::string& object, std::uint64_t sizeBytes, const LeafRange& range);
    /// Drops what it holds of an object. Who has a block keeps it.
    void forget(const std::string& object);
    /// Notes that `bytes` of a leaf were given to a reader. Returns how many of them were certainly not the first ones
    /// of their place: those beyond the size of the block.
    std::uint64_t noteRead(const BlockPtr& block, std::uint64_t leaf, std::uint64_t bytes);

    /// Grows with every publish() and abandon(), and with every block that was read to its end.
    std::uint64_t news() const;
    /// Waits until news() is not `seen` any more, or for `time`.
    void waitForNews(std::uint64_t seen, std::chrono::milliseconds time) const;
    /// Ends all waitForNews() of now.
    void wakeAll();

    /// That it holds, with what it takes to find them again; without what is on its way.
    std::uint64_t bytes() const;

private:
    struct Slot {
        BlockPtr block; ///< null: on its way
        const TaskContext* fetcher = nullptr; ///< while it is
    };
    using Slots = std::map<std::uint64_t, Slot>;
    using Blocks = std::list<BlockPtr>;

    static std::uint64_t costOf(const Block& block) noexcept;
    Answer answer(const std::string& object, const std::vector<std::uint64_t>& leaves, FetchWish wish,
                  const TaskContext& task);
    std::uint64_t roomWithin(std::uint64_t part) const noexcept;
    void makeRoom();
    void tellNews();
    void drop(BlockPtr block);
    void stopWaiting(Block& block);
    void noteReadWhole(const Block& block);
    void ageOut();

    const std::uint64_t m_budget;
    mutable std::mutex m_mutex; ///< guards what follows
    mutable std::condition_variable m_changed;
    std::map<std::string, Slots> m_objects;
    unsigned m_aheads = 0; ///< beginAhead() without endAhead()
    std::map<std::string, std::vector<bool>> m_read; ///< leaves of objects that were read to their end meanwhile
    Blocks m_fresh; ///< the one that was read last behind
    Blocks m_spent; ///< read whole; likewise
    std::deque<std::pair<std::uint64_t, std::weak_ptr<Block>>> m_young; ///< with m_published when they came
    std::uint64_t m_bytes = 0; ///< of blocks
    std::uint64_t m_underWayBytes = 0;
    std::uint64_t m_waitingBytes = 0; ///< of young blocks that were not read to their end
    std::uint64_t m_published = 0; ///< bytes, ever
    std::uint64_t m_news = 0;
};

} // namespace deltascope
