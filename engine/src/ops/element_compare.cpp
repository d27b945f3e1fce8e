#include "element_compare.h"

#include "backend/value_kinds.h"
#include "deltascope/engine/number_format.h"
#include "deltascope/engine/tensor_view.h"

#include <cmath>

namespace deltascope {

void Squares::add(const Squares& other) noexcept
{
    a.add(other.a.value());
    moved.add(other.moved.value());
}

std::optional<double> Squares::relativeNorm(std::uint64_t different, const NotFiniteCounts& notFinite) const noexcept
{
    if (different > 0 && notFinite.different == different)
        return std::nullopt;
    const double ratio = std::sqrt(moved.value()) / std::sqrt(a.value());
    const bool isKnown = a.value() > 0 && std::isfinite(a.value()) && std::isfinite(ratio);
    return isKnown ? std::optional(ratio) : std::nullopt;
}

std::unique_ptr<PairBatches> compareBlocks(const Backend& backend, TensorDiff& diff, Squares& squares)
{
    const Dtype dtype = diff.tensor.dtype;
    if (!isNumber(dtype))
        return PairBatches::atOnce([&backend, &diff, dtype](ByteSpan a, ByteSpan b) -> Result<void> {
            diff.different += countDifferent(backend, a, b, dtype);
            if (dtype == Dtype::C64) {
                diff.notFinite.a += countNotFiniteComplex(a);
                diff.notFinite.b += countNotFiniteComplex(b);
            } else if (bitsOf(dtype) % 8 == 0) { // others have no NaN; these have no infinity
                diff.notFinite.a += backend.countNan(a, dtype);
                diff.notFinite.b += backend.countNan(b, dtype);
            }
            return {};
        });
    return backend.measure(dtype, [&](const DiffMoments& moments) {
        squares.a.add(moments.squares);
        squares.moved.add(moments.movedSquares);
        diff.different += moments.different;
        const NotFiniteCounts& changed = moments.notFiniteChanged;
        diff.notFinite += { moments.notFinite, moments.notFinite - changed.a + changed.b, changed.different };
        diff.nanInvolved += moments.nanInvolved;
        diff.signFlips += moments.signFlips;
        diff.maxUlp = std::max(diff.maxUlp, moments.maxUlp);
        diff.maxAbs = std::max(diff.maxAbs, moments.maxAbs);
    });
}

std::optional<double> elementValue(ByteSpan bits, Dtype dtype) noexcept
{
    std::optional<double> value;
    const auto read = [&](auto format) {
        const auto pattern = loadLe<typename decltype(format)::Bits>(bits, 0);
        if (const double number = format.value(pattern); !format.isNan(pattern) && std::isfinite(number))
            value = number;
    };
    withNumbers(dtype, read, read);
    return value;
}

} // namespace deltascope
