#pragma once

#include "heat/color_map.h"
#include "heat/tile_cache.h"

#include <QImage>

#include <vector>

namespace deltascope::desktop {

/// Matrix rows [first, first + count) that are merged into one line of a picture.
struct PictureLine {
    int first = 0;
    int count = 1;
};

/// The cells of a heatmap as an image with one pixel per cell, to be stretched over the plot. Cells that are not known
/// are transparent. Nothing is allocated while the view moves: buffers only grow. GUI thread.
class HeatPicture {
public:
    /// Where tiles come from and how they are colored.
    struct Source {
        TileCache& tiles;
        app::HeatPool pool;
        const ColorTable& table;
        const std::vector<double>& elementsBefore; ///< prefix sums over the rows: weights of means
    };

    /// Makes the picture of the cells [from, to) of a level. A cell merges 2^level columns.
    void compose(const Source& source, unsigned level, int from, int to, const std::vector<PictureLine>& lines);
    /// Makes the cells [from, to) anew; the lines are the same.
    void recompose(const Source& source, int from, int to, const std::vector<PictureLine>& lines);

    unsigned level() const { return m_level; }
    int from() const { return m_from; }
    int to() const { return m_to; }
    int lines() const { return m_lines; }
    /// Valid until the next compose().
    QImage image() const;

private:
    void color(const Source& source, int line, int from, int to);
    void copyLine(const Source& source, int row, int from, int to);
    void mergeHighest(const Source& source, unsigned levelY, int row, int from, int to);
    void addWeighted(const Source& source, unsigned levelY, int row, int from, int to);
    void mergeLine(const Source& source, const PictureLine& line, int from, int to);

    unsigned m_level = 0;
    int m_from = 0;
    int m_to = 0;
    int m_lines = 0;
    int m_stride = 0; ///< pixels
    bool m_seesThrough = false; ///< some cell is not known
    std::vector<QRgb> m_pixels;
    std::vector<std::uint8_t> m_codes, m_known; ///< of one line
    std::vector<float> m_sums, m_weights;
};

} // namespace deltascope::desktop
