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
    /// `columns`: versions that the totals of the tensors count, for the mean share per step; of none it is known.
    TensorFilter(const QString& text, std::uint64_t columns);

    bool isEmpty() const { return m_terms.empty(); }
    const QString& error() const { return m_error; } ///< what is wrong with the text; then everything passes
    bool operator()(const app::TensorRowView& tensor) const;

private:
    using Term = std::function<bool(const app::TensorRowView&)>;

    std::vector<Term> m_terms;
    QString m_error;
};

/// Mean changed share per version; 0 where none is known. `columns`: app::knownColumns().
double meanShare(const app::TensorRowView& tensor, std::uint64_t columns);

} // namespace deltascope::desktop
