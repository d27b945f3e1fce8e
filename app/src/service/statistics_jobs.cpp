#include "statistics_jobs.h"

#include "opening.h"
#include "stretches.h"
#include "tensor_jobs.h"
#include "view/make_views.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace deltascope::app {

namespace {

constexpr std::uint32_t MostSteps = 50; ///< each holds counts of its own in memory

bool sameForm(const TensorInfo& a, const TensorInfo& b) { return a.dtype == b.dtype && a.shape == b.shape; }

/// The values of a tensor, compared with those of the state before where both have it in the same form.
Result<StatisticsView> statisticsOf(Workbench& bench, const TensorRequest& request, const StatePair& pair,
                                    TaskContext& task)
{
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

}

Result<StatisticsView> statisticsOf(Workbench& bench, const TensorRequest& request, TaskContext& task)
{
    DS_TRY(StatePair pair, planPair(bench, request, task));
    return comparedIfSound(request, pair,
                           [&](const StatePair& with) { return statisticsOf(bench, request, with, task); });
}

namespace {

/// Collects the values of a tensor at the last steps up to one, and why some of these cannot be told.
class ValueHistory {
public:
    ValueHistory(const StatePair& pair, std::string tensor)
        : m_pair(pair)
        , m_tensor(std::move(tensor))
    {
    }

    Result<void> read(Workbench& bench, std::size_t steps, TaskContext& task)
    {
        for (const Stretch& stretch : stretchesOf(m_pair.run, *m_pair.version, steps, m_pair.acceptRewritten)) {
            const Result<void> outcome = readStretch(bench, stretch, task);
            if (!outcome && (!isOfStep(outcome.error()) || stretch.links.rbegin()->second == m_pair.version))
                return outcome;
            for (const auto& [link, version] : stretch.links)
                m_why.try_emplace(version, outcome ? OtherForm : reasonOf(outcome.error()));
        }
        addUnread(steps);
        return {};
    }

    StatisticsHistoryView take()
    {
        std::sort(m_view.steps.begin(), m_view.steps.end(),
                  [](const ValuesView& a, const ValuesView& b) { return a.step < b.step; });
        m_view.tensor = m_tensor;
        return std::move(m_view);
    }

private:
    Result<void> readStretch(Workbench& bench, const Stretch& stretch, TaskContext& task)
    {
        DS_TRY(const PathPtr path, openChecked(bench, m_pair.run, stretch.plan, m_pair.acceptRewritten, task));
        std::vector<std::size_t> links;
        for (const auto& [link, version] : stretch.links)
            links.push_back(link);
        DS_TRY(const auto values, ifSound(statisticsBehind(bench, *path, links, m_tensor, task), { path.get() }, task));
        for (const auto& [link, found] : values) {
            const Version* const version = stretch.links.at(link);
            m_view.steps.push_back(makeValuesView(version->step(), found));
            m_read.insert(version);
        }
        addReads(m_view.reads, *path);
        if (m_view.dtype.empty())
            m_view.dtype = word(path->find(m_tensor)->dtype);
        return {};
    }

    void addUnread(std::size_t steps)
    {
        const Planner planner(m_pair.run);
        const Version* const front = m_pair.run.versions.data();
        const Version* first = m_pair.version;
        for (std::size_t wanted = 1; wanted < steps && first != front && (first - 1)->epoch == first->epoch; ++wanted)
            --first;
        for (const Version* version = first; version <= m_pair.version; ++version) {
            if (m_read.contains(version))
                continue;
            const auto why = m_why.find(version);
            const Result<Plan> plan = planner.planFor(*version);
            addUnreadStep(m_view.unread, version->step(), version->step(),
                          why != m_why.end() ? why->second
                              : plan         ? std::string("it was not read")
                                             : plan.error().text);
        }
    }

    const StatePair& m_pair;
    std::string m_tensor;
    StatisticsHistoryView m_view;
    std::set<const Version*> m_read;
    std::map<const Version*, std::string> m_why; ///< of those on a chain; also of some that were read
};

}

Result<StatisticsHistoryView> statisticsHistoryOf(Workbench& bench, const TensorRequest& request, std::uint32_t steps,
                                                  TaskContext& task)
{
    DS_TRY(const StatePair pair, planPair(bench, request, task));
    ValueHistory history(pair, request.tensor);
    DS_CHECK(history.read(bench, std::min(steps, MostSteps), task));
    return history.take();
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
    for (const Stretch& stretch :
         stretchesOf(pair.run, *pair.version, all ? steps : std::min(steps, MostSteps), pair.acceptRewritten)) {
        const Result<StatisticsCost> cost = costOfStatistics(pair.run, stretch.plan, request.tensor, task);
        if (!cost && isOfStep(cost.error()) && stretch.links.rbegin()->second != pair.version)
            continue; // there is nothing to read
        if (!cost)
            return fail(cost.error());
        view.readBytes += all ? cost->walkBytes + cost->checkBytes : cost->readBytes();
        view.steps += static_cast<std::uint32_t>(stretch.links.size());
    }
    return view;
}

} // namespace deltascope::app
