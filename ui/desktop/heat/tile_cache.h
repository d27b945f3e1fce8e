#pragma once

#include "deltascope/app/view/heat_view.h"

#include <QObject>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace deltascope::desktop {

/// A tile of app::makeHeatTile, ready to be merged and colored.
struct CodeTile {
    static constexpr int Side = static_cast<int>(app::HeatTile::Side);

    app::HeatPool pool = app::HeatPool::Max;
    unsigned levelY = 0;
    unsigned levelX = 0;
    int tileY = 0;
    int tileX = 0;
    std::vector<std::uint8_t> codes; ///< Side x Side, row by row; 0 where unknown
    std::vector<std::uint8_t> known; ///< one byte per cell, 1: known; empty: all are

    const std::uint8_t* codeLine(int line) const { return codes.data() + line * Side; }
    const std::uint8_t* knownLine(int line) const { return known.empty() ? nullptr : known.data() + line * Side; }
};

/// Tiles of one epoch of a heatmap. Made off the GUI thread as they are looked at, nearest to the middle of the view
/// first; the least recently seen ones are dropped. GUI thread.
class TileCache final : public QObject {
    Q_OBJECT

public:
    static constexpr std::size_t DefaultLimit = 64U << 20;

    explicit TileCache(std::size_t limitBytes = DefaultLimit, QObject* parent = nullptr);
    ~TileCache() override;

    /// Another matrix: everything that is here is worthless.
    void reset(std::shared_ptr<const app::HeatView> heat, int epoch);
    /// The same rows with more columns, or some that became known; `moved`: these, counted from the epoch's first. What
    /// is here stays in use until it is made anew.
    void update(std::shared_ptr<const app::HeatView> heat, const std::vector<int>& moved);

    unsigned levelsX() const;
    unsigned levelsY() const;
    int columns() const { return m_columns; }

    /// Begins to look at another part: what was wanted before and is not looked at again is not made.
    void begin();
    /// The tile with the cell row `row` of `levelY` and tile column `tileX` of `levelX`, or a coarser one that covers
    /// them while it is not here. Null: nothing yet.
    const CodeTile* find(app::HeatPool pool, unsigned levelY, unsigned levelX, int row, int tileX);
    /// Has made what was missing. `row`, `column`: middle of the view, in cells of level 0.
    void load(double row, double column);

    bool isLoading() const { return !m_loading.empty() || !m_wanted.empty(); }
    std::size_t bytes() const { return m_bytes; }

signals:
    /// Columns [from, to) of level 0 look different now.
    void changed(int from, int to);

private:
    struct Key {
        app::HeatPool pool;
        unsigned levelY, levelX;
        int tileY, tileX;

        std::uint64_t id() const;
        int firstColumn() const { return (tileX * CodeTile::Side) << levelX; }
        int endColumn() const { return ((tileX + 1) * CodeTile::Side) << levelX; }
        bool covers(int column) const { return column >= firstColumn() && column < endColumn(); }
    };
    struct Slot {
        std::unique_ptr<CodeTile> tile;
        std::uint64_t used = 0; ///< frame in which it was last looked at
        bool stale = false; ///< to be made anew
    };
    struct Load {
        Key key;
        bool stale = false; ///< its columns changed meanwhile
    };

    void startLoads();
    void take(std::uint64_t generation, const Key& key, std::unique_ptr<CodeTile> tile);
    void patch(CodeTile& tile, int column) const;
    void dropOldest();

    std::shared_ptr<const app::HeatView> m_heat;
    int m_epoch = 0;
    int m_firstColumn = 0; ///< of the epoch
    int m_columns = 0;
    std::size_t m_limit;
    std::size_t m_bytes = 0;
    std::uint64_t m_look = 0;
    std::uint64_t m_generation = 0; ///< grows with reset()
    std::unordered_map<std::uint64_t, Slot> m_tiles;
    std::unordered_map<std::uint64_t, Load> m_loading;
    std::vector<Key> m_wanted;
};

} // namespace deltascope::desktop
