#pragma once

#include "audit/first_values.h"
#include "deltascope/engine/backend.h"
#include "deltascope/engine/patch.h"

#include <cstddef>
#include <cstdint>
#include <memory>
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
    virtual ~MoveMeter() = default;

    /// Before a piece of version `at` is applied to a block.
    virtual void onPiece(std::size_t at, ByteSpan state, const PatchPiece& piece) = 0;
    /// The block behind version `at`. Without onPiece() before it, the version is the one that makes the state.
    virtual void onBlock(std::size_t at, ByteSpan state) = 0;
    /// Behind the last block.
    void finish();
    /// By version, from start() on. After finish().
    const std::vector<TensorMoves>& moves() const noexcept { return m_moves; }
    /// Of the state that the first version makes; 0 where it holds NaN or infinity, so that it has no norm.
    double squares() const noexcept;
    std::size_t start() const noexcept { return m_start; } ///< the version that makes the state
    virtual const FirstValues& first() const noexcept = 0; ///< of that version

protected:
    explicit MoveMeter(std::size_t versions)
        : m_moves(versions)
        , m_start(versions)
    {
    }

    std::vector<TensorMoves> m_moves;
    double m_squares = 0;
    std::size_t m_start;
};

} // namespace deltascope
