#include "pages/lineage/lineage_items.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr std::size_t FewestToFold = 3;

LineageItem rowItem(const LineagePicture& picture, std::size_t row, std::size_t chain)
{
    const StepId id = picture.idOf(row);
    return { LineageItem::Kind::Row, id.epoch, id.step, row, chain };
}

}

LineageFolding::Key LineageFolding::keyOf(const LineagePicture& picture, std::size_t chain)
{
    const StepId oldest = picture.idOf(picture.chains()[chain].to - 1);
    return { oldest.epoch, oldest.step };
}

bool LineageFolding::canFold(const LineagePicture& picture, std::size_t chain)
{
    return picture.chains()[chain].to - picture.chains()[chain].from >= FewestToFold && !picture.kept();
}

void LineageFolding::set(const LineagePicture& picture, std::size_t chain, bool open)
{
    m_byHand.insert(keyOf(picture, chain), open);
}

void LineageFolding::setAll(bool open)
{
    m_byHand.clear();
    m_all = open;
}

void LineageFolding::forget()
{
    m_byHand.clear();
    m_all.reset();
}

bool LineageFolding::isOpen(const LineagePicture& picture, std::size_t chain, std::optional<std::size_t> a,
                            std::optional<std::size_t> b) const
{
    if (!canFold(picture, chain))
        return true;
    if (const auto chosen = m_byHand.constFind(keyOf(picture, chain)); chosen != m_byHand.constEnd())
        return *chosen;
    const LineageChain& rows = picture.chains()[chain];
    const auto holds = [&](const std::optional<std::size_t>& row) {
        return row && *row >= rows.from && *row < rows.to;
    };
    return m_all.value_or(chain == 0 || !rows.plain) || holds(a) || holds(b);
}

std::vector<LineageItem> lineageItems(const LineagePicture& picture, const LineageFolding& folding,
                                      std::optional<std::size_t> a, std::optional<std::size_t> b)
{
    std::vector<LineageItem> items;
    if (const std::optional<std::vector<std::size_t>>& kept = picture.kept()) {
        items.reserve(kept->size());
        for (const std::size_t row : *kept)
            items.push_back(rowItem(picture, row, picture.chainOf(row)));
        return items;
    }
    const std::vector<app::LineageRowView>& rows = picture.rows();
    for (std::size_t at = 0; at < picture.chains().size(); ++at) {
        const LineageChain& chain = picture.chains()[at];
        const StepId oldest = picture.idOf(chain.to - 1);
        if (folding.isOpen(picture, at, a, b)) {
            for (std::size_t row = chain.from; row < chain.to; ++row)
                items.push_back(rowItem(picture, row, at));
        } else {
            items.push_back({ LineageItem::Kind::Fold, oldest.epoch, oldest.step, chain.from, at });
        }
        if (chain.to < rows.size() && rows[chain.to].step->epoch < oldest.epoch)
            items.push_back({ LineageItem::Kind::Restart, oldest.epoch, 0, chain.to - 1, at });
    }
    return items;
}

std::optional<std::size_t> itemOfRow(const std::vector<LineageItem>& items, const LineagePicture& picture,
                                     std::size_t row)
{
    // Rows of items ascend; a fold stands for all rows up to the next item, a restart for none.
    auto after = std::upper_bound(items.begin(), items.end(), row,
                                  [](std::size_t wanted, const LineageItem& item) { return wanted < item.row; });
    while (after != items.begin()) {
        --after;
        if (after->kind == LineageItem::Kind::Restart)
            continue;
        const bool shows =
            after->kind == LineageItem::Kind::Row ? after->row == row : row < picture.chains()[after->chain].to;
        return shows ? std::optional(static_cast<std::size_t>(after - items.begin())) : std::nullopt;
    }
    return std::nullopt;
}

void LineageLines::build(const LineagePicture& picture, const std::vector<LineageItem>& items)
{
    // Counts of lines that begin and end at each half: one pass, however long the lines are.
    const std::size_t halves = 2 * items.size();
    std::array<std::vector<int>, 2 * MostLanes> changes; // solid lanes, then dashed ones
    std::array<bool, 2 * MostLanes> used {};
    const auto draw = [&](std::size_t set, std::size_t from, std::size_t to) {
        if (!used[set])
            changes[set].assign(halves + 1, 0);
        used[set] = true;
        ++changes[set][from];
        --changes[set][to];
    };
    const std::vector<app::LineageRowView>& rows = picture.rows();
    for (std::size_t at = 0; at < items.size(); ++at) {
        if (items[at].kind != LineageItem::Kind::Row)
            continue;
        const app::LineageRowView& row = rows[items[at].row];
        if (!row.base || *row.base <= items[at].row)
            continue;
        const std::optional<std::size_t> to = itemOfRow(items, picture, *row.base);
        if (!to || *to <= at)
            continue;
        const auto lane = static_cast<std::size_t>(laneOf(row));
        draw(isLost(row) ? lane + MostLanes : lane, 2 * at + 1, 2 * *to + 1);
    }
    m_halves.assign(halves, {});
    for (std::size_t set = 0; set < changes.size(); ++set) {
        int lines = 0;
        for (std::size_t half = 0; used[set] && half < halves; ++half) {
            lines += changes[set][half];
            if (lines > 0) {
                std::uint8_t& bits = set < MostLanes ? m_halves[half].solid : m_halves[half].dashed;
                bits = static_cast<std::uint8_t>(bits | (1U << (set % MostLanes)));
            }
        }
    }
}

namespace {

auto nodeBelow(const std::vector<ShownPath::Node>& nodes, std::size_t item)
{
    return std::upper_bound(nodes.begin(), nodes.end(), item,
                            [](std::size_t at, const ShownPath::Node& node) { return at < node.item; });
}

}

bool ShownPath::hasNode(std::size_t item) const
{
    const auto below = nodeBelow(nodes, item);
    return below != nodes.begin() && std::prev(below)->item == item;
}

std::optional<int> ShownPath::below(std::size_t item) const
{
    const auto next = nodeBelow(nodes, item);
    return next == nodes.begin() || next == nodes.end() ? std::nullopt : std::optional(std::prev(next)->lane);
}

std::optional<int> ShownPath::above(std::size_t item) const
{
    if (item == 0)
        return std::nullopt;
    const auto next = nodeBelow(nodes, item - 1);
    return next == nodes.begin() || next == nodes.end() ? std::nullopt : std::optional(std::prev(next)->lane);
}

ShownPath shownPath(const std::vector<LineageItem>& items, const LineagePicture& picture, std::size_t row)
{
    ShownPath path;
    for (const std::size_t at : picture.replayPath(row)) {
        const std::optional<std::size_t> item = itemOfRow(items, picture, at);
        if (item && (path.isEmpty() || path.nodes.back().item < *item))
            path.nodes.push_back({ *item, LineageLines::laneOf(picture.rows()[at]) });
    }
    return path;
}

} // namespace deltascope::desktop
