#include "element_compare.h"

#include "deltascope/engine/tensor_view.h"
#include "number_format.h"
#include "number_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

namespace deltascope {

namespace {

template <class Format> void compareFloats(ByteSpan a, ByteSpan b, const Format& format, TensorDiff& diff, Sum& moved)
{
    using Bits = typename Format::Bits;
    for (std::size_t at = 0; at + sizeof(Bits) <= a.size(); at += sizeof(Bits)) {
        const Bits x = loadLe<Bits>(a, at);
        const Bits y = loadLe<Bits>(b, at);
        if (x == y)
            continue;
        ++diff.different;
        if (format.isNan(x) || format.isNan(y)) {
            ++diff.nanInvolved;
            continue;
        }
        diff.signFlips += ((x ^ y) & format.signBit()) != 0;
        diff.maxUlp = std::max(diff.maxUlp, distance(format.ordered(x), format.ordered(y)));
        const double gap = std::abs(format.value(x) - format.value(y));
        if (!std::isfinite(gap))
            continue;
        diff.maxAbs = std::max(diff.maxAbs, gap);
        moved.add(gap * gap);
    }
}

template <class Number>
void compareIntegers(ByteSpan a, ByteSpan b, const IntegerFormat<Number>&, TensorDiff& diff, Sum& moved)
{
    for (std::size_t at = 0; at + sizeof(Number) <= a.size(); at += sizeof(Number)) {
        const Number x = loadLe<Number>(a, at);
        const Number y = loadLe<Number>(b, at);
        if (x == y)
            continue;
        ++diff.different;
        diff.signFlips += (x < 0) != (y < 0);
        // In 64 bits and modulo 2^64, so that large numbers keep small distances.
        const std::uint64_t gap = x > y ? static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y)
                                        : static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x);
        diff.maxAbs = std::max(diff.maxAbs, static_cast<double>(gap));
        moved.add(static_cast<double>(gap) * static_cast<double>(gap));
    }
}

/// Several sums at a time, because each waits for its own last addition.
template <class Format> double squaresOf(ByteSpan block, const Format& format, const std::vector<double>& values)
{
    using Bits = typename Format::Bits;
    constexpr std::size_t Lanes = 8;
    std::array<double, Lanes> sums {};
    const auto squareAt = [&](std::size_t element) {
        const Bits bits = loadLe<Bits>(block, element * sizeof(Bits));
        const double value = Format::Width <= 16 ? values[bits] : format.value(bits);
        return std::isfinite(value) ? value * value : 0;
    };
    const std::size_t elements = block.size() / sizeof(Bits);
    const std::size_t even = elements / Lanes * Lanes;
    for (std::size_t element = 0; element < even; element += Lanes) {
        for (std::size_t lane = 0; lane < Lanes; ++lane)
            sums[lane] += squareAt(element + lane);
    }
    for (std::size_t element = even; element < elements; ++element)
        sums[element - even] += squareAt(element);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}

void Squares::add(const Squares& other) noexcept
{
    a.add(other.a.value());
    moved.add(other.moved.value());
}

std::optional<double> Squares::relativeNorm() const noexcept
{
    const double ratio = std::sqrt(moved.value()) / std::sqrt(a.value());
    return a.value() > 0 && std::isfinite(ratio) ? std::optional(ratio) : std::nullopt;
}

double sumOfSquares(ByteSpan block, Dtype dtype)
{
    const std::vector<double>& values = numberTable(dtype);
    double sum = 0;
    const auto add = [&](auto format) { sum = squaresOf(block, format, values); };
    withNumbers(dtype, add, add);
    return sum;
}

void compareBlocks(ByteSpan a, ByteSpan b, Dtype dtype, TensorDiff& diff, Squares& squares)
{
    squares.a.add(sumOfSquares(a, dtype));
    if (std::memcmp(a.data(), b.data(), a.size()) == 0)
        return;
    const bool numbers = withNumbers(
        dtype, [&](auto format) { compareFloats(a, b, format, diff, squares.moved); },
        [&](auto format) { compareIntegers(a, b, format, diff, squares.moved); });
    if (!numbers)
        diff.different += countDifferent(a, b, dtype);
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
