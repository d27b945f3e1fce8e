#pragma once

#include <cmath>

namespace deltascope {

/// A sum whose rounding errors are added up as well (Neumaier).
class Sum {
public:
    void add(double value) noexcept
    {
        const double sum = m_sum + value;
        m_lost += std::abs(m_sum) >= std::abs(value) ? (m_sum - sum) + value : (value - sum) + m_sum;
        m_sum = sum;
    }
    double value() const noexcept { return m_sum + m_lost; }

private:
    double m_sum = 0;
    double m_lost = 0;
};

} // namespace deltascope
