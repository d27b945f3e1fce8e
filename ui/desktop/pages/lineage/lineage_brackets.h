#pragma once

#include "pages/lineage/lineage_items.h"

#include <array>
#include <cstdint>
#include <vector>

namespace deltascope::desktop {

/// Ways to have a row beside the line of its chain, as brackets to what they build on, and open diamonds for those that
/// build on nothing. What a fold hides inside itself has none. One bit per place where a line may run.
class LineageBrackets {
public:
    static constexpr int Tracks = 5; ///< side by side at a lane, longer brackets further out
    static constexpr int bit(int lane, int track) { return lane * Tracks + track; }

    /// Of those that can be used, or of those that cannot.
    struct Strokes {
        std::uint32_t above = 0; ///< through the upper half of the item
        std::uint32_t below = 0;
        std::uint32_t begins = 0; ///< here
        std::uint32_t ends = 0;
        bool diamond = false; ///< a complete form beside the row

        bool isEmpty() const { return !diamond && (above | below) == 0; }
    };

    void build(const LineagePicture& picture, const std::vector<LineageItem>& items);
    const Strokes& usable(std::size_t item) const { return m_usable[item]; }
    const Strokes& broken(std::size_t item) const { return m_broken[item]; }

private:
    std::vector<Strokes> m_usable, m_broken;
};

} // namespace deltascope::desktop
