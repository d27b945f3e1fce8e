#pragma once

#include "backend/special_values.h"
#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace deltascope {

/// What a state holds beside finite numbers.
struct FirstValues {
    std::uint64_t nan = 0;
    std::uint64_t infinite = 0;
    bool othersConstant = true; ///< all finite elements have the same bits
};

/// Collects them from the blocks of a tensor. Of finite weights, the second element ends the search for one value.
template <class Format> class FirstValuesOf {
    using Bits = typename Format::Bits;

public:
    explicit FirstValuesOf(const Format& format)
        : m_format(format)
    {
    }

    void add(ByteSpan state)
    {
        const bool special = anySpecial(m_format, state);
        for (std::size_t byte = 0; byte < state.size() && (special || m_values.othersConstant); byte += sizeof(Bits))
            addElement(loadLe<Bits>(state, byte));
    }
    const FirstValues& values() const noexcept { return m_values; }

private:
    void addElement(Bits bits)
    {
        if (m_format.isNan(bits)) {
            ++m_values.nan;
        } else if (m_format.isSpecial(bits)) {
            ++m_values.infinite;
        } else {
            m_values.othersConstant = m_values.othersConstant && bits == m_finite.value_or(bits);
            m_finite = bits;
        }
    }

    Format m_format;
    FirstValues m_values;
    std::optional<Bits> m_finite;
};

/// The same for a type that is known only when it runs.
class FirstScan {
public:
    /// Null for types that are not floating.
    static std::unique_ptr<FirstScan> of(Dtype dtype);
    virtual ~FirstScan() = default;
    virtual void add(ByteSpan block) = 0;
    virtual const FirstValues& values() const noexcept = 0;
};

} // namespace deltascope
