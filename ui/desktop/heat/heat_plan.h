#pragma once

#include "bridge/service_bridge.h"
#include "heat/heat_rows.h"
#include "state/step_cursor.h"

#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace deltascope::desktop {

/// What the lanes above the cells say of one column.
struct LaneMark {
    bool anchor = false;
    bool damaged = false;
    bool alert = false;
    QString word; ///< that people gave the step; empty: none
    int verified = -1; ///< level of a verification that found nothing wrong; -1: none
    double pauseMs = -1; ///< -1: not known
};

/// One epoch of a run's heatmap with everything that takes a walk over its steps or tensors. Immutable; made off the
/// GUI thread.
struct HeatPlan {
    std::shared_ptr<const app::HeatView> heat;
    int epoch = 0;
    int firstColumn = 0; ///< of the epoch, in heat->columns
    int columns = 0;
    std::shared_ptr<const RowTree> tree; ///< shared by plans with the same rows
    RowOptions options;
    std::optional<std::vector<int>> list; ///< matrix rows, where they are sorted or filtered
    std::vector<double> elementsBefore; ///< entry i: sum over the rows before i; weights of means
    std::vector<double> changedBefore;
    std::uint64_t knownColumns = 0; ///< of all epochs; what changedBefore is made of
    std::vector<LaneMark> lanes; ///< one per column
    double longestPauseMs = 0;

    int rows() const { return static_cast<int>(heat->rows.size()); }
    const app::HeatColumnView& column(int at) const
    {
        return heat->columns[static_cast<std::size_t>(firstColumn + at)];
    }
    const app::TensorRowView& tensor(int row) const { return heat->rows[static_cast<std::size_t>(row)]; }
    StepId stepOf(int at) const { return { column(at).epoch, column(at).step }; }
    int columnOf(const StepId& step) const; ///< -1: none
    /// Code of a cell; nothing: not known.
    std::optional<std::uint8_t> code(int row, int at) const;
    /// Mean share per step of the rows [first, first + count).
    double meanShareOf(int first, int count) const;
};
using HeatPlanPointer = std::shared_ptr<const HeatPlan>;

/// Slow for big runs. `alerts`: steps with an alert. `before`: a plan whose tree may be shared; may be null. Null
/// without a heatmap.
HeatPlanPointer makeHeatPlan(const RunPointer& run, int epoch, const std::set<std::int64_t>& alerts,
                             const RowOptions& options, const HeatPlanPointer& before);
/// Steps of a run that have an alert. Any thread.
std::set<std::int64_t> stepsWithAlerts(app::Monitor& monitor, const std::string& run);
/// Columns of `now` that `before` does not have or that look different there; nothing: they do not follow each other.
std::optional<std::vector<int>> movedColumns(const HeatPlan& before, const HeatPlan& now);

} // namespace deltascope::desktop
