#include "pages/timeline/timeline_model.h"

#include "pages/timeline/step_window.h"

#include <algorithm>
#include <array>
#include <set>

namespace deltascope::desktop {

namespace {

constexpr std::size_t MostInLanes = 120; // versions
constexpr std::int64_t JoinUs = 1000; // between the parts of one pause

const app::EpochView* epochOf(const app::RunView& run, int epoch)
{
    const auto at = std::find_if(run.epochs.begin(), run.epochs.end(),
                                 [&](const app::EpochView& view) { return view.epoch == epoch; });
    return at == run.epochs.end() ? nullptr : &*at;
}

bool publishes(const Lane& lane)
{
    return std::any_of(lane.spans.begin(), lane.spans.end(), [](const app::SpanView& span) {
        const PhaseGroup group = groupOf(span.phase);
        return group == PhaseGroup::Upload || group == PhaseGroup::Diff;
    });
}

void addSpan(Lane& lane, const app::SpanView& span)
{
    if (groupOf(span.phase) != PhaseGroup::Pause) {
        lane.spans.push_back(span);
        return;
    }
    if (!lane.pauses.empty()) {
        app::SpanView& last = lane.pauses.back();
        if (last.step == span.step && span.t0Us <= last.t1Us + JoinUs) {
            last.t1Us = std::max(last.t1Us, span.t1Us);
            return;
        }
    }
    lane.pauses.push_back(span);
}

std::vector<Lane> lanesOf(const app::TimelineView& view, const app::RunView& run)
{
    std::vector<Lane> all;
    for (const std::string& actor : view.actors) {
        Lane lane;
        lane.actor = actor;
        for (const app::ReplicaView& replica : run.replicas) {
            if (replica.id == actor)
                lane.behind = replica.behind;
        }
        all.push_back(std::move(lane));
    }
    for (const app::SpanView& span : view.spans) {
        const auto lane =
            std::find_if(all.begin(), all.end(), [&](const Lane& known) { return known.actor == span.actor; });
        if (lane != all.end())
            addSpan(*lane, span);
    }
    Lane bucket;
    bucket.bucket = true;
    const auto replicas = std::stable_partition(all.begin(), all.end(), publishes);
    all.insert(replicas, std::move(bucket));
    return all;
}

std::vector<BarSlot> slotsOf(const app::TimelineView& view, const app::EpochView& epoch, const StepRange& steps,
                             const std::string& actor)
{
    std::vector<BarSlot> syncs;
    auto bar = view.bars.begin();
    const auto take = [&](std::int64_t step, bool anchor) {
        BarSlot slot { step, anchor, std::nullopt };
        for (; bar != view.bars.end() && bar->step == step; ++bar) {
            if (actor.empty() ? bar->slowest : bar->actor == actor)
                slot.bar = static_cast<std::size_t>(bar - view.bars.begin());
        }
        syncs.push_back(slot);
    };
    for (const app::StepView& step : epoch.steps) {
        if (step.step < steps.first || step.step > steps.second || step.state == "gap")
            continue;
        while (bar != view.bars.end() && bar->step < step.step) // synced, and gone from the source since
            take(bar->step, false);
        take(step.step, step.kind == "anchor");
    }
    while (bar != view.bars.end())
        take(bar->step, false);
    return syncs;
}

std::optional<TimeWindow> extentOfAll(const app::TimelineView& view)
{
    std::optional<TimeWindow> extent;
    const auto add = [&](std::int64_t from, std::int64_t to) {
        const TimeWindow window { static_cast<double>(from), static_cast<double>(to) };
        if (!extent)
            extent = window;
        extent->fromUs = std::min(extent->fromUs, window.fromUs);
        extent->toUs = std::max(extent->toUs, window.toUs);
    };
    for (const app::SpanView& span : view.spans)
        add(span.t0Us, span.t1Us);
    for (const app::PublicationView& publication : view.visible)
        add(publication.tUs, publication.tUs);
    return extent && extent->lengthUs() > 0 ? extent : std::nullopt;
}

std::vector<PhaseGroup> groupsOf(const TimelineModel& model)
{
    std::set<PhaseGroup> seen;
    for (const BarSlot& slot : model.syncs) {
        if (slot.bar) {
            for (const app::PhaseTimeView& time : model.view.bars[*slot.bar].phases)
                seen.insert(groupOf(time.phase));
        }
    }
    return { seen.begin(), seen.end() };
}

}

const app::BarView* TimelineModel::barOf(std::int64_t step) const
{
    const auto at = std::lower_bound(syncs.begin(), syncs.end(), step,
                                     [](const BarSlot& slot, std::int64_t number) { return slot.step < number; });
    return at != syncs.end() && at->step == step && at->bar ? &view.bars[*at->bar] : nullptr;
}

std::optional<TimeWindow> TimelineModel::extentOf(std::int64_t step) const
{
    std::optional<TimeWindow> extent;
    for (const app::BarView& bar : clock.bars) {
        if (bar.step != step)
            continue;
        const TimeWindow own { static_cast<double>(bar.t0Us), static_cast<double>(bar.t1Us) };
        extent = extent ? TimeWindow { std::min(extent->fromUs, own.fromUs), std::max(extent->toUs, own.toUs) } : own;
    }
    if (!extent)
        return std::nullopt;
    const double around = std::max(extent->lengthUs() / 2, 1000.0);
    return TimeWindow { extent->fromUs - around, extent->toUs + around };
}

std::optional<TimeWindow> TimelineModel::newestWindow() const
{
    return clock.bars.empty() ? std::nullopt : extentOf(clock.bars.back().step);
}

std::optional<std::int64_t> TimelineModel::reportedUpTo(std::int64_t step) const
{
    for (auto sync = syncs.rbegin(); sync != syncs.rend(); ++sync) {
        if (sync->step <= step && sync->bar)
            return sync->step;
    }
    return std::nullopt;
}

TimelinePointer makeTimelineModel(const TimelineRequest& request)
{
    const app::RunView& run = *request.run->run;
    auto model = std::make_shared<TimelineModel>();
    model->steps = request.steps;
    model->clockSteps = request.steps;
    model->actor = request.actor;
    model->view = app::makeTimelineView(run, request.epoch, request.steps.first, request.steps.second);
    if (const app::EpochView* epoch = epochOf(run, request.epoch)) {
        model->syncs = slotsOf(model->view, *epoch, request.steps, request.actor);
        if (versionsIn(*epoch, request.steps) > MostInLanes)
            model->clockSteps = windowAround(*epoch, request.b, MostInLanes).value_or(request.steps);
    }
    model->clock = model->clockSteps == model->steps
        ? model->view
        : app::makeTimelineView(run, request.epoch, model->clockSteps.first, model->clockSteps.second);
    std::set<std::string> replicas;
    for (const app::BarView& bar : model->view.bars) {
        if (!bar.actor.empty())
            replicas.insert(bar.actor);
    }
    model->replicas.assign(replicas.begin(), replicas.end());
    model->lanes = lanesOf(model->clock, run);
    model->clockExtent = extentOfAll(model->clock);
    model->groups = groupsOf(*model);
    return model;
}

} // namespace deltascope::desktop
