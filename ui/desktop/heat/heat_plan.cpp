#include "heat/heat_plan.h"

#include "heat/tensor_filter.h"
#include "look/format.h"
#include "look/marks.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

bool sameNames(const std::vector<app::TensorRowView>& a, const std::vector<app::TensorRowView>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.name == y.name && x.group == y.group; });
}

/// Both are ascending.
void markLanes(HeatPlan& plan, const app::RunSnapshot& run, const std::set<std::int64_t>& alerts)
{
    const auto& epochs = run.run->epochs;
    const auto epoch = std::find_if(epochs.begin(), epochs.end(),
                                    [&](const app::EpochView& candidate) { return candidate.epoch == plan.epoch; });
    plan.lanes.resize(static_cast<std::size_t>(plan.columns));
    std::size_t at = 0;
    for (int column = 0; column < plan.columns; ++column) {
        const app::HeatColumnView& shown = plan.column(column);
        LaneMark& mark = plan.lanes[static_cast<std::size_t>(column)];
        mark.anchor = shown.kind == "anchor" || shown.kind == "partial_anchor";
        mark.damaged = shown.damaged;
        mark.alert = alerts.contains(shown.step);
        if (epoch == epochs.end())
            continue;
        while (at < epoch->steps.size() && epoch->steps[at].step < shown.step)
            ++at;
        if (at == epoch->steps.size() || epoch->steps[at].step != shown.step)
            continue;
        const app::StepView& step = epoch->steps[at];
        mark.damaged = mark.damaged || step.state == "broken";
        if (!step.refs.empty())
            mark.word = safeName(step.refs.front());
        mark.pauseMs = step.pauseMs.value_or(-1);
        plan.longestPauseMs = std::max(plan.longestPauseMs, mark.pauseMs);
        if (const auto verified = app::verifiedOf(run.verified, step)) {
            mark.damaged = mark.damaged || verified->result == "damaged";
            if (isSound(verified->result))
                mark.verified = verified->level;
        }
    }
}

}

int HeatPlan::columnOf(const StepId& step) const
{
    if (step.epoch != epoch)
        return -1;
    const auto found = heat->columnOf(step.epoch, step.step);
    return found ? static_cast<int>(*found) - firstColumn : -1;
}

std::optional<std::uint8_t> HeatPlan::code(int row, int at) const
{
    const auto& codes = column(at).codes;
    if (!codes)
        return std::nullopt;
    return (*codes)[static_cast<std::size_t>(row)];
}

double HeatPlan::meanShareOf(int first, int count) const
{
    const auto from = static_cast<std::size_t>(first);
    const auto to = static_cast<std::size_t>(first + count);
    const double cells = (elementsBefore[to] - elementsBefore[from]) * static_cast<double>(knownColumns);
    return cells == 0 ? 0 : (changedBefore[to] - changedBefore[from]) / cells;
}

HeatPlanPointer makeHeatPlan(const RunPointer& run, int epoch, const std::set<std::int64_t>& alerts,
                             const RowOptions& options, const HeatPlanPointer& before)
{
    if (!run || !run->run || !run->heat)
        return nullptr;
    auto plan = std::make_shared<HeatPlan>();
    plan->heat = run->heat;
    plan->epoch = epoch;
    const auto [first, last] = run->heat->columnsOf(epoch);
    plan->firstColumn = static_cast<int>(first);
    plan->columns = static_cast<int>(last - first);
    const auto& tensors = run->heat->rows;
    plan->tree = before && sameNames(before->heat->rows, tensors)
        ? before->tree
        : std::make_shared<const RowTree>(makeRowTree(tensors));
    plan->knownColumns = knownColumns(*run->heat);
    plan->options = options;
    if (options.sort != RowSort::Model || !TensorFilter(options.filter, 0).isEmpty())
        plan->list = listedRows(tensors, options, plan->knownColumns);
    plan->elementsBefore.assign(tensors.size() + 1, 0);
    plan->changedBefore.assign(tensors.size() + 1, 0);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        plan->elementsBefore[i + 1] = plan->elementsBefore[i] + static_cast<double>(tensors[i].elements);
        plan->changedBefore[i + 1] = plan->changedBefore[i] + static_cast<double>(tensors[i].changedElements);
    }
    markLanes(*plan, *run, alerts);
    return plan;
}

std::set<std::int64_t> stepsWithAlerts(app::Monitor& monitor, const std::string& run)
{
    std::set<std::int64_t> steps;
    for (const app::AlertView& alert : monitor.alerts().list(run).alerts) {
        if (alert.step)
            steps.insert(*alert.step);
    }
    return steps;
}

std::optional<std::vector<int>> movedColumns(const HeatPlan& before, const HeatPlan& now)
{
    if (before.epoch != now.epoch || before.tree != now.tree || before.columns > now.columns)
        return std::nullopt;
    std::vector<int> moved;
    for (int at = 0; at < now.columns; ++at) {
        const app::HeatColumnView& fresh = now.column(at);
        if (at < before.columns && before.column(at).step != fresh.step)
            return std::nullopt;
        if (at >= before.columns || before.column(at).codes != fresh.codes)
            moved.push_back(at);
    }
    return moved;
}

} // namespace deltascope::desktop
