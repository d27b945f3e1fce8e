#include "window/status_line.h"

#include "deltascope/app/view/replica_state.h"
#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/readout.h"

#include <QDateTime>
#include <QLabel>

#include <algorithm>

namespace deltascope::desktop {
namespace {

/// The newest step that is there whole; null: none is.
const app::StepView* newestOf(const app::RunView& run)
{
    for (auto epoch = run.epochs.rbegin(); epoch != run.epochs.rend(); ++epoch) {
        const auto step = std::find_if(epoch->steps.rbegin(), epoch->steps.rend(), [](const app::StepView& one) {
            return one.state != "publishing" && one.state != "gap";
        });
        if (step != epoch->steps.rend())
            return &*step;
    }
    return nullptr;
}

/// The newest step and its age, and what can be rebuilt where that one cannot.
QString latestText(const app::RunView& run, std::int64_t nowUs)
{
    const app::StepView* newest = newestOf(run);
    if (!newest)
        return StatusLine::tr("nothing published");
    const QString latest = StatusLine::tr("latest %1, %2").arg(newest->step).arg(agoText(newest->publishedUs, nowUs));
    if (newest->restorable)
        return latest;
    return run.latest ? StatusLine::tr("%1, sound up to %2").arg(latest).arg(*run.latest)
                      : StatusLine::tr("%1, nothing can be rebuilt").arg(latest);
}

/// What following the run moves over the network.
QString storeText(const app::RunView& run, std::int64_t nowUs)
{
    QString text =
        StatusLine::tr("%1 requests, %2 in, %3 out")
            .arg(countText(run.meter->requests), bytesText(run.meter->bytesIn), bytesText(run.meter->bytesOut));
    if (run.listedUs > 0)
        text += StatusLine::tr(", all listed %1").arg(agoText(run.listedUs, nowUs));
    return text;
}

/// What changes are found with, or why that cannot be used.
QLabel* makeEngine(const Result<std::string>& backend)
{
    if (!backend) {
        const app::ProblemView problem = app::problemView(backend.error());
        QLabel* refused = makeLabel(StatusLine::tr("✕ no engine: %1").arg(shortened(safeName(problem.text))), "error");
        refused->setToolTip(safeName(problem.text + ". " + problem.remedy));
        return refused;
    }
    QLabel* engine =
        makeLabel(backend->empty() ? QString() : StatusLine::tr("engine %1").arg(backendText(*backend)), "muted");
    engine->setToolTip(StatusLine::tr("What changes are found with on this machine"));
    return engine;
}

}

StatusLine::StatusLine(PageContext& context, QWidget* parent)
    : QStatusBar(parent)
    , m_context(context)
    , m_contact(new Readout("muted"))
    , m_latest(new Readout("muted"))
    , m_replicas(new Readout("muted"))
    , m_checked(new Readout("muted"))
    , m_store(new Readout("muted"))
    , m_clock(new Readout("muted"))
{
    setSizeGripEnabled(false);
    for (Readout* label : { m_contact, m_latest, m_replicas, m_checked, m_store }) {
        label->setContentsMargins(8, 0, 8, 0);
        addWidget(label);
    }
    QLabel* engine = makeEngine(context.bridge.service().backend());
    for (QLabel* label : { engine, static_cast<QLabel*>(m_clock) }) {
        label->setContentsMargins(8, 0, 8, 0);
        addPermanentWidget(label);
    }
    for (QLabel* label : findChildren<QLabel*>())
        label->setFont(typeFont(Type::Label));
    m_second.setInterval(1000);
    connect(&m_second, &QTimer::timeout, this, &StatusLine::refresh);
    m_second.start();
    connect(&context.focus, &RunFocus::moved, this, &StatusLine::refresh);
    connect(&context.focus, &RunFocus::opened, this, &StatusLine::refresh);
    refresh();
}

QString StatusLine::contactText(const app::RunSnapshot& run, std::int64_t nowUs) const
{
    const QString& server = m_context.bridge.server();
    if (run.state == "lost")
        return tr("○ no contact with %1 for %2").arg(server, ageText(static_cast<double>(nowUs - run.contactUs) / 1e6));
    if (run.state == "error")
        return tr("✕ not readable");
    if (run.state == "recorded")
        return tr(run.oldVerdicts ? "○ %1, recorded %2, verdicts by older rules: do not rely on them"
                                  : "○ %1, recorded %2")
            .arg(server, agoText(run.contactUs, nowUs));
    if (!run.run)
        return tr("○ opening");
    return server.isEmpty() ? tr("● connected") : tr("● connected to %1").arg(server);
}

void StatusLine::refresh()
{
    const std::int64_t now = ServiceBridge::nowUs();
    m_clock->read(QDateTime::currentDateTime().toString(QStringLiteral("HH:mm:ss t")));
    const RunPointer& run = m_context.focus.run();
    const app::RunView* view = run ? run->run.get() : nullptr;
    for (Readout* label : { m_latest, m_replicas, m_checked, m_store })
        label->setVisible(view != nullptr);
    if (!run)
        return m_contact->read(m_context.bridge.server().isEmpty()
                                   ? tr("No source open   works offline, no account, nothing is sent")
                                   : tr("Connected to %1").arg(m_context.bridge.server()));
    m_contact->read(contactText(*run, now));
    if (!view)
        return;
    m_latest->read(latestText(*view, now));
    m_store->setVisible(view->meter.has_value());
    if (view->meter)
        m_store->read(storeText(*view, now));
    std::optional<std::int64_t> worst; // of those whose step is known
    for (const app::ReplicaView& replica : view->replicas)
        worst = hasStopped(replica) ? worst : std::max(worst, replica.behind);
    m_replicas->read(view->replicas.empty() ? tr("no replica tells")
                                            : tr("replicas %1, worst lag %2")
                                                  .arg(view->replicas.size())
                                                  .arg(worst ? QString::number(*worst) : unknownText()));
    std::ptrdiff_t steps = 0;
    for (const app::EpochView& epoch : view->epochs)
        steps += std::count_if(epoch.steps.begin(), epoch.steps.end(),
                               [](const app::StepView& step) { return step.state != "gap"; });
    const auto damaged = std::count_if(run->verified.begin(), run->verified.end(),
                                       [](const auto& step) { return step.second.result == "damaged"; });
    const QString checked = tr("checked %1 of %2 steps").arg(run->verified.size()).arg(steps);
    m_checked->read(damaged > 0 ? tr("%1, %2 damaged").arg(checked).arg(damaged) : checked);
}

} // namespace deltascope::desktop
