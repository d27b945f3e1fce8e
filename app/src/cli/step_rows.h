#pragma once

#include "deltascope/app/view/log_view.h"

#include "terminal.h"

#include <map>
#include <string>
#include <utility>

namespace deltascope::cli {

/// The rows of a log, a step each.
class StepRows {
public:
    /// Both outlive it.
    StepRows(const app::LogView& log, const Style& style);

    std::string head() const;
    std::string row(const app::StepView& step) const;
    /// Whether the step can be rebuilt and is known to change none of the tensors that the log is about.
    bool isUntouched(const app::StepView& step) const;

private:
    const app::StepChangeView* changeOf(const app::StepView& step) const;
    std::string changeWords(const app::StepView& step) const;
    std::string runRow(const app::StepView& step) const;
    std::string selectionRow(const app::StepView& step) const;

    const Style& m_style;
    const app::LogView& m_log;
    double m_largestFraction = 0;
    bool m_paused = false; ///< some step has a pause
    std::int64_t m_now;
    std::map<std::pair<int, std::int64_t>, const app::StepChangeView*> m_changes;
};

} // namespace deltascope::cli
