#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/block_batches.h"
#include "deltascope/engine/not_finite.h"
#include "deltascope/engine/patch.h"
#include "deltascope/engine/step_counts.h"
#include "deltascope/engine/tensor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltascope {

/// How the numbers of two blocks differ. Sums are those of one fixed order, so all backends give the same bits.
struct DiffMoments {
    std::uint64_t notFinite = 0; ///< NaN and infinity in `before`
    double squares = 0; ///< sum of the squares of `before`, over finite values
    std::uint64_t different = 0; ///< elements whose bits differ; all that follow are over these
    NotFiniteCounts notFiniteChanged; ///< a: of `before`, b: of `after`
    std::uint64_t nanInvolved = 0; ///< a side is NaN; these count in nothing that follows
    std::uint64_t signFlips = 0;
    std::uint64_t maxUlp = 0; ///< distance of ordered bit patterns; floating types
    double maxAbs = 0; ///< largest distance of two finite values; infinite where binary64 has no such number
    double movedSquares = 0; ///< sum of the squares of these distances

    bool operator==(const DiffMoments&) const = default;
};

/// Finds what changed between two equally long stretches of one tensor, and applies what is to change in one, by bit
/// patterns, never by float comparison: -0 and +0 differ, equal NaN patterns do not. Implementations: scalar (always
/// built, the reference), SIMD targets chosen at run time, a CUDA device (device_backend.h); all give the same bits.
/// Any thread; those of the processor are stateless and allocate nothing. For all operations: `elementBytes` is 1, 2, 4
/// or 8; both stretches have the same length, a multiple of it; no address needs to be aligned; not a byte outside the
/// inputs is read.
class Backend {
public:
    virtual ~Backend() = default;
    /// "scalar", "avx2", "avx512", "simd" (the vectors of another architecture), "cuda": what DELTASCOPE_DIFF_BACKEND
    /// names.
    virtual std::string_view name() const noexcept = 0;
    /// Whether this machine can run it; if not, the operations must not be called.
    virtual bool isSupportedHere() const noexcept = 0;
    /// Why it cannot, and what to do about that, where more is known; nothing: it can, or no more is known.
    virtual std::optional<Error> obstacle() const { return std::nullopt; }
    /// Whether it is used only where its name is given.
    virtual bool byNameOnly() const noexcept { return false; }
    /// For the caller to report: a device failed, and the processor did its work. The results are right.
    virtual std::vector<Error> notices() const { return {}; }

    /// Elements whose bits differ.
    virtual std::uint64_t count(ByteSpan before, ByteSpan after, unsigned elementBytes) const noexcept = 0;
    /// Ascending positions of changed elements, relative to the start, and their new bits one after another.
    /// `positions` and `values` have room for all elements and SlackElements more, overlap neither each other nor the
    /// inputs, and hold unspecified data behind what was found. At most 2^32 elements. Returns how many changed.
    virtual std::size_t extract(ByteSpan before, ByteSpan after, unsigned elementBytes, std::uint32_t* positions,
                                std::byte* values) const noexcept = 0;
    /// out = before xor after, as long as these; returns how many elements differ. `out` may be `before` or `after`,
    /// but may not overlap them in part.
    virtual std::uint64_t xorInto(ByteSpan before, ByteSpan after, unsigned elementBytes,
                                  MutableByteSpan out) const noexcept = 0;

    /// Measures one block: at most MomentElements elements of a type of numbers (isNumber). `dtype` says how wide they
    /// are. The order of both sums: element i is added to sum i mod MomentLanes, in ascending order of i, each square
    /// rounded to binary64 before; then the upper half of the sums is added to the lower one until one is left.
    virtual DiffMoments moments(ByteSpan before, ByteSpan after, Dtype dtype) const noexcept = 0;
    /// Adds how far the elements that differ moved, of a type of numbers. Where a side is NaN, they count in nothing.
    virtual void countSteps(ByteSpan before, ByteSpan after, Dtype dtype, StepCounts& counts) const noexcept;
    /// Adds how often each bit pattern occurs; `counts` has a place for each. `elementBytes` is 1 or 2.
    virtual void countPatterns(ByteSpan elements, unsigned elementBytes,
                               std::span<std::uint64_t> counts) const noexcept;
    /// Elements that are NaN, of a type of whole bytes but C64.
    virtual std::uint64_t countNan(ByteSpan elements, Dtype dtype) const noexcept;

    /// Applies a piece to the block that it was read for, which holds whole elements, and counts what that does to
    /// them; those of 4 or 6 bits are packed from the low bit up. Offsets lie inside the block, a FullBlock or XorBlock
    /// is as long as it (readers guarantee both), and nothing of the piece overlaps it.
    virtual PatchCounts apply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) const noexcept = 0;

    // The same for many blocks. A backend that gains nothing from it does each block at once.

    /// Measures pairs of blocks, each from a multiple of MomentElements in its tensor on. `use`: gets the moments of
    /// each block of moments() in turn.
    virtual std::unique_ptr<PairBatches> measure(Dtype dtype, std::function<void(const DiffMoments&)> use) const;
    /// Finds what changed in pairs of blocks, as extract() does.
    virtual std::unique_ptr<PairBatches> find(unsigned elementBytes, UseChanges use) const;
    /// Applies several pieces to each block, and returns it with these states. Null: nothing is gained over apply().
    virtual std::unique_ptr<PatchBatches> patch(Dtype dtype, PatchedStates states) const;

    static constexpr std::size_t SlackElements = 64;
    /// Elements of a block of moments(). Blocks begin at multiples of it in their tensor, however it is read, so that
    /// sums do not depend on that; every block of a replay but the last holds a whole number of them.
    static constexpr std::size_t MomentElements = 16384;
    static constexpr std::size_t MomentLanes = 32;
};

/// Whether the elements are numbers with a sign and a distance, as moments() needs them.
bool isNumber(Dtype dtype) noexcept;
/// Of these, those with distances of bit patterns (DiffMoments::maxUlp).
bool isFloating(Dtype dtype) noexcept;

/// Elements whose bits differ between two equally long blocks, of any type; those of 4 or 6 bits are packed from the
/// low bit up.
std::uint64_t countDifferent(const Backend& backend, ByteSpan a, ByteSpan b, Dtype dtype) noexcept;

/// The backends that a program has. A value; copies share the backends.
class Backends {
public:
    /// From slow to fast, the scalar one first; some may not be supported here.
    explicit Backends(std::vector<std::shared_ptr<const Backend>> all)
        : m_all(std::move(all))
    {
    }
    /// Those of the processor that were built.
    static Backends builtin();
    /// These and one more, which is used by its name alone.
    Backends with(std::shared_ptr<const Backend> backend) const;

    const std::vector<std::shared_ptr<const Backend>>& all() const noexcept { return m_all; }
    /// The backend to use: the one that `forced` names, or the fastest that this machine runs if it is empty.
    /// Errors: Usage (no such backend; the text lists them), Unsupported (this machine cannot run it).
    Result<std::shared_ptr<const Backend>> choose(std::string_view forced) const;

private:
    std::vector<std::shared_ptr<const Backend>> m_all;
};

} // namespace deltascope
