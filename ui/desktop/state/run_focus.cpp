#include "state/run_focus.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

bool isVersion(const app::StepView& step) { return step.state != "gap"; }
bool isAnchor(const app::StepView& step) { return step.kind == "anchor"; }

std::optional<StepId> newestOf(const app::RunSnapshot& run)
{
    if (!run.run)
        return std::nullopt;
    for (auto epoch = run.run->epochs.rbegin(); epoch != run.run->epochs.rend(); ++epoch) {
        const auto step = std::find_if(epoch->steps.rbegin(), epoch->steps.rend(), isVersion);
        if (step != epoch->steps.rend())
            return StepId { step->epoch, step->step };
    }
    return std::nullopt;
}

}

RunFocus::RunFocus(ServiceBridge& bridge, StepCursor& cursor, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_cursor(cursor)
{
    connect(&bridge, &ServiceBridge::runMoved, this, [this](const RunPointer&, const RunPointer& now) {
        if (QString::fromStdString(now->id) == m_id)
            take(now);
    });
    connect(&cursor, &StepCursor::changed, this, [this] { // follow again: to the newest step at once
        if (m_cursor.state().follow && m_run)
            m_cursor.moveTo(newestOf(*m_run));
    });
}

void RunFocus::open(const QString& id)
{
    m_id = id;
    m_run = id.isEmpty() ? nullptr : m_bridge.monitor().run(id.toStdString());
    m_cursor.set({});
    if (m_run)
        m_cursor.moveTo(newestOf(*m_run));
    emit opened();
}

void RunFocus::take(const RunPointer& now)
{
    m_run = now;
    m_cursor.moveTo(newestOf(*m_run));
    emit moved();
}

const app::StepView* RunFocus::step(const StepId& id) const
{
    if (!m_run || !m_run->run)
        return nullptr;
    for (const app::EpochView& epoch : m_run->run->epochs) {
        if (epoch.epoch != id.epoch)
            continue;
        const auto at = std::lower_bound(epoch.steps.begin(), epoch.steps.end(), id.step,
                                         [](const app::StepView& s, std::int64_t number) { return s.step < number; });
        return at != epoch.steps.end() && at->step == id.step ? &*at : nullptr;
    }
    return nullptr;
}

const app::StepView* RunFocus::b() const { return m_cursor.b() ? step(*m_cursor.b()) : nullptr; }
const app::StepView* RunFocus::a() const { return m_cursor.a() ? step(*m_cursor.a()) : nullptr; }

const app::EpochView* RunFocus::epoch() const
{
    if (!m_run || !m_run->run || m_run->run->epochs.empty())
        return nullptr;
    const auto& epochs = m_run->run->epochs;
    if (m_cursor.b()) {
        for (const app::EpochView& epoch : epochs) {
            if (epoch.epoch == m_cursor.b()->epoch)
                return &epoch;
        }
    }
    return &epochs.back();
}

std::optional<StepRange> RunFocus::shownRange() const
{
    const app::EpochView* shown = epoch();
    if (!shown || shown->steps.empty())
        return std::nullopt;
    const app::StepView& last = shown->steps.back();
    const StepRange whole { shown->steps.front().step, std::max(last.step, last.lastMissing) };
    const std::optional<StepRange>& range = m_cursor.state().range;
    if (!range)
        return whole;
    const StepRange cut { std::max(whole.first, range->first), std::min(whole.second, range->second) };
    return cut.first <= cut.second ? cut : whole;
}

std::optional<StepId> RunFocus::neighbor(int by) const
{
    const app::EpochView* shown = epoch();
    const app::StepView* now = b();
    if (!shown || !now)
        return std::nullopt;
    const auto& steps = shown->steps;
    const std::ptrdiff_t direction = by > 0 ? 1 : -1;
    std::ptrdiff_t found = now - steps.data();
    for (std::ptrdiff_t i = found + direction; i >= 0 && i < std::ssize(steps) && by != 0; i += direction) {
        if (!isVersion(steps[static_cast<std::size_t>(i)]))
            continue;
        found = i;
        by -= static_cast<int>(direction);
    }
    const app::StepView& step = steps[static_cast<std::size_t>(found)];
    return &step == now ? std::nullopt : std::optional(StepId { step.epoch, step.step });
}

std::optional<StepId> RunFocus::neighborAnchor(int by) const
{
    const app::EpochView* shown = epoch();
    const app::StepView* now = b();
    if (!shown || !now)
        return std::nullopt;
    const auto& steps = shown->steps;
    const std::ptrdiff_t direction = by > 0 ? 1 : -1;
    for (std::ptrdiff_t i = now - steps.data() + direction; i >= 0 && i < std::ssize(steps); i += direction) {
        const app::StepView& step = steps[static_cast<std::size_t>(i)];
        if (isAnchor(step))
            return StepId { step.epoch, step.step };
    }
    return std::nullopt;
}

} // namespace deltascope::desktop
