#pragma once

#include "backend/changed_elements.h"
#include "backend/value_kinds.h"
#include "deltascope/engine/backend.h"
#include "deltascope/engine/patch.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace deltascope {

/// What one version did to the values of one tensor, and what they are behind it.
struct TensorMoves {
    /// Of a version that does not name the tensor.
    static const TensorMoves& none() noexcept;

    std::uint64_t changed = 0; ///< elements whose bits changed
    std::uint64_t signFlips = 0; ///< of these; NaN left out, as in all that follow
    std::uint64_t largestStep = 0; ///< distance in steps of the type
    StepCounts steps;
    double squares = 0; ///< of the differences, over finite values
    std::uint64_t newNotFinite = 0; ///< changed elements that are NaN or infinite behind the version
    std::int64_t notFinite = 0; ///< NaN and infinity behind the version; until MoveMeter::finish(), how many more
    bool constant = true; ///< behind the version, all elements have the same bits
    bool zero = true; ///< and these are all zero
};

/// Measures what the versions of a chain do to one tensor of a floating type, block by block. Costs as much as the
/// changes, and two passes over complete states. One thread.
class MoveMeter {
public:
    /// Null for types that are not floating.
    static std::unique_ptr<MoveMeter> of(Dtype dtype, std::size_t versions, std::shared_ptr<const Backend> backend);

    /// Before a piece of version `at` is applied to a block.
    void onPiece(std::size_t at, ByteSpan state, const PatchPiece& piece);
    /// The block behind version `at`. Without onPiece() before it, the version is the one that makes the state.
    void onBlock(std::size_t at, ByteSpan state);
    /// Behind the last block.
    void finish();
    /// By version, from start() on. After finish().
    const std::vector<TensorMoves>& moves() const noexcept { return m_moves; }
    /// Of the state that the first version makes; 0 where it holds NaN or infinity, so that it has no norm.
    double squares() const noexcept;
    std::size_t start() const noexcept { return m_start; } ///< the version that makes the state
    const ValueKinds& first() const noexcept { return m_first; } ///< of that version

private:
    static constexpr std::size_t None = SIZE_MAX;

    MoveMeter(Dtype dtype, std::size_t versions, std::shared_ptr<const Backend> backend);

    void begin(std::size_t at, ByteSpan state);
    void addListed(TensorMoves& moves, ByteSpan block, std::span<const std::uint32_t> elements, ByteSpan fresh);
    void add(TensorMoves& moves, ByteSpan before, ByteSpan after) const;
    void addConstant(std::size_t at, ByteSpan state);

    std::shared_ptr<const Backend> m_backend;
    Dtype m_dtype;
    unsigned m_elementBytes;
    ChangedElements m_changed;
    std::vector<TensorMoves> m_moves;
    std::size_t m_start;
    double m_squares = 0;
    ValueKinds m_first;
    std::vector<std::optional<std::uint64_t>> m_firstOf; ///< by version: the bits of an element behind it
    std::size_t m_pieceOf = None; ///< the version whose piece was shown last
    std::vector<std::byte> m_before; ///< the block before it, where what changes is not listed
    std::vector<std::byte> m_old, m_fresh; ///< bits of elements that are listed
};

} // namespace deltascope
