#include "fetch_plan.h"

#include <set>

namespace deltascope {

namespace {

constexpr std::uint64_t MostWindowsAhead = 3;

class FetchPlanner {
public:
    FetchPlanner(const FetchWish& wish, const std::function<bool(std::uint64_t leaf)>& isAbsent)
        : m_wish(wish)
        , m_isAbsent(isAbsent)
        , m_leaves(leavesOfSize(wish.sizeBytes))
        , m_chosen(wish.missing.begin(), wish.missing.end())
    {
    }

    std::vector<LeafRange> plan()
    {
        const bool isFrontAlone = m_wish.isFirstLook && m_wish.missing.back() == 0;
        if (isFrontAlone)
            return ranges();
        std::uint64_t room = m_wish.windowBytes;
        for (const std::uint64_t leaf : m_wish.missing)
            addWindow(leaf / LeavesOfWindow, room);
        if (m_wish.isPlanned)
            return ranges();
        room = m_wish.aheadBytes;
        if (m_wish.sizeBytes < WholeBelowBytes)
            addWhole(room);
        else
            addAhead(room);
        return ranges();
    }

private:
    std::uint64_t windows() const noexcept { return (m_leaves + LeavesOfWindow - 1) / LeavesOfWindow; }

    /// Whole, or not at all; false: there is no room.
    bool addWindow(std::uint64_t window, std::uint64_t& room)
    {
        std::vector<std::uint64_t> more;
        std::uint64_t bytes = 0;
        const std::uint64_t end = std::min((window + 1) * LeavesOfWindow, m_leaves);
        for (std::uint64_t leaf = window * LeavesOfWindow; leaf < end; ++leaf) {
            if (m_chosen.contains(leaf) || !m_isAbsent(leaf))
                continue;
            more.push_back(leaf);
            bytes += bytesOfLeaves({ leaf, 1 }, m_wish.sizeBytes);
        }
        if (bytes > room)
            return false;
        room -= bytes;
        m_chosen.insert(more.begin(), more.end());
        return true;
    }

    /// From what is wanted on to the end, then what lies in front: the way that readers go.
    void addWhole(std::uint64_t room)
    {
        const std::uint64_t from = m_wish.missing.front() / LeavesOfWindow;
        for (std::uint64_t i = 0; i < windows(); ++i) {
            if (!addWindow((from + i) % windows(), room))
                return;
        }
    }

    /// More the longer it has been read from front to back.
    void addAhead(std::uint64_t room)
    {
        const std::uint64_t window = m_wish.missing.front() / LeavesOfWindow;
        const std::uint64_t behind = std::min(window, MostWindowsAhead);
        std::uint64_t read = 0;
        while (read < behind && !m_isAbsent((window - read) * LeavesOfWindow - 1))
            ++read;
        const std::uint64_t last = m_wish.missing.back() / LeavesOfWindow;
        for (std::uint64_t next = last + 1; next <= last + read && next < windows(); ++next) {
            if (!addWindow(next, room))
                return;
        }
    }

    std::vector<LeafRange> ranges() const
    {
        std::vector<LeafRange> ranges;
        for (const std::uint64_t leaf : m_chosen) {
            if (!ranges.empty() && ranges.back().end() == leaf && leaf % LeavesOfWindow != 0)
                ++ranges.back().count;
            else
                ranges.push_back({ leaf, 1 });
        }
        return ranges;
    }

    const FetchWish& m_wish;
    const std::function<bool(std::uint64_t leaf)>& m_isAbsent;
    const std::uint64_t m_leaves;
    std::set<std::uint64_t> m_chosen;
};

} // namespace

std::vector<LeafRange> planFetch(const FetchWish& wish, const std::function<bool(std::uint64_t leaf)>& isAbsent)
{
    return FetchPlanner(wish, isAbsent).plan();
}

} // namespace deltascope
