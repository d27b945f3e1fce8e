#pragma once

#include "deltascope/app/view/heat_view.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <vector>

namespace deltascope::desktop {

/// Words, /regular expressions/ and the terms `changed>1%` and `dtype:bf16`, all of which have to hold. Any thread.
class TensorFilter {
public:
    TensorFilter() = default;
    /// `steps`: versions that the totals of the tensors count, for the mean share per step.
    TensorFilter(const QString& text, std::uint64_t steps);

    bool isEmpty() const { return m_terms.empty(); }
    const QString& error() const { return m_error; } ///< what is wrong with the text; then everything passes
    bool operator()(const app::TensorRowView& tensor) const;

private:
    using Term = std::function<bool(const app::TensorRowView&)>;

    std::vector<Term> m_terms;
    QString m_error;
};

/// Mean changed share per version; nothing where none is known.
double meanShare(const app::TensorRowView& tensor, std::uint64_t steps);
/// Versions of all epochs whose counts are known: what totals of tensors are made of.
std::uint64_t knownColumns(const app::HeatView& heat);

} // namespace deltascope::desktop
