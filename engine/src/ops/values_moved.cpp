#include "values_moved.h"

#include <algorithm>
#include <cmath>

namespace deltascope {

namespace {

TensorDiff emptyDiff(Dtype dtype)
{
    TensorDiff diff;
    diff.tensor.dtype = dtype;
    return diff;
}

}

MovedCollector::MovedCollector(Dtype dtype, const Backend& backend)
    : m_backend(backend)
    , m_diff(emptyDiff(dtype))
    , m_blocks(compareBlocks(backend, m_diff, m_squares))
{
}

Result<void> MovedCollector::add(ByteSpan a, ByteSpan b)
{
    m_backend.countSteps(a, b, m_diff.tensor.dtype, m_steps);
    return m_blocks->add(a, b);
}

Result<ValuesMoved> MovedCollector::finish()
{
    DS_CHECK(m_blocks->finish());
    ValuesMoved out;
    out.different = m_diff.different;
    out.signFlips = m_diff.signFlips;
    out.nanInvolved = m_diff.nanInvolved;
    if (m_diff.different > m_diff.notFinite.different)
        out.maxAbs = m_diff.maxAbs;
    out.norm = std::sqrt(m_squares.moved.value());
    out.relativeNorm = m_squares.relativeNorm(m_diff.different, m_diff.notFinite);
    const auto end = std::find_if(m_steps.all.rbegin(), m_steps.all.rend(), [](auto count) { return count > 0; });
    out.ulp.assign(m_steps.all.begin(), end.base());
    return out;
}

} // namespace deltascope
