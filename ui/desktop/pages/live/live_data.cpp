#include "pages/live/live_data.h"

#include "deltascope/app/view/replica_state.h"
#include "deltascope/app/view/timeline_view.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr std::size_t FeedLength = 200;
constexpr std::size_t MostLags = 20'000; ///< versions that the lag of replicas covers
constexpr std::uint32_t BarWidth = 3; ///< least pixels of a bar and its gap

/// Late ones before those that are behind; a foreign or poisoned one counts as the worst.
int severity(const app::ReplicaView& replica)
{
    if (hasStopped(replica))
        return 0;
    if (replica.foreign || isPoisoned(replica))
        return 3;
    return replica.late || !replica.behind ? 2 : replica.behind > 0 ? 1 : 0;
}

std::shared_ptr<const StepClock> makeClock(const app::RunView& run, int epoch)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> times;
    for (const app::EpochView& one : run.epochs) {
        if (one.epoch != epoch)
            continue;
        for (const app::StepView& step : one.steps) {
            if (step.publishedUs > 0)
                times.emplace_back(step.step, step.publishedUs);
        }
    }
    return std::make_shared<const StepClock>(std::move(times));
}

void sortWorstFirst(std::vector<app::ReplicaHistoryView>& replicas)
{
    std::stable_sort(replicas.begin(), replicas.end(), [](const auto& a, const auto& b) {
        const int left = severity(a.replica);
        const int right = severity(b.replica);
        return left != right ? left > right : a.replica.behind.value_or(0) > b.replica.behind.value_or(0);
    });
}

}

std::shared_ptr<const LiveData> makeLiveData(const LiveQuestion& question)
{
    const app::RunView& run = *question.run->run;
    auto made = std::make_shared<LiveData>();
    made->run = question.run;
    made->epoch = question.epoch;
    made->range = question.range;
    made->summary = app::makeRunSummary(question.run);
    const app::TimelineView timeline =
        app::makeTimelineView(run, question.epoch, question.range.first, question.range.second);
    made->worstPause = timeline.summary.worst;
    app::SeriesRange range { question.epoch, question.range.first, question.range.second, question.linePixels };
    made->lines = app::makeSeries(run, timeline, { "changed_frac" }, range);
    range.pixels = std::max(1U, question.barPixels / BarWidth);
    made->bars = app::makeSeries(run, timeline, { "pause_ms", "wire_bytes" }, range);
    made->sync = makeSyncStack(timeline, question.range, std::max(1U, question.stackPixels / BarWidth));
    made->clock = makeClock(run, question.epoch);
    made->replicas = app::makeReplicaHistory(run, question.nowUs, MostLags);
    sortWorstFirst(made->replicas);
    made->feed = app::makeFeed(run, FeedLength);
    if (question.run->heat) {
        made->heat = makeLayerHeat(*question.run->heat, question.epoch, question.range, question.heatBefore);
        made->heatPicture = makeLayerPicture(*made->heat, question.heatPixels);
    }
    return made;
}

} // namespace deltascope::desktop
