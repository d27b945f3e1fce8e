#include "heat/heat_picture.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace deltascope::desktop {

namespace {

/// Matrix rows that a merged line looks at one by one; beyond that coarser cells inside of it are taken.
constexpr int FinestRows = 16;

/// codeOfShare() without a logarithm: by the exponent and the upper bits of the mantissa, finer than one code.
class FastCodes {
public:
    FastCodes()
    {
        for (std::size_t i = 0; i < m_codes.size(); ++i)
            m_codes[i] = codeOfShare(std::bit_cast<float>((Base + static_cast<std::uint32_t>(i)) << Shift));
    }
    std::uint8_t operator()(float share) const
    {
        if (!(share > 0))
            return 0;
        const std::uint32_t place = std::bit_cast<std::uint32_t>(share) >> Shift;
        return m_codes[std::min<std::size_t>(place < Base ? 0 : place - Base, m_codes.size() - 1)];
    }

private:
    static constexpr unsigned Shift = 16; ///< leaves 7 bits of the mantissa
    static constexpr std::uint32_t Base = std::bit_cast<std::uint32_t>(0x1p-21F) >> Shift;
    static constexpr std::uint32_t End = std::bit_cast<std::uint32_t>(1.0F) >> Shift;

    std::array<std::uint8_t, End - Base + 1> m_codes {};
};

const FastCodes& fastCodes()
{
    static const FastCodes codes;
    return codes;
}

const std::array<float, 256>& shares()
{
    static const std::array<float, 256> table = [] {
        std::array<float, 256> made {};
        for (std::size_t code = 0; code < made.size(); ++code)
            made[code] = static_cast<float>(app::heatShare(static_cast<std::uint8_t>(code)));
        return made;
    }();
    return table;
}

/// Calls visit(tile or null, first cell, one past the last) for each tile that the cells of a row lie in.
template <class Visit>
void visitTiles(const HeatPicture::Source& source, unsigned levelY, unsigned level, int row, int from, int to,
                Visit visit)
{
    for (int tileX = from / CodeTile::Side; tileX * CodeTile::Side < to; ++tileX) {
        const int begin = std::max(from, tileX * CodeTile::Side);
        const int end = std::min(to, (tileX + 1) * CodeTile::Side);
        visit(source.tiles.find(source.pool, levelY, level, row, tileX), begin, end);
    }
}

/// Line of a tile, which may be coarser than asked for.
int lineIn(const CodeTile& tile, unsigned levelY, int row) { return (row >> (tile.levelY - levelY)) % CodeTile::Side; }

}

void HeatPicture::compose(const Source& source, unsigned level, int from, int to, const std::vector<PictureLine>& lines)
{
    m_level = level;
    m_from = from;
    m_to = to;
    m_lines = static_cast<int>(lines.size());
    m_stride = to - from;
    m_seesThrough = false;
    const auto width = static_cast<std::size_t>(m_stride);
    if (m_pixels.size() < width * lines.size())
        m_pixels.resize(width * lines.size());
    if (m_codes.size() < width) {
        m_codes.resize(width);
        m_known.resize(width);
        m_sums.resize(width);
        m_weights.resize(width);
    }
    recompose(source, from, to, lines);
}

void HeatPicture::recompose(const Source& source, int from, int to, const std::vector<PictureLine>& lines)
{
    from = std::max(from, m_from);
    to = std::min(to, m_to);
    if (from >= to)
        return;
    for (int y = 0; y < m_lines; ++y) {
        const PictureLine& line = lines[static_cast<std::size_t>(y)];
        if (line.count == 1)
            copyLine(source, line.first, from, to);
        else
            mergeLine(source, line, from, to);
        color(source, y, from, to);
    }
}

QImage HeatPicture::image() const
{
    return { reinterpret_cast<const uchar*>(m_pixels.data()), m_stride, m_lines,
             static_cast<qsizetype>(m_stride) * static_cast<qsizetype>(sizeof(QRgb)),
             m_seesThrough ? QImage::Format_ARGB32_Premultiplied : QImage::Format_RGB32 };
}

void HeatPicture::color(const Source& source, int line, int from, int to)
{
    QRgb* pixels = m_pixels.data() + static_cast<std::ptrdiff_t>(line) * m_stride;
    std::uint8_t all = 1;
    for (int at = from - m_from; at < to - m_from; ++at) {
        const auto cell = static_cast<std::size_t>(at);
        pixels[at] = source.table[m_codes[cell]] & (0U - static_cast<QRgb>(m_known[cell]));
        all &= m_known[cell];
    }
    m_seesThrough = m_seesThrough || all == 0;
}

void HeatPicture::copyLine(const Source& source, int row, int from, int to)
{
    visitTiles(source, 0, m_level, row, from, to, [&](const CodeTile* tile, int begin, int end) {
        std::uint8_t* codes = m_codes.data() + (begin - m_from);
        std::uint8_t* known = m_known.data() + (begin - m_from);
        if (!tile) {
            std::fill_n(codes, end - begin, std::uint8_t { 0 });
            std::fill_n(known, end - begin, std::uint8_t { 0 });
            return;
        }
        const int line = lineIn(*tile, 0, row);
        const unsigned shift = tile->levelX - m_level;
        const std::uint8_t* tileCodes = tile->codeLine(line);
        const std::uint8_t* tileKnown = tile->knownLine(line);
        for (int i = 0; i < end - begin; ++i) {
            const int cell = ((begin + i) >> shift) % CodeTile::Side;
            codes[i] = tileCodes[cell];
            known[i] = tileKnown ? tileKnown[cell] : std::uint8_t { 1 };
        }
    });
}

void HeatPicture::mergeLine(const Source& source, const PictureLine& line, int from, int to)
{
    const bool highest = source.pool == app::HeatPool::Max;
    const auto begin = static_cast<std::size_t>(from - m_from);
    const int width = to - from;
    std::fill_n(m_codes.begin() + (from - m_from), width, std::uint8_t { 0 });
    std::fill_n(m_known.begin() + (from - m_from), width, std::uint8_t { 0 });
    if (!highest) {
        std::fill_n(m_sums.begin() + (from - m_from), width, 0.0F);
        std::fill_n(m_weights.begin() + (from - m_from), width, 0.0F);
    }
    const auto add = [&](unsigned levelY, int row) {
        if (highest)
            mergeHighest(source, levelY, row, from, to);
        else
            addWeighted(source, levelY, row, from, to);
    };
    // Coarser cells only where they lie inside of the line as a whole, so that no neighbor shines in.
    unsigned coarse = 0;
    if (line.count > FinestRows)
        coarse = std::min(source.tiles.levelsY(),
                          static_cast<unsigned>(std::bit_width(static_cast<unsigned>(line.count) / 8)))
            - 1;
    const int step = 1 << coarse;
    const int end = line.first + line.count;
    for (int row = line.first; row < end;) {
        const bool whole = row % step == 0 && row + step <= end;
        add(whole ? coarse : 0, whole ? row >> coarse : row);
        row += whole ? step : 1;
    }
    if (highest)
        return;
    for (std::size_t at = begin; at < begin + static_cast<std::size_t>(width); ++at) {
        m_known[at] = m_weights[at] > 0;
        m_codes[at] = m_weights[at] > 0 ? fastCodes()(m_sums[at] / m_weights[at]) : std::uint8_t { 0 };
    }
}

void HeatPicture::mergeHighest(const Source& source, unsigned levelY, int row, int from, int to)
{
    visitTiles(source, levelY, m_level, row, from, to, [&](const CodeTile* tile, int begin, int end) {
        if (!tile)
            return;
        const int width = end - begin;
        std::uint8_t* codes = m_codes.data() + (begin - m_from);
        std::uint8_t* known = m_known.data() + (begin - m_from);
        const int line = lineIn(*tile, levelY, row);
        const unsigned shift = tile->levelX - m_level;
        const std::uint8_t* tileCodes = tile->codeLine(line);
        const std::uint8_t* tileKnown = tile->knownLine(line);
        if (shift > 0) {
            for (int i = 0; i < width; ++i) {
                const int cell = ((begin + i) >> shift) % CodeTile::Side;
                codes[i] = std::max(codes[i], tileCodes[cell]);
                known[i] = static_cast<std::uint8_t>(known[i] | (tileKnown ? tileKnown[cell] : 1));
            }
            return;
        }
        tileCodes += begin % CodeTile::Side; // neighbors in memory: the compiler takes many at once
        for (int i = 0; i < width; ++i)
            codes[i] = std::max(codes[i], tileCodes[i]);
        if (!tileKnown) {
            std::fill_n(known, width, std::uint8_t { 1 });
            return;
        }
        tileKnown += begin % CodeTile::Side;
        for (int i = 0; i < width; ++i)
            known[i] = static_cast<std::uint8_t>(known[i] | tileKnown[i]);
    });
}

void HeatPicture::addWeighted(const Source& source, unsigned levelY, int row, int from, int to)
{
    const auto& before = source.elementsBefore;
    const std::size_t last = std::min(before.size() - 1, static_cast<std::size_t>(row + 1) << levelY);
    const auto weight = static_cast<float>(before[last] - before[static_cast<std::size_t>(row) << levelY]);
    visitTiles(source, levelY, m_level, row, from, to, [&](const CodeTile* tile, int begin, int end) {
        if (!tile)
            return;
        float* sums = m_sums.data() + (begin - m_from);
        float* weights = m_weights.data() + (begin - m_from);
        const int line = lineIn(*tile, levelY, row);
        const unsigned shift = tile->levelX - m_level;
        const std::uint8_t* tileCodes = tile->codeLine(line);
        const std::uint8_t* tileKnown = tile->knownLine(line);
        for (int i = 0; i < end - begin; ++i) {
            const int cell = ((begin + i) >> shift) % CodeTile::Side;
            const float counts = tileKnown && tileKnown[cell] == 0 ? 0.0F : weight;
            sums[i] += shares()[tileCodes[cell]] * counts;
            weights[i] += counts;
        }
    });
}

} // namespace deltascope::desktop
