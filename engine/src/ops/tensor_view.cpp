#include "deltascope/engine/tensor_view.h"

#include "backend/changed_elements.h"
#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/walk.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::uint64_t MaxSide = 1U << 24;

Result<const TensorInfo*> findTensor(const State& state, std::string_view name)
{
    DS_TRY(const TensorInfo* tensor, tensorIn(state, name));
    if (bitsOf(tensor->dtype) < 8)
        return fail(Code::Unsupported, fmt::format("elements of type {} share bytes", word(tensor->dtype)),
                    tensor->name, "diff counts them");
    const MatrixShape matrix = MatrixShape::of(*tensor);
    if (matrix.rows > MaxSide || matrix.cols > MaxSide)
        return fail(Code::Unsupported,
                    fmt::format("a matrix of {} x {} is too long to be shown", matrix.rows, matrix.cols), tensor->name,
                    "diff counts what differs in it");
    return tensor;
}

std::uint32_t perBlock(std::uint64_t side, std::uint32_t maxBlocks)
{
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (side + maxBlocks - 1) / maxBlocks));
}

std::uint32_t blocksOf(std::uint64_t side, std::uint32_t each)
{
    return static_cast<std::uint32_t>((side + each - 1) / each);
}

void addDifferent(TensorBlocks& out, std::uint64_t element)
{
    const auto row = static_cast<std::size_t>(element / out.matrix.cols);
    const auto col = static_cast<std::size_t>(element % out.matrix.cols);
    ++out.different;
    ++out.rows[row];
    ++out.cols[col];
    ++out.blocks[row / out.rowsPerBlock * out.blockCols + col / out.colsPerBlock];
}

}

MatrixShape MatrixShape::of(const TensorInfo& tensor) noexcept
{
    if (tensor.shape.empty())
        return {};
    MatrixShape matrix;
    matrix.cols = tensor.shape.back();
    for (std::size_t i = 0; i + 1 < tensor.shape.size(); ++i)
        matrix.rows *= tensor.shape[i];
    return matrix;
}

Result<TensorBlocks> compareInBlocks(Workbench& bench, const State& a, const State& b, std::string_view tensor,
                                     std::uint32_t maxBlocks, TaskContext& task)
{
    DS_TRY(const TensorInfo* left, findTensor(a, tensor));
    DS_TRY(const TensorInfo* right, findTensor(b, tensor));
    if (left->dtype != right->dtype || left->shape != right->shape)
        return fail(Code::Unsupported, "dtype or shape of the tensor is another one in the other state",
                    std::string(tensor), "diff names both");
    TensorBlocks out;
    out.tensor = *right;
    out.matrix = MatrixShape::of(*right);
    out.rowsPerBlock = perBlock(out.matrix.rows, maxBlocks);
    out.colsPerBlock = perBlock(out.matrix.cols, maxBlocks);
    out.blockRows = blocksOf(out.matrix.rows, out.rowsPerBlock);
    out.blockCols = blocksOf(out.matrix.cols, out.colsPerBlock);
    out.blocks.assign(std::size_t { out.blockRows } * out.blockCols, 0);
    out.rows.assign(out.matrix.rows, 0);
    out.cols.assign(out.matrix.cols, 0);

    DS_TRY(const WalkMeans means, bench.means());
    const auto walkOf = [&](const State& state) { return state.walk({ { *state.indexOf(tensor) } }, { means }); };
    DS_TRY(const std::unique_ptr<StateWalk> one, walkOf(a));
    DS_TRY(const std::unique_ptr<StateWalk> other, walkOf(b));
    ChangedElements changed(*means.backend);
    task.beginPhase("compare", right->bytes());
    const unsigned width = bitsOf(right->dtype) / 8;
    const auto compare = [&](std::size_t, PairReader& reader) {
        return forEachPair(reader, task, [&, first = std::uint64_t { 0 }](ByteSpan x, ByteSpan y) mutable {
            for (const std::uint32_t element : changed.find(x, y, width))
                addDifferent(out, first + element);
            first += y.size() / width;
        });
    };
    DS_CHECK(walkPairs(*one, *other, InOrder, task, compare));
    return out;
}

Result<ElementWindow> readWindow(Workbench& bench, const State& state, std::string_view tensor, Window window,
                                 TaskContext& task)
{
    DS_TRY(const TensorInfo* info, findTensor(state, tensor));
    const MatrixShape matrix = MatrixShape::of(*info);
    if (window.row >= matrix.rows || window.col >= matrix.cols)
        return fail(Code::Usage, fmt::format("the window lies outside of the {} x {} matrix", matrix.rows, matrix.cols),
                    info->name);
    window.rows = std::min(window.rows, matrix.rows - window.row);
    window.cols = std::min(window.cols, matrix.cols - window.col);
    if (window.rows == 0 || window.cols == 0 || window.cols > Window::MaxElements
        || window.rows > Window::MaxElements / window.cols)
        return fail(Code::Usage, fmt::format("a window has 1 to {} elements", Window::MaxElements), info->name);

    ElementWindow out;
    out.tensor = *info;
    out.window = window;
    out.elementBytes = bitsOf(info->dtype) / 8;
    const std::uint64_t width = out.elementBytes;
    out.bits.resize(window.rows * window.cols * width);

    // Whole blocks around the window are read; what is not whole has no digest to be compared with.
    const std::uint64_t grain = std::max<std::uint64_t>(blockBytesOf(info->dtype), LeafBytes) / width;
    const std::uint64_t first = window.row * matrix.cols + window.col;
    const std::uint64_t last = (window.row + window.rows - 1) * matrix.cols + window.col + window.cols;
    const TensorSlice slice { *state.indexOf(tensor), first / grain * grain, (last + grain - 1) / grain * grain };
    DS_TRY(const WalkMeans means, bench.means());
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk({ slice }, { means }));
    auto copy = [&, at = slice.begin * width](ByteSpan bytes) mutable {
        for (std::uint64_t row = 0; row < window.rows; ++row) {
            const std::uint64_t begin = ((window.row + row) * matrix.cols + window.col) * width;
            const std::uint64_t end = begin + window.cols * width;
            const std::uint64_t from = std::max(begin, at);
            const std::uint64_t to = std::min(end, at + bytes.size());
            if (from < to)
                std::memcpy(&out.bits[row * window.cols * width + (from - begin)], &bytes[from - at], to - from);
        }
        at += bytes.size();
    };
    const auto read = [&](std::size_t, SliceReader& reader) { return forEachBlock(reader, task, copy); };
    DS_CHECK(walkTensors(*walk, InOrder, task, read));
    return out;
}

} // namespace deltascope
