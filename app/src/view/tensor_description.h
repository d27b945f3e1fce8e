#pragma once

#include "deltascope/app/view/tensor_view.h"

#include "io/forms.h"
#include "reads_description.h"

namespace deltascope::app {

inline constexpr PairKeys TopRowKeys { "TopRow", "row", "changed" };

template <class Io> void describe(Io& io, Of<Io, HeaderView::Tensor>& tensor)
{
    io.type("HeaderTensor", "A tensor as a header describes it.");
    io("name", tensor.name);
    io("dtype", tensor.dtype);
    io("shape", tensor.shape);
    io("bytes", tensor.bytes);
}

template <class Io> void describe(Io& io, Of<Io, HeaderView>& header)
{
    io.type("HeaderPreview", "What a safetensors header says, without its payload.");
    io("key", header.key);
    io("header_bytes", header.headerBytes);
    io("metadata", byName(header.metadata));
    io("tensors", header.tensors, "the first 500");
    io("tensors_total", header.tensorsTotal);
    io.computed("claims_note",
                [] { return std::string("What a header says about its content is a claim; verify compares it."); });
}

/// Without the counts, which follow as binary.
template <class Io> void describe(Io& io, Of<Io, BlocksView>& blocks)
{
    io.type("BlockHeader",
            "Where one tensor differs between two steps. Behind it: block_rows * block_cols counts, `rows` row counts, "
            "`cols` column counts, each uint32 little-endian.");
    io("tensor", blocks.tensor);
    io("dtype", blocks.dtype);
    io("shape", blocks.shape);
    io("rows", blocks.rows, "of the matrix that the tensor is shown as: product of all dimensions but the last");
    io("cols", blocks.cols);
    io("block_rows", blocks.blockRows, "rows of the grid");
    io("block_cols", blocks.blockCols);
    io("rows_per_block", blocks.rowsPerBlock);
    io("cols_per_block", blocks.colsPerBlock);
    io("changed", blocks.changed, "elements that differ between a and the step");
    io("total", blocks.total);
    io("dead_rows", blocks.deadRows, "without a change");
    io("dead_cols", blocks.deadCols);
    io("gini_rows", blocks.giniOfRows, "0 even … 1 in one row");
    io("top_rows", pairs(blocks.topRows, TopRowKeys), "at most 5");
    io("a", blocks.a, "step compared with; null: nothing (the first state, or the notices say why)");
    describeReads(io, blocks.reads);
    io.expect(blocks.rowsPerBlock > 0 && blocks.colsPerBlock > 0
                  && std::uint64_t { blocks.blockRows } * blocks.rowsPerBlock >= blocks.rows
                  && std::uint64_t { blocks.blockCols } * blocks.colsPerBlock >= blocks.cols,
              "\"block_rows\" and \"block_cols\" do not cover the tensor");
}

template <class Io> void describe(Io& io, Of<Io, ElementsView>& window)
{
    io.type("ElementWindow", "A window into one tensor at two steps, row by row; at most 4,096 elements.");
    io("tensor", window.tensor);
    io("dtype", window.dtype);
    io("row", window.row);
    io("col", window.col);
    io("rows", window.rows);
    io("cols", window.cols);
    io("a", window.a, "step compared with; null: nothing (the first state, or the notices say why)");
    io("step", window.step);
    const bool hasOld = window.a.has_value();
    io("old_bits", nullsUnless(hasOld, window.oldBits, window.newBits.size()), "hex; null without a");
    io("new_bits", window.newBits);
    io("old_values", nullsUnless(hasOld, window.oldValues, window.newBits.size()), "null: NaN, infinite, or without a");
    io("new_values", window.newValues, "null: NaN, infinite");
    describeReads(io, window.reads);
    const std::size_t cells = window.newBits.size();
    const std::size_t old = hasOld ? cells : 0;
    io.expect(window.rows <= cells && window.cols <= cells && window.rows * window.cols == cells,
              "\"new_bits\" is not one for each row and column");
    io.expect(window.newValues.size() == cells && window.oldBits.size() == old && window.oldValues.size() == old,
              "\"new_values\", \"old_bits\" or \"old_values\" is not as long as \"new_bits\"");
}

} // namespace deltascope::app
