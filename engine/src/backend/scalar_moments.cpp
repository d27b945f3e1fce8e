#include "backend/element_moments.h"
#include "backend/moments.h"

#include <cassert>

namespace deltascope {

bool isNumber(Dtype dtype) noexcept
{
    const auto nothing = [](auto) {};
    return withNumbers(dtype, nothing, nothing);
}

DiffMoments scalarMoments(ByteSpan before, ByteSpan after, Dtype dtype) noexcept
{
    assert(before.size() == after.size() && before.size() * 8 % bitsOf(dtype) == 0);
    assert(before.size() * 8 / bitsOf(dtype) <= Backend::MomentElements);
    MomentSums sums;
    const auto add = [&](auto format) { addElements(format, before, after, 0, sums); };
    [[maybe_unused]] const bool measured = withNumbers(dtype, add, add);
    assert(measured);
    return sums.finish();
}

} // namespace deltascope
