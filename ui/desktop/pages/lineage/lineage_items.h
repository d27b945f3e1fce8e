#pragma once

#include "pages/lineage/lineage_picture.h"

#include <QHash>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace deltascope::desktop {

/// A line of the list: a version or hole, a chain that is folded, or a restart of the trainer between two epochs.
struct LineageItem {
    enum class Kind : std::uint8_t { Row, Fold, Restart };

    Kind kind = Kind::Row;
    int epoch = 0;
    std::int64_t step = 0; ///< of a fold its oldest one
    std::size_t row = 0; ///< of a fold its newest, of a restart the first one of the new epoch
    std::size_t chain = 0;

    bool isSame(const LineageItem& other) const
    {
        return kind == other.kind && epoch == other.epoch && step == other.step;
    }
    /// Whether it stands above, in any list of the same run.
    bool isAbove(const LineageItem& other) const
    {
        if (epoch != other.epoch)
            return epoch > other.epoch;
        if ((kind == Kind::Restart) != (other.kind == Kind::Restart))
            return other.kind == Kind::Restart;
        return step != other.step ? step > other.step : kind < other.kind;
    }
};

/// Which chains are folded. Those that hold nothing special are, unless the user said otherwise.
class LineageFolding {
public:
    void set(const LineagePicture& picture, std::size_t chain, bool open);
    void setAll(bool open);
    void forget();
    bool isOpen(const LineagePicture& picture, std::size_t chain, std::optional<std::size_t> a,
                std::optional<std::size_t> b) const;
    static bool canFold(const LineagePicture& picture, std::size_t chain);

private:
    using Key = std::pair<int, qint64>; ///< epoch and oldest step
    static Key keyOf(const LineagePicture& picture, std::size_t chain);

    QHash<Key, bool> m_byHand;
    std::optional<bool> m_all;
};

std::vector<LineageItem> lineageItems(const LineagePicture& picture, const LineageFolding& folding,
                                      std::optional<std::size_t> a, std::optional<std::size_t> b);

/// The item that shows a row, or the fold that it is in. Nothing: the filter hides it.
std::optional<std::size_t> itemOfRow(const std::vector<LineageItem>& items, const LineagePicture& picture,
                                     std::size_t row);

constexpr int MostLanes = 6; ///< further ones share the last

/// Which lines of the chain column run through the halves of each item; one bit per lane.
class LineageLines {
public:
    struct Half {
        std::uint8_t solid = 0;
        std::uint8_t dashed = 0; ///< of a branch that was overwritten
    };

    void build(const LineagePicture& picture, const std::vector<LineageItem>& items);
    Half above(std::size_t item) const { return m_halves[2 * item]; }
    Half below(std::size_t item) const { return m_halves[2 * item + 1]; }
    static int laneOf(const app::LineageRowView& row) { return std::min(row.lane, MostLanes - 1); }

private:
    std::vector<Half> m_halves;
};

/// A replay path as the list shows it: items from top to bottom with their lanes.
struct ShownPath {
    struct Node {
        std::size_t item;
        int lane;
    };
    std::vector<Node> nodes;

    bool isEmpty() const { return nodes.empty(); }
    bool hasNode(std::size_t item) const;
    /// Lane on which the path enters an item from above, leaves it below.
    std::optional<int> above(std::size_t item) const;
    std::optional<int> below(std::size_t item) const;
};

ShownPath shownPath(const std::vector<LineageItem>& items, const LineagePicture& picture, std::size_t row);

} // namespace deltascope::desktop
