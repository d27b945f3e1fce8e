#include "make_views.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace deltascope::app {

namespace {

std::optional<double> gini(std::vector<std::uint32_t> counts)
{
    std::sort(counts.begin(), counts.end());
    double sum = 0;
    double weighted = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        sum += counts[i];
        weighted += static_cast<double>(i + 1) * counts[i];
    }
    if (sum == 0)
        return std::nullopt;
    const auto n = static_cast<double>(counts.size());
    return std::max(0.0, 2 * weighted / (n * sum) - (n + 1) / n);
}

std::vector<std::pair<std::uint64_t, std::uint32_t>> topOf(const std::vector<std::uint32_t>& counts)
{
    constexpr std::ptrdiff_t Most = 5;
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t { 0 });
    const auto end = order.begin() + std::min<std::ptrdiff_t>(Most, static_cast<std::ptrdiff_t>(order.size()));
    std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
        return counts[a] != counts[b] ? counts[a] > counts[b] : a < b;
    });
    std::vector<std::pair<std::uint64_t, std::uint32_t>> top;
    for (auto at = order.begin(); at != end && counts[*at] > 0; ++at)
        top.emplace_back(*at, counts[*at]);
    return top;
}

/// One element as a number would be written: most significant byte first.
std::string hexOf(ByteSpan element)
{
    std::string text;
    for (std::size_t i = element.size(); i-- > 0;)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(element[i]));
    return text;
}

void addElements(const ElementWindow& window, std::vector<std::string>& bits,
                 std::vector<std::optional<double>>& values)
{
    for (std::size_t at = 0; at < window.bits.size(); at += window.elementBytes) {
        const ByteSpan element = ByteSpan(window.bits).subspan(at, window.elementBytes);
        bits.push_back(hexOf(element));
        values.push_back(elementValue(element, window.tensor.dtype));
    }
}

}

BlocksView makeBlocksView(const TensorBlocks& blocks, std::optional<std::int64_t> a)
{
    BlocksView view;
    view.tensor = blocks.tensor.name;
    view.dtype = word(blocks.tensor.dtype);
    view.shape = blocks.tensor.shape;
    view.rows = blocks.matrix.rows;
    view.cols = blocks.matrix.cols;
    view.blockRows = blocks.blockRows;
    view.blockCols = blocks.blockCols;
    view.rowsPerBlock = blocks.rowsPerBlock;
    view.colsPerBlock = blocks.colsPerBlock;
    view.blocks = blocks.blocks;
    view.rowCounts = blocks.rows;
    view.colCounts = blocks.cols;
    view.changed = blocks.different;
    view.total = blocks.tensor.elements();
    view.deadRows = static_cast<std::uint64_t>(std::count(blocks.rows.begin(), blocks.rows.end(), 0U));
    view.deadCols = static_cast<std::uint64_t>(std::count(blocks.cols.begin(), blocks.cols.end(), 0U));
    view.giniOfRows = gini(blocks.rows);
    view.topRows = topOf(blocks.rows);
    view.a = a;
    return view;
}

ElementsView makeElementsView(std::int64_t step, const ElementWindow& now, std::optional<std::int64_t> a,
                              const std::optional<ElementWindow>& before)
{
    ElementsView view;
    view.tensor = now.tensor.name;
    view.dtype = word(now.tensor.dtype);
    view.row = now.window.row;
    view.col = now.window.col;
    view.rows = now.window.rows;
    view.cols = now.window.cols;
    view.step = step;
    addElements(now, view.newBits, view.newValues);
    if (before) {
        view.a = a;
        addElements(*before, view.oldBits, view.oldValues);
    }
    return view;
}

HeaderView makeHeaderView(const std::string& key, const SafetensorsHeader& header)
{
    constexpr std::size_t MostTensors = 500;
    HeaderView view;
    view.key = key;
    view.headerBytes = header.dataBegin();
    view.metadata.insert(header.metadata().begin(), header.metadata().end());
    view.tensorsTotal = header.tensors().size();
    for (std::size_t i = 0; i < std::min(MostTensors, header.tensors().size()); ++i) {
        const StoredTensor& tensor = header.tensors()[i];
        view.tensors.push_back(
            { tensor.info.name, std::string(word(tensor.info.dtype)), tensor.info.shape, tensor.bytes });
    }
    return view;
}

} // namespace deltascope::app
