#include "context.h"

#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/json.h"
#include "view/base64.h"
#include "view/event_description.h"
#include "view/heat_description.h"
#include "view/io/json_writer.h"

#include <fmt/format.h>
#include <map>

namespace deltascope::server {

using namespace app;

namespace {

std::string codesOf(const HeatColumnView& column)
{
    if (!column.codes)
        return {};
    return base64({ reinterpret_cast<const char*>(column.codes->data()), column.codes->size() });
}

/// Turns what a monitor tells into events. More changes at once than a page would draw one by one become a reset.
class EventPublisher {
public:
    explicit EventPublisher(Context& context)
        : m_context(context)
    {
    }

    void operator()(const MonitorEvent& event)
    {
        std::visit([this](const auto& what) { tell(what); }, event);
    }

private:
    static constexpr std::size_t MostSteps = 40;

    void tell(const RunMoved& moved)
    {
        const RunSnapshot& now = *moved.now;
        m_context.hub.publish("run", now.id, toJson(makeRunSummary(moved.now)), now.id);
        if (!now.run)
            return;
        if (!moved.before || !moved.before->run) {
            m_toldUs[now.id] = Context::nowUs();
            m_context.hub.publish("reset", now.id, "{}", now.id);
            return;
        }
        if (!tellSteps(*moved.before, now) || !tellColumns(*moved.before, now))
            m_context.hub.publish("reset", now.id, "{}", now.id);
        if (moved.before->run == now.run)
            return;
        tellReplicas(now);
        tellFeed(now);
    }

    void tell(const TaskMoved& moved)
    {
        const TaskView& task = moved.task;
        if (task.state == "running")
            m_context.hub.publish("task", task.plan.run, toJson(task), task.id);
        else
            m_context.hub.publishNow("task", task.plan.run, toJson(task), task.id);
    }

    void tell(const AlertMoved& moved)
    {
        m_context.hub.publish("alert", moved.change.alert.run, toJson(moved.change.alert), moved.change.alert.id);
    }

    static std::string stepEvent(const RunSnapshot& snapshot, const StepView& step)
    {
        const std::optional<VerifiedView> verified = verifiedOf(snapshot.verified, step);
        return dump(written(StepChange { snapshot.id, snapshot.revision, { step, verified } }));
    }

    /// A step as far as a page shows it; cheaper than its JSON.
    static std::string mark(const RunSnapshot& snapshot, const StepView& step)
    {
        const VerifiedView verified = verifiedOf(snapshot.verified, step).value_or(VerifiedView { -1, {}, 0, {} });
        return fmt::format("{} {} {} {} {} {} {} {} {}", step.state, step.restorable, step.wireBytes, step.publishedUs,
                           step.changedFraction.value_or(-1), step.pauseMs.value_or(-1), step.problems.size(),
                           verified.level, verified.result);
    }

    /// False: too many changed.
    bool tellSteps(const RunSnapshot& before, const RunSnapshot& now)
    {
        std::map<std::pair<int, std::int64_t>, std::string> known;
        for (const EpochView& epoch : before.run->epochs) {
            for (const StepView& step : epoch.steps)
                known[{ epoch.epoch, step.step }] = mark(before, step);
        }
        std::vector<const StepView*> changed;
        std::size_t kept = 0;
        for (const EpochView& epoch : now.run->epochs) {
            for (const StepView& step : epoch.steps) {
                const auto old = known.find({ epoch.epoch, step.step });
                kept += old != known.end();
                if (old == known.end() || old->second != mark(now, step))
                    changed.push_back(&step);
            }
        }
        if (changed.size() > MostSteps || kept < known.size())
            return false;
        for (const StepView* step : changed)
            m_context.hub.publish("step", now.id, stepEvent(now, *step));
        return true;
    }

    bool tellColumns(const RunSnapshot& before, const RunSnapshot& now)
    {
        if (!now.heat || before.heat == now.heat)
            return true;
        if (!before.heat || before.heat->rows.size() != now.heat->rows.size())
            return false;
        std::vector<std::size_t> changed;
        for (std::size_t at = 0; at < now.heat->columns.size(); ++at) {
            const HeatColumnView& column = now.heat->columns[at];
            const bool same = at < before.heat->columns.size() && before.heat->columns[at].codes == column.codes
                && before.heat->columns[at].step == column.step;
            if (!same)
                changed.push_back(at);
        }
        if (changed.size() > MostSteps)
            return false;
        for (const std::size_t at : changed) {
            const HeatColumnView& column = now.heat->columns[at];
            const std::size_t first = now.heat->columnsOf(column.epoch).first;
            m_context.hub.publish("heat", now.id,
                                  dump(written(HeatChange { now.id, now.heat->revision, column.epoch, at - first,
                                                            column.step, codesOf(column), !column.codes })));
        }
        return true;
    }

    void tellReplicas(const RunSnapshot& now)
    {
        for (const ReplicaHistoryView& view : makeReplicaHistory(*now.run, Context::nowUs()))
            m_context.hub.publish("replica", now.id, dump(written(ReplicaChange { now.id, now.revision, view })),
                                  now.id + "/" + view.replica.id);
    }

    void tellFeed(const RunSnapshot& now)
    {
        constexpr std::size_t MostItems = 20;
        std::int64_t& told = m_toldUs[now.id];
        std::int64_t newest = told;
        std::vector<FeedItemView> feed = makeFeed(*now.run, MostItems);
        for (auto item = feed.rbegin(); item != feed.rend(); ++item) {
            if (item->tUs <= told)
                continue;
            newest = std::max(newest, item->tUs);
            m_context.hub.publish("feed", now.id, dump(written(FeedChange { now.id, *item })));
        }
        told = newest;
    }

    Context& m_context;
    std::map<std::string, std::int64_t> m_toldUs; ///< time of the newest item of the feed, by run
};

}

std::shared_ptr<void> publishEvents(Context& context)
{
    const auto publisher = std::make_shared<EventPublisher>(context);
    return context.monitor.listen([publisher](const MonitorEvent& event) { (*publisher)(event); });
}

} // namespace deltascope::server
