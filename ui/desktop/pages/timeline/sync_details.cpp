#include "pages/timeline/sync_details.h"

#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/table_header.h"

#include <QApplication>
#include <QClipboard>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int Row = 24; // as tables with little room have it
constexpr int Padding = 3; // of cells
constexpr int Inset = Padding + 3; // of their text: the delegate keeps three pixels too

QString secondsText(std::int64_t us) { return QStringLiteral("%1 s").arg(secondsOf(us), 0, 'f', 2); }

QTableView* makeTable(QAbstractItemModel* model)
{
    auto* table = new QTableView;
    TableHeader::give(*table, { Inset, Inset });
    table->setModel(model);
    table->setAccessibleName(SyncDetails::tr("Spans of the chosen sync"));
    table->setFont(typeFont(Type::Label));
    table->setShowGrid(false);
    table->setStyleSheet(QStringLiteral("QTableView::item { padding: 0 %1px; }").arg(Padding));
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table->verticalHeader()->hide();
    table->verticalHeader()->setMinimumSectionSize(Row);
    table->verticalHeader()->setDefaultSectionSize(Row);
    table->horizontalHeader()->setMinimumSectionSize(30);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    table->setTabKeyNavigation(false);
    return table;
}

}

SyncDetails::SyncDetails(QWidget* parent)
    : QFrame(parent)
    , m_title(makeLabel({}, "section"))
    , m_paused(makeLabel({}, "kpi"))
    , m_pausedUnit(makeLabel({}, "muted"))
    , m_usual(makeLabel({}, "body"))
    , m_total(makeLabel({}, "body"))
    , m_engine(makeLabel({}, "body"))
    , m_spansTitle(makeLabel({}, "muted"))
    , m_table(makeTable(&m_spans))
    , m_nothing(makeLabel({}, "muted"))
    , m_facts(new QWidget)
    , m_copy(makeButton(tr("Copy as text"), QStringLiteral("copy"), "small"))
{
    setAccessibleName(tr("Chosen sync"));
    m_nothing->setWordWrap(true);
    auto* pause = new QHBoxLayout;
    pause->setSpacing(6);
    pause->addWidget(m_paused, 0, Qt::AlignBaseline);
    pause->addWidget(m_pausedUnit, 0, Qt::AlignBaseline);
    pause->addStretch(1);
    pause->addWidget(m_usual, 0, Qt::AlignBaseline);
    auto* facts = new QGridLayout(m_facts);
    facts->setContentsMargins(0, 0, 0, 0);
    facts->setVerticalSpacing(4);
    facts->addLayout(pause, 0, 0, 1, 2);
    facts->addWidget(makeLabel(tr("Sync total"), "muted"), 1, 0);
    facts->addWidget(m_total, 1, 1, Qt::AlignRight);
    facts->addWidget(makeLabel(tr("Engine"), "muted"), 2, 0);
    facts->addWidget(m_engine, 2, 1, Qt::AlignRight);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(14, 14, 10, 14);
    all->setSpacing(10);
    all->addWidget(m_title);
    all->addWidget(m_nothing);
    all->addWidget(m_facts);
    all->addWidget(makeLine());
    all->addWidget(m_spansTitle);
    all->addWidget(m_table, 1);
    auto* trace = makeButton(tr("Export trace…"), {}, "small");
    trace->setToolTip(tr("All syncs of the steps that are shown, as a Chrome trace for Perfetto or about:tracing"));
    auto* acts = new QHBoxLayout;
    acts->setSpacing(8);
    acts->addWidget(m_copy);
    acts->addWidget(trace);
    acts->addStretch(1);
    all->addLayout(acts);
    connect(m_copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_text); });
    connect(trace, &QPushButton::clicked, this, &SyncDetails::traceWanted);
}

void SyncDetails::show(const TimelineModel& model, std::int64_t step, const QString& engine)
{
    const std::int64_t wanted = step;
    step = model.reportedUpTo(step).value_or(step);
    const app::BarView* bar = model.barOf(step);
    m_facts->setVisible(bar);
    m_copy->setEnabled(bar);
    m_table->setVisible(bar && !hasNoBreakdown(*bar));
    m_spansTitle->setVisible(m_table->isVisibleTo(this));
    if (!bar) {
        m_spans.clear();
        m_title->setText(tr("Step %1").arg(step));
        m_nothing->setText(tr("No sync of this step was reported."));
        m_nothing->show();
        return;
    }
    const QString who = bar->actor.empty() ? tr("publisher only") : shortened(safeName(bar->actor), 28);
    m_title->setText(tr("Step %1, %2").arg(QString::number(step), who));
    const Quantity paused = durationQuantity(secondsOf(bar->pauseUs));
    m_paused->setText(paused.value);
    m_pausedUnit->setText(bar->pauseUs ? tr("%1 paused").arg(paused.unit) : tr("pause not reported"));
    const auto& usual = model.view.summary.p50Us;
    const bool comparable = bar->pauseUs && usual && *usual > 0;
    m_usual->setText(
        comparable ? tr("%1 usual").arg(timesText(static_cast<double>(*bar->pauseUs) / static_cast<double>(*usual)))
                   : QString());
    m_usual->setToolTip(tr("Compared with the median pause of the steps that are shown"));
    m_total->setText(durationText(secondsOf(bar->t1Us - bar->t0Us)));
    m_engine->setText(engine.isEmpty() ? unknownText() : engine);
    m_spans.setBar(step >= model.clockSteps.first && step <= model.clockSteps.second ? model.clock : model.view, *bar);
    QString note = step == wanted ? QString() : tr("Nothing was reported of step %1 yet.").arg(wanted);
    if (hasNoBreakdown(*bar))
        note += (note.isEmpty() ? QString() : QStringLiteral("\n")) + tr("Breakdown not reported, the total only.");
    m_nothing->setText(note);
    m_nothing->setVisible(!note.isEmpty());
    m_spansTitle->setText(m_spans.countsFromVisible() ? tr("Spans, start in seconds after visible")
                                                      : tr("Spans, start in seconds after the begin"));
    m_text = asText(*bar);
}

void SyncDetails::paintEvent(QPaintEvent* event)
{
    QFrame::paintEvent(event);
    QPainter painter(this);
    painter.fillRect(QRect(0, 0, 1, height()), color(Token::Border));
}

QString SyncDetails::asText(const app::BarView& bar)
{
    QString text = QStringLiteral("step %1").arg(bar.step);
    if (!bar.actor.empty())
        text += QLatin1Char(' ') + safeName(bar.actor);
    text += QStringLiteral(": total ") + secondsText(bar.t1Us - bar.t0Us);
    if (bar.pauseUs)
        text += QStringLiteral(", paused ") + secondsText(*bar.pauseUs);
    QString phases;
    for (auto time = bar.phases.rbegin(); time != bar.phases.rend(); ++time)
        phases += (phases.isEmpty() ? QStringLiteral("; ") : QStringLiteral(", ")) + safeName(time->phase)
            + QLatin1Char(' ') + secondsText(time->us);
    return text + phases;
}

} // namespace deltascope::desktop
