#include "backend/moments.h"
#include "deltascope/engine/element_difference.h"

#include <cassert>

namespace deltascope {

namespace {

template <class Format>
void addElements(const Format& format, ByteSpan before, ByteSpan after, MomentSums& sums) noexcept
{
    using Bits = typename Format::Bits;
    for (std::size_t i = 0; i < before.size() / sizeof(Bits); ++i) {
        const std::size_t lane = i % Backend::MomentLanes;
        const Bits x = loadLe<Bits>(before, i * sizeof(Bits));
        const Bits y = loadLe<Bits>(after, i * sizeof(Bits));
        if (format.isSpecial(x)) {
            ++sums.out.notFinite;
        } else {
            const double value = format.value(x);
            sums.squares[lane] += value * value;
        }
        if (x == y)
            continue;
        ++sums.out.different;
        addDifference(format, x, y, sums.moved[lane], sums.out);
    }
}

} // namespace

bool isNumber(Dtype dtype) noexcept
{
    const auto nothing = [](auto) {};
    return withNumbers(dtype, nothing, nothing);
}

bool isFloating(Dtype dtype) noexcept
{
    bool floating = false;
    withNumbers(
        dtype, [&](auto) { floating = true; }, [](auto) {});
    return floating;
}

DiffMoments scalarMoments(ByteSpan before, ByteSpan after, Dtype dtype) noexcept
{
    assert(before.size() == after.size() && before.size() * 8 % bitsOf(dtype) == 0);
    assert(before.size() * 8 / bitsOf(dtype) <= Backend::MomentElements);
    MomentSums sums;
    const auto add = [&](auto format) { addElements(format, before, after, sums); };
    [[maybe_unused]] const bool measured = withNumbers(dtype, add, add);
    assert(measured);
    return sums.finish();
}

} // namespace deltascope
