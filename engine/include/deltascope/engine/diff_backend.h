#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace deltascope {

/// Finds what changed between two equally long stretches of one tensor, by bit patterns, never by float comparison: -0
/// and +0 differ, equal NaN patterns do not. Implementations: scalar (always built, the reference), SIMD targets chosen
/// at run time, CUDA later; all give the same bits. Stateless; any thread; nothing is allocated. For all operations:
/// `elementBytes` is 1, 2, 4 or 8; both stretches have the same length, a multiple of it; no address needs to be
/// aligned; not a byte outside the inputs is read.
class DiffBackend {
public:
    virtual ~DiffBackend() = default;
    /// "scalar", "avx2", "avx512", "simd" (the vectors of another architecture): what DELTASCOPE_DIFF_BACKEND names.
    virtual std::string_view name() const noexcept = 0;
    /// Whether this machine can run it; if not, the operations must not be called.
    virtual bool isSupportedHere() const noexcept = 0;

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

    static constexpr std::size_t SlackElements = 64;
};

/// All that were built, the scalar one first, then from slow to fast; some may not be supported here.
const std::vector<std::shared_ptr<const DiffBackend>>& diffBackends();

/// The backend to use: the one that `forced` names, or the fastest that this machine runs if it is empty.
/// Errors: Usage (no such backend; the text lists them), Unsupported (this machine cannot run it).
Result<std::shared_ptr<const DiffBackend>> chooseDiffBackend(std::string_view forced);

} // namespace deltascope
