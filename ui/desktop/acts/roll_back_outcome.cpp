#include "acts/roll_back_outcome.h"

#include "deltascope/app/view/replica_state.h"
#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/text_table.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int ProgressParts = 1000;
constexpr int MostReplicas = 5; ///< rows in sight
constexpr std::size_t MostKeys = 6;

const app::RollBackView* rollBackOf(const app::TaskView& task)
{
    const auto* view = task.result ? std::get_if<std::shared_ptr<const app::RollBackView>>(&*task.result) : nullptr;
    return view ? view->get() : nullptr;
}

bool serves(const app::ReplicaView& replica, std::int64_t step)
{
    return replica.step == step && !replica.late && !isPoisoned(replica) && !hasStopped(replica);
}

}

QString loadedWords(const app::ReplicaView& replica, std::int64_t step)
{
    return hasStopped(replica)     ? RollBackOutcome::tr("stopped")
        : replica.late             ? RollBackOutcome::tr("no contact")
        : isPoisoned(replica)      ? RollBackOutcome::tr("half-written weights")
        : serves(replica, step)    ? RollBackOutcome::tr("✓ has loaded it")
        : replica.step.has_value() ? RollBackOutcome::tr("not yet")
                                   : RollBackOutcome::tr("not known");
}

QString loadedText(const std::vector<app::ReplicaView>& replicas, std::int64_t step)
{
    if (replicas.empty())
        return RollBackOutcome::tr("Who has loaded it is not known here: no replica of this run writes heartbeats.");
    const auto loaded =
        std::count_if(replicas.begin(), replicas.end(), [&](const auto& one) { return serves(one, step); });
    return replicas.size() == 1
        ? RollBackOutcome::tr("%1 of 1 replica serves step %2").arg(loaded).arg(step)
        : RollBackOutcome::tr("%1 of %2 replicas serve step %3").arg(loaded).arg(replicas.size()).arg(step);
}

RollBackOutcome::RollBackOutcome(ServiceBridge& bridge, app::TaskView task, QWidget* parent)
    : QWidget(parent)
    , m_bridge(bridge)
    , m_task(std::move(task))
    , m_run(bridge.monitor().run(m_task.plan.run))
    , m_headline(makeLabel({}, "sheet"))
    , m_text(makeLabel({}, "body"))
    , m_progress(new QProgressBar)
    , m_keys(makeLabel({}, "mono"))
    , m_loaded(makeLabel({}, "body"))
    , m_replicas(new TextTable(tr("Replicas"),
                               { { tr("replica"), false, true }, { tr("says it serves"), true }, { tr("state") } }))
    , m_undo(makeButton(tr("Undo…"), QStringLiteral("undo")))
{
    m_progress->setRange(0, ProgressParts);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress"));
    m_replicas->limitHeight(MostReplicas);
    m_undo->setObjectName(QStringLiteral("undo"));
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(20, 18, 20, 16);
    all->setSpacing(12);
    for (QLabel* label : { m_headline, m_text, m_keys, m_loaded }) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    all->addWidget(m_headline);
    all->addWidget(m_text);
    all->addWidget(m_progress);
    all->addWidget(m_keys);
    all->addWidget(m_loaded);
    auto* frame = new QFrame;
    setRole(frame, "card");
    auto* inside = new QVBoxLayout(frame);
    inside->setContentsMargins(1, 1, 1, 1);
    inside->addWidget(m_replicas);
    all->addWidget(frame);
    all->addStretch(1);
    QPushButton* close = makeButton(tr("Close"), {}, "primary");
    connect(close, &QPushButton::clicked, this, &RollBackOutcome::closeWanted);
    connect(m_undo, &QPushButton::clicked, this, &RollBackOutcome::undoWanted);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(m_undo);
    buttons->addStretch(1);
    buttons->addWidget(close);
    all->addLayout(buttons);
    setFocusProxy(close);
    connect(&bridge, &ServiceBridge::taskMoved, this, &RollBackOutcome::take);
    connect(&bridge, &ServiceBridge::runMoved, this, [this](const RunPointer&, const RunPointer& now) {
        if (now->id != m_task.plan.run)
            return;
        m_run = now;
        showReplicas();
    });
    if (const std::optional<app::TaskView> now = bridge.monitor().task(m_task.id)) // it may be over by now
        m_task = *now;
    showTask();
}

void RollBackOutcome::take(const app::TaskView& task)
{
    if (task.id != m_task.id)
        return;
    m_task = task;
    showTask();
}

void RollBackOutcome::showTask()
{
    const app::RollBackView* done = rollBackOf(m_task);
    const bool over = isOver(m_task);
    m_progress->setVisible(!over);
    m_keys->hide();
    m_undo->setVisible(m_task.state == "done" && !m_task.plan.undo.empty() && done && !done->wasThere);
    showReplicas();
    if (done)
        return showDone(*done);
    m_headline->setText(safeName(m_task.plan.title));
    setRole(m_text, m_task.problem ? "error" : "body");
    if (m_task.problem) {
        const QString remedy = safeText(m_task.problem->remedy);
        m_text->setText(QStringLiteral("✕ %1 %2%3")
                            .arg(safeName(m_task.problem->code), safeName(m_task.problem->text),
                                 remedy.isEmpty() ? QString() : QLatin1Char('\n') + remedy));
        return;
    }
    if (over)
        return m_text->setText(tr("It was canceled."));
    const double share =
        m_task.totalBytes > 0 ? static_cast<double>(m_task.doneBytes) / static_cast<double>(m_task.totalBytes) : 0;
    m_progress->setValue(static_cast<int>(ProgressParts * std::min(1.0, share)));
    const QString phase = safeName(m_task.phase.empty() ? m_task.state : m_task.phase);
    m_text->setText((m_task.totalBytes > 0
                         ? tr("%1, %2 of %3").arg(phase, bytesText(m_task.doneBytes), bytesText(m_task.totalBytes))
                         : phase)
                    + tr(". It goes on when this is closed."));
}

void RollBackOutcome::showDone(const app::RollBackView& done)
{
    setRole(m_text, "body");
    if (done.wasThere) {
        m_headline->setText(tr("Step %1 restored step %2 already").arg(done.step).arg(done.to));
        return m_text->setText(tr("Nothing was written."));
    }
    m_headline->setText(tr("✓ Step %1 restores step %2").arg(done.step).arg(done.to));
    m_text->setText(tr("It was read back, and is what step %1 was. The newest step before it, %2, is still there.")
                        .arg(done.to)
                        .arg(done.from));
    QStringList keys;
    for (std::size_t at = 0; at < std::min(done.keys.size(), MostKeys); ++at)
        keys << tr("written  %1").arg(safeName(done.keys[at]));
    if (done.keys.size() > MostKeys)
        keys << tr("and %1 more").arg(done.keys.size() - MostKeys);
    m_keys->setText(keys.join(QLatin1Char('\n')));
    m_keys->setVisible(!keys.isEmpty());
}

void RollBackOutcome::showReplicas()
{
    const app::RollBackView* done = rollBackOf(m_task);
    const bool known = done && m_run && m_run->run;
    m_loaded->setVisible(known);
    m_replicas->parentWidget()->setVisible(known && !m_run->run->replicas.empty());
    if (!known)
        return;
    m_loaded->setText(loadedText(m_run->run->replicas, done->step));
    std::vector<TextRow> rows;
    for (const app::ReplicaView& replica : m_run->run->replicas) {
        TextRow row;
        row.cells = { safeName(replica.id), replica.step ? QString::number(*replica.step) : unknownText(),
                      loadedWords(replica, done->step) };
        row.tip = safeName(replica.detail);
        row.subject = safeName(replica.id);
        rows.push_back(std::move(row));
    }
    m_replicas->setRows(std::move(rows));
}

} // namespace deltascope::desktop
