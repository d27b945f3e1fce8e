#pragma once

#include "deltascope/engine/operations.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What is looked at inside of one tensor: where its changes lie, and its elements. A tensor is shown as a matrix of
// [product of all dimensions but the last] x [last dimension]; a scalar is 1 x 1.

namespace deltascope {

/// The tensor of a state with this name. Errors: NotFound, with the step and the names that are near.
Result<const TensorInfo*> tensorIn(const State& state, std::string_view name);

struct MatrixShape {
    std::uint64_t rows = 1;
    std::uint64_t cols = 1;

    static MatrixShape of(const TensorInfo& tensor) noexcept;
};

/// Where one tensor differs between two states.
struct TensorBlocks {
    TensorInfo tensor;
    MatrixShape matrix;
    std::uint32_t rowsPerBlock = 1, colsPerBlock = 1; ///< of all blocks but the last ones
    std::uint32_t blockRows = 0, blockCols = 0;
    std::vector<std::uint32_t> blocks; ///< elements that differ, row by row
    std::vector<std::uint32_t> rows, cols; ///< the same of each row and column of the matrix
    std::uint64_t different = 0;
};

/// Compares bits. `maxBlocks`: of a side of the grid. Errors: NotFound (no such tensor in a state), Unsupported (other
/// dtype or shape, more than 2^24 rows or columns, elements smaller than a byte), Digest, those of the replay.
Result<TensorBlocks> compareInBlocks(Workbench& bench, const State& a, const State& b, std::string_view tensor,
                                     std::uint32_t maxBlocks, TaskContext& task);

/// A rectangle of the matrix; clipped to it.
struct Window {
    std::uint64_t row = 0, col = 0;
    std::uint64_t rows = 1, cols = 1;

    static constexpr std::uint64_t MaxElements = 4096;
};

struct ElementWindow {
    TensorInfo tensor;
    Window window; ///< as it was clipped
    unsigned elementBytes = 0;
    std::vector<std::byte> bits; ///< of all elements, row by row
};

/// Reads the elements of a state. Errors: as compareInBlocks; Usage (outside of the matrix, more than MaxElements).
Result<ElementWindow> readWindow(Workbench& bench, const State& state, std::string_view tensor, Window window,
                                 TaskContext& task);

/// The number that the bits of one element stand for; nothing for NaN, infinities, and types without numbers.
std::optional<double> elementValue(ByteSpan bits, Dtype dtype) noexcept;

} // namespace deltascope
