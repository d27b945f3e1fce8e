#pragma once

#include "deltascope/app/view/reads_view.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

// Inside of one tensor, shown as a matrix of [product of all dimensions but the last] x [last dimension].

/// Where one tensor differs between two steps.
struct BlocksView {
    std::string tensor;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::uint64_t rows = 0, cols = 0;
    std::uint32_t blockRows = 0, blockCols = 0;
    std::uint32_t rowsPerBlock = 0, colsPerBlock = 0;
    std::vector<std::uint32_t> blocks; ///< changed elements, row by row
    std::vector<std::uint32_t> rowCounts, colCounts;
    std::uint64_t changed = 0;
    std::uint64_t total = 0;
    std::uint64_t deadRows = 0, deadCols = 0; ///< without a change
    std::optional<double> giniOfRows; ///< 0: even, towards 1: all in one row; nothing without a change
    std::vector<std::pair<std::uint64_t, std::uint32_t>> topRows; ///< row, changed; at most 5
    /// Step compared with; nothing: there is no state before, or `reads` says why it cannot be told. All counts are
    /// zero then.
    std::optional<std::int64_t> a;
    ReadsView reads; ///< of both steps
};

/// A rectangle of one tensor at two steps.
struct ElementsView {
    std::string tensor;
    std::string dtype;
    std::uint64_t row = 0, col = 0, rows = 0, cols = 0;
    std::optional<std::int64_t> a;
    std::int64_t step = 0;
    std::vector<std::string> oldBits, newBits; ///< hex, most significant digit first; oldBits is empty without `a`
    std::vector<std::optional<double>> oldValues, newValues; ///< nothing for NaN and infinities
    ReadsView reads; ///< of both steps
};

/// What a safetensors header says, without its payload.
struct HeaderView {
    std::string key;
    std::uint64_t headerBytes = 0;
    std::map<std::string, std::string> metadata;
    struct Tensor {
        std::string name;
        std::string dtype;
        std::vector<std::uint64_t> shape;
        std::uint64_t bytes = 0;
    };
    std::vector<Tensor> tensors; ///< the first ones, in the order of their data
    std::uint64_t tensorsTotal = 0;
};

} // namespace deltascope::app
