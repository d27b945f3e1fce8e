#include "element_compare.h"

#include "deltascope/engine/tensor_view.h"
#include "number_format.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace deltascope {

namespace {

template <class Bits> void compareFloats(ByteSpan a, ByteSpan b, const FloatFormat<Bits>& format, TensorDiff& diff)
{
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
        if (std::isfinite(gap))
            diff.maxAbs = std::max(diff.maxAbs, gap);
    }
}

template <class Number> void compareIntegers(ByteSpan a, ByteSpan b, const IntegerFormat<Number>&, TensorDiff& diff)
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
    }
}

}

void compareBlocks(ByteSpan a, ByteSpan b, Dtype dtype, TensorDiff& diff)
{
    if (std::memcmp(a.data(), b.data(), a.size()) == 0)
        return;
    const bool numbers = withNumbers(
        dtype, [&](auto format) { compareFloats(a, b, format, diff); },
        [&](auto format) { compareIntegers(a, b, format, diff); });
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
