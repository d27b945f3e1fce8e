#include "read_views.h"

#include "view/run_description.h"

namespace deltascope::app {

namespace {

HeaderView::Tensor readHeaderTensor(const json& from)
{
    return { read<std::string>(from, "name"), read<std::string>(from, "dtype"), readList<std::uint64_t>(from, "shape"),
             read<std::uint64_t>(from, "bytes") };
}

/// Little-endian numbers at the begin of `bytes`, which are taken away. Errors: Unsupported.
Result<std::vector<std::uint32_t>> takeNumbers(std::string_view& bytes, std::uint64_t count)
{
    if (bytes.size() / 4 < count)
        return fail(Code::Unsupported, "the answer ends too early");
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(count));
    for (std::uint32_t& number : numbers) {
        for (unsigned i = 0; i < 4; ++i)
            number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
        bytes.remove_prefix(4);
    }
    return numbers;
}

BlocksView readBlocksHead(const json& from)
{
    BlocksView view;
    view.tensor = read<std::string>(from, "tensor");
    view.dtype = read<std::string>(from, "dtype");
    view.shape = readList<std::uint64_t>(from, "shape");
    view.rows = read<std::uint64_t>(from, "rows");
    view.cols = read<std::uint64_t>(from, "cols");
    view.blockRows = read<std::uint32_t>(from, "block_rows");
    view.blockCols = read<std::uint32_t>(from, "block_cols");
    view.rowsPerBlock = read<std::uint32_t>(from, "rows_per_block");
    view.colsPerBlock = read<std::uint32_t>(from, "cols_per_block");
    view.changed = read<std::uint64_t>(from, "changed");
    view.total = read<std::uint64_t>(from, "total");
    view.deadRows = read<std::uint64_t>(from, "dead_rows");
    view.deadCols = read<std::uint64_t>(from, "dead_cols");
    view.giniOfRows = readOptional<double>(from, "gini_rows");
    view.topRows = readEach(from, "top_rows", [](const json& row) {
        return std::pair(read<std::uint64_t>(row, "row"), read<std::uint32_t>(row, "changed"));
    });
    view.a = readOptional<std::int64_t>(from, "a");
    const bool covers = std::uint64_t { view.blockRows } * view.rowsPerBlock >= view.rows
        && std::uint64_t { view.blockCols } * view.colsPerBlock >= view.cols;
    if (!covers || view.rowsPerBlock == 0 || view.colsPerBlock == 0)
        throw Unfit { "\"block_rows\" and \"block_cols\" do not cover the tensor" };
    return view;
}

}

StepDetailView readStepDetail(const json& from)
{
    return { readAs<StepView>(fieldOf(from, "step")), readEach(from, "tensors", readAs<TensorCountView>), {} };
}

HeaderView readHeaderView(const json& from)
{
    HeaderView view;
    view.key = read<std::string>(from, "key");
    view.headerBytes = read<std::uint64_t>(from, "header_bytes");
    const json& metadata = fieldOf(from, "metadata");
    if (!metadata.is_object() && !metadata.is_null())
        throw Unfit { "\"metadata\" is no object" };
    for (const auto& [key, value] : metadata.items())
        view.metadata.emplace(key, valueOf<std::string>(value, "metadata"));
    view.tensors = readEach(from, "tensors", readHeaderTensor);
    view.tensorsTotal = read<std::uint64_t>(from, "tensors_total");
    return view;
}

ElementsView readElements(const json& from)
{
    ElementsView view;
    view.tensor = read<std::string>(from, "tensor");
    view.dtype = read<std::string>(from, "dtype");
    view.row = read<std::uint64_t>(from, "row");
    view.col = read<std::uint64_t>(from, "col");
    view.rows = read<std::uint64_t>(from, "rows");
    view.cols = read<std::uint64_t>(from, "cols");
    view.a = readOptional<std::int64_t>(from, "a");
    view.step = read<std::int64_t>(from, "step");
    view.newBits = readList<std::string>(from, "new_bits");
    view.newValues = readOptionals<double>(from, "new_values");
    if (view.a) {
        view.oldBits = readList<std::string>(from, "old_bits");
        view.oldValues = readOptionals<double>(from, "old_values");
    }
    const std::size_t cells = view.newBits.size();
    const bool whole = view.rows <= cells && view.cols <= cells && view.rows * view.cols == cells;
    if (!whole || view.newValues.size() != cells || (view.a && view.oldBits.size() != cells)
        || (view.a && view.oldValues.size() != cells))
        throw Unfit { "\"new_bits\" is not of the size that is told" };
    return view;
}

Result<BlocksView> readBlocks(const std::string& body)
{
    const std::size_t end = body.find('\n');
    if (end == std::string::npos)
        return fail(Code::Unsupported, "the answer ends too early");
    DS_TRY(BlocksView view, readJson(body.substr(0, end), readBlocksHead));
    std::string_view counts = std::string_view(body).substr(end + 1);
    DS_TRY(view.blocks, takeNumbers(counts, std::uint64_t { view.blockRows } * view.blockCols));
    DS_TRY(view.rowCounts, takeNumbers(counts, view.rows));
    DS_TRY(view.colCounts, takeNumbers(counts, view.cols));
    return view;
}

} // namespace deltascope::app
