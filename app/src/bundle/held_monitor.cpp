#include "held_monitor.h"

#include "held_views.h"

#include <algorithm>

namespace deltascope::bundle {

app::AlertListView HeldAlerts::list(const std::string& run) const
{
    app::AlertListView view = m_held;
    if (!run.empty())
        std::erase_if(view.alerts, [&](const app::AlertView& alert) { return alert.run != run; });
    return view;
}

HeldMonitor::HeldMonitor(app::Monitor& monitor, const Moment& moment)
    : m_monitor(monitor)
    , m_moment(moment)
    , m_alerts(monitor.alerts(), moment.alerts)
{
}

std::shared_ptr<const app::RunSnapshot> HeldMonitor::run(const std::string& id) const
{
    const auto found =
        std::find_if(m_moment.runs.begin(), m_moment.runs.end(), [&](const auto& one) { return one->id == id; });
    return found == m_moment.runs.end() ? nullptr : *found;
}

void HeldMonitor::ask(const std::function<app::JobId(app::Service&)>& start,
                      std::function<void(Result<app::JobResult>)> done)
{
    m_monitor.ask(start, [this, done = std::move(done)](Result<app::JobResult> result) {
        done(result ? atMoment(std::move(*result)) : std::move(result));
    });
}

Result<app::JobResult> HeldMonitor::atMoment(app::JobResult result)
{
    const app::RunView& run = *m_moment.run->run;
    if (const auto* listing = std::get_if<std::shared_ptr<const app::ListingView>>(&result)) {
        if (!m_listing) {
            HeldListing held = heldListing(**listing, run);
            m_listing = std::make_shared<const app::ListingView>(std::move(held.view));
            m_hasListingMoved = held.hasMoved;
        }
        return app::JobResult(m_listing);
    }
    if (const auto* detail = std::get_if<std::shared_ptr<const app::StepDetailView>>(&result)) {
        DS_TRY(app::StepDetailView held, heldDetail(**detail, run));
        return app::JobResult(std::make_shared<const app::StepDetailView>(std::move(held)));
    }
    if (const auto* said = std::get_if<std::shared_ptr<const app::AnnotationsView>>(&result))
        return app::JobResult(std::make_shared<const app::AnnotationsView>(heldAnnotations(**said, run)));
    return result;
}

} // namespace deltascope::bundle
