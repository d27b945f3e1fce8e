#include "statistics_jobs.h"

#include "opening.h"
#include "stretches.h"
#include "tensor_jobs.h"
#include "view/make_views.h"

#include <algorithm>

namespace deltascope::app {

namespace {

constexpr std::uint32_t MostSteps = 50; ///< each holds counts of its own in memory

bool sameForm(const TensorInfo& a, const TensorInfo& b) { return a.dtype == b.dtype && a.shape == b.shape; }

}

Result<StatisticsView> statisticsOf(Workbench& bench, const TensorRequest& request, TaskContext& task)
{
    DS_TRY(const StatePair pair, planPair(bench, request, task));
    DS_TRY(const OpenPair open, openPair(bench, pair, task));
    const PathState* const now = open.now.get();
    const PathState* const before = open.before.get(); // null: there is none
    const TensorInfo* left = before ? before->find(request.tensor) : nullptr;
    const TensorInfo* right = now->find(request.tensor);
    const bool compared = before && (!request.against.empty() || (left && right && sameForm(*left, *right)));
    DS_TRY(const TensorStatistics statistics,
           ifSound(deltascope::statisticsOf(bench, compared ? before : nullptr, *now, request.tensor, task),
                   { now, before }, task));
    StatisticsView view = makeStatisticsView(pair.version->step(), pair.beforeStep, statistics);
    view.reads = makeReadsView({ compared ? before : nullptr, now });
    return view;
}

Result<StatisticsHistoryView> statisticsHistoryOf(Workbench& bench, const TensorRequest& request, std::uint32_t steps,
                                                  TaskContext& task)
{
    DS_TRY(const StatePair pair, planPair(bench, request, task));
    StatisticsHistoryView view;
    view.tensor = request.tensor;
    for (const Stretch& stretch : stretchesOf(pair.run, *pair.version, std::min(steps, MostSteps))) {
        DS_TRY(const PathPtr path, openChecked(bench, pair.run, stretch.plan, pair.acceptRewritten, task));
        std::vector<std::size_t> links;
        for (const auto& [link, version] : stretch.links)
            links.push_back(link);
        DS_TRY(const auto values,
               ifSound(statisticsBehind(bench, *path, links, request.tensor, task), { path.get() }, task));
        for (const auto& [link, found] : values)
            view.steps.push_back(makeValuesView(stretch.links.at(link)->step(), found));
        addReads(view.reads, *path);
        if (view.dtype.empty())
            view.dtype = word(path->find(request.tensor)->dtype);
    }
    std::sort(view.steps.begin(), view.steps.end(),
              [](const ValuesView& a, const ValuesView& b) { return a.step < b.step; });
    return view;
}

Result<StatisticsCostView> statisticsCostOf(Workbench& bench, const TensorRequest& request, std::uint32_t steps,
                                            TaskContext& task)
{
    DS_TRY(const StatePair pair, planPair(bench, request, task));
    DS_TRY(const StatisticsCost now, costOfStatistics(pair.run, pair.plan, request.tensor, task));
    StatisticsCostView view;
    view.tensorBytes = now.tensor.bytes();
    if (steps == 0) {
        view.steps = 1;
        view.readBytes = now.readBytes();
        if (!pair.beforePlan)
            return view;
        const Result<StatisticsCost> before = costOfStatistics(pair.run, *pair.beforePlan, request.tensor, task);
        if (!before && before.error().code != Code::NotFound)
            return fail(before.error());
        if (before && sameForm(before->tensor, now.tensor)) {
            view.steps = 2;
            view.readBytes += before->readBytes();
        }
        return view;
    }
    const bool all = steps == Service::AllSteps; // then it is walked once, whatever its type
    for (const Stretch& stretch : stretchesOf(pair.run, *pair.version, all ? steps : std::min(steps, MostSteps))) {
        const Result<StatisticsCost> cost = costOfStatistics(pair.run, stretch.plan, request.tensor, task);
        if (!cost && all && cost.error().code == Code::NotFound) // then there is nothing to read
            continue;
        if (!cost)
            return fail(cost.error());
        view.readBytes += all ? cost->walkBytes + cost->checkBytes : cost->readBytes();
        view.steps += static_cast<std::uint32_t>(stretch.links.size());
    }
    return view;
}

} // namespace deltascope::app
