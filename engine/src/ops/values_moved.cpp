#include "values_moved.h"

#include "backend/changed_elements.h"
#include "compensated_sum.h"
#include "deltascope/engine/number_format.h"
#include "number_table.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace deltascope {

namespace {

template <class Format> class MovedOf final : public MovedCollector {
    using Bits = typename Format::Bits;

public:
    MovedOf(const Format& format, Dtype dtype, const Backend& backend)
        : m_format(format)
        , m_changed(backend)
        , m_values(numberTable(dtype))
    {
    }

    void add(ByteSpan a, ByteSpan b) override
    {
        for (const std::uint32_t element : m_changed.find(a, b, sizeof(Bits))) {
            const std::size_t at = std::size_t { element } * sizeof(Bits);
            addDifferent(loadLe<Bits>(a, at), loadLe<Bits>(b, at));
        }
    }

    ValuesMoved moved() const override
    {
        ValuesMoved out = m_out;
        out.norm = std::sqrt(m_squares.value());
        return out;
    }

private:
    double valueOf(Bits bits) const
    {
        if constexpr (Format::Width <= 16)
            return m_values[bits];
        else
            return numberOf(m_format, bits);
    }

    void addDifferent(Bits x, Bits y)
    {
        ++m_out.different;
        const double before = valueOf(x);
        const double after = valueOf(y);
        if (std::isnan(before) || std::isnan(after)) {
            ++m_out.nanInvolved;
            return;
        }
        m_out.signFlips += ((x ^ y) & m_format.signBit()) != 0;
        const std::uint64_t apart = distance(m_format.ordered(x), m_format.ordered(y));
        const auto bin = static_cast<std::size_t>(std::bit_width(apart - 1));
        m_out.ulp.resize(std::max(m_out.ulp.size(), bin + 1));
        ++m_out.ulp[bin];
        const double gap = Format::IsInteger ? static_cast<double>(apart) : std::abs(after - before);
        if (!std::isfinite(gap))
            return;
        m_out.maxAbs = std::max(m_out.maxAbs.value_or(0), gap);
        m_squares.add(gap * gap);
    }

    Format m_format;
    ChangedElements m_changed;
    const std::vector<double>& m_values;
    ValuesMoved m_out;
    Sum m_squares;
};

}

std::unique_ptr<MovedCollector> MovedCollector::of(Dtype dtype, const Backend& backend)
{
    std::unique_ptr<MovedCollector> out;
    const auto make = [&](auto format) { out = std::make_unique<MovedOf<decltype(format)>>(format, dtype, backend); };
    withNumbers(dtype, make, make);
    return out;
}

} // namespace deltascope
