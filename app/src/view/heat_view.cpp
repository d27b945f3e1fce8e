#include "deltascope/app/view/heat_view.h"

#include "deltascope/base/ascii.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace deltascope::app {

namespace {

constexpr double Decades = 6; ///< from 1e-6 to 1
constexpr double Steps = 254;

const std::array<double, 256>& shares()
{
    static const std::array<double, 256> table = [] {
        std::array<double, 256> made {};
        for (std::size_t code = 1; code < made.size(); ++code)
            made[code] = std::pow(10.0, static_cast<double>(code - 1) * Decades / Steps - Decades);
        return made;
    }();
    return table;
}

std::uint8_t codeOfShare(double share) noexcept
{
    if (share <= 0)
        return 0;
    const double code = std::round(1 + Steps * (std::log10(share) + Decades) / Decades);
    return static_cast<std::uint8_t>(std::clamp(code, 1.0, 255.0));
}

/// One merged cell on its way.
struct Cell {
    bool known = false;
    std::uint8_t highest = 0;
    double sum = 0;
    double weight = 0;

    void add(std::uint8_t code, std::uint64_t elements)
    {
        known = true;
        highest = std::max(highest, code);
        sum += shares()[code] * static_cast<double>(elements);
        weight += static_cast<double>(elements);
    }
    std::uint8_t code(HeatPool pool) const
    {
        if (pool == HeatPool::Max)
            return highest;
        return weight > 0 ? codeOfShare(sum / weight) : std::uint8_t { 0 };
    }
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

int placeOf(std::string_view name)
{
    if (!tensorGroup(name).empty())
        return 1;
    if (has(name, "embed") || has(name, "wte") || has(name, "wpe"))
        return 0;
    return has(name, "head") ? 3 : 2;
}

/// Numbers by value, everything else by bytes.
bool naturalBefore(std::string_view a, std::string_view b)
{
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (!isDigit(a[i]) || !isDigit(b[j])) {
            if (a[i] != b[j])
                return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
            ++i;
            ++j;
            continue;
        }
        const auto number = [](std::string_view text, std::size_t& at) {
            while (at + 1 < text.size() && text[at] == '0' && isDigit(text[at + 1]))
                ++at;
            const std::size_t begin = at;
            while (at < text.size() && isDigit(text[at]))
                ++at;
            return text.substr(begin, at - begin);
        };
        const std::string_view x = number(a, i);
        const std::string_view y = number(b, j);
        if (x != y)
            return x.size() != y.size() ? x.size() < y.size() : x < y;
    }
    return a.size() - i < b.size() - j;
}

}

std::pair<std::size_t, std::size_t> HeatView::columnsOf(int epoch) const noexcept
{
    const auto before = [](const HeatColumnView& column, int wanted) { return column.epoch < wanted; };
    const auto first = std::lower_bound(columns.begin(), columns.end(), epoch, before);
    const auto last = std::lower_bound(first, columns.end(), epoch + 1, before);
    return { static_cast<std::size_t>(first - columns.begin()), static_cast<std::size_t>(last - columns.begin()) };
}

std::uint64_t knownColumns(const HeatView& heat) noexcept
{
    return static_cast<std::uint64_t>(std::count_if(heat.columns.begin(), heat.columns.end(),
                                                    [](const HeatColumnView& column) { return bool(column.codes); }));
}

std::optional<std::size_t> HeatView::columnOf(int epoch, std::int64_t step) const noexcept
{
    const auto [first, last] = columnsOf(epoch);
    const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = columns.begin() + static_cast<std::ptrdiff_t>(last);
    const auto at = std::lower_bound(
        begin, end, step, [](const HeatColumnView& column, std::int64_t wanted) { return column.step < wanted; });
    if (at == end || at->step != step)
        return std::nullopt;
    return static_cast<std::size_t>(at - columns.begin());
}

std::uint8_t heatCode(std::uint64_t changed, std::uint64_t elements) noexcept
{
    return elements == 0 ? std::uint8_t { 0 }
                         : codeOfShare(static_cast<double>(changed) / static_cast<double>(elements));
}

double heatShare(std::uint8_t code) noexcept { return shares()[code]; }

unsigned heatLevels(std::size_t count) noexcept
{
    unsigned levels = 1;
    while (count > (HeatTile::Side << (levels - 1)))
        ++levels;
    return levels;
}

HeatTile makeHeatTile(const HeatView& heat, int epoch, HeatPool pool, unsigned levelY, unsigned levelX,
                      std::size_t tileY, std::size_t tileX)
{
    constexpr std::size_t Side = HeatTile::Side;
    const auto [firstColumn, lastColumn] = heat.columnsOf(epoch);
    const std::size_t columns = lastColumn - firstColumn;
    const std::size_t rows = heat.rows.size();
    HeatTile tile;
    tile.codes.resize(Side * Side);
    tile.unknown.assign(Side * Side / 8, 0);
    bool allKnown = true;
    std::vector<Cell> merged(Side);
    for (std::size_t x = 0; x < Side; ++x) { // column by column, as they lie in memory
        std::fill(merged.begin(), merged.end(), Cell());
        const std::size_t left = std::min(columns, (tileX * Side + x) << levelX);
        const std::size_t right = std::min(columns, (tileX * Side + x + 1) << levelX);
        for (std::size_t column = left; column < right; ++column) {
            const auto& codes = heat.columns[firstColumn + column].codes;
            if (!codes)
                continue;
            for (std::size_t y = 0; y < Side; ++y) {
                const std::size_t top = std::min(rows, (tileY * Side + y) << levelY);
                const std::size_t bottom = std::min(rows, (tileY * Side + y + 1) << levelY);
                for (std::size_t row = top; row < bottom; ++row)
                    merged[y].add((*codes)[row], heat.rows[row].elements);
            }
        }
        for (std::size_t y = 0; y < Side; ++y) {
            const std::size_t at = y * Side + x;
            tile.codes[at] = merged[y].code(pool);
            if (!merged[y].known) {
                tile.unknown[at / 8] = static_cast<std::uint8_t>(tile.unknown[at / 8] | (1U << (at % 8)));
                allKnown = false;
            }
        }
    }
    if (allKnown)
        tile.unknown.clear();
    return tile;
}

bool modelBefore(std::string_view a, std::string_view b)
{
    const int placeA = placeOf(a);
    const int placeB = placeOf(b);
    return placeA != placeB ? placeA < placeB : naturalBefore(a, b);
}

std::string tensorGroup(std::string_view name)
{
    std::size_t wordBegin = 0; // of the part before the one that is read
    for (std::size_t begin = 0; begin < name.size();) {
        const std::size_t end = std::min(name.size(), name.find('.', begin));
        const std::string_view part = name.substr(begin, end - begin);
        if (begin > 0 && !part.empty() && std::all_of(part.begin(), part.end(), isDigit))
            return std::string(name.substr(wordBegin, end - wordBegin));
        wordBegin = begin;
        begin = end + 1;
    }
    return {};
}

} // namespace deltascope::app
