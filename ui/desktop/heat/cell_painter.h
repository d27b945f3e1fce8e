#pragma once

#include "heat/heat_model.h"
#include "heat/heat_picture.h"

#include <QPainter>

namespace deltascope::desktop {

/// Paints the cells in view. Their picture is kept: a pan paints it at another place, and columns that changed are
/// made anew alone. GUI thread.
class CellPainter {
public:
    /// Has `tiles` make what is missing.
    void paint(QPainter& painter, const QRect& box, const HeatModel& model, TileCache& tiles, app::HeatPool pool,
               const ColorTable& table);
    void forget() { m_key = {}; } ///< colors are others now
    void forgetColumns(int from, int to); ///< [from, to)

private:
    /// What the picture was made of.
    struct Key {
        std::uint64_t rows = 0;
        int firstRow = -1, endRow = -1;
        unsigned level = 0;
        int from = 0, to = 0;
        app::HeatPool pool = app::HeatPool::Max;

        bool operator==(const Key&) const = default;
    };

    void findLines(const HeatModel& model);
    void stretch(QPainter& painter, const QRect& box, const HeatModel& model) const;

    HeatPicture m_picture;
    Key m_key;
    std::vector<PictureLine> m_lines;
    int m_dirtyFrom = 0; ///< columns to be made anew; none if not below m_dirtyTo
    int m_dirtyTo = 0;
};

} // namespace deltascope::desktop
