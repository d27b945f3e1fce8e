#include "pages/timeline/timeline_page.h"

#include "actions/action_registry.h"
#include "deltascope/app/view/json.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/timeline/bars_canvas.h"
#include "pages/timeline/lanes_canvas.h"
#include "pages/timeline/pause_summary.h"
#include "pages/timeline/step_window.h"
#include "pages/timeline/sync_details.h"
#include "pages/timeline/time_window_command.h"
#include "pages/timeline/timeline_tools.h"
#include "state/range_command.h"
#include "widgets/cards.h"

#include <QBoxLayout>
#include <QFileDialog>
#include <QResizeEvent>
#include <QSaveFile>
#include <QScrollArea>
#include <QUndoStack>

namespace deltascope::desktop {

namespace {

constexpr std::size_t UsualVersions = 60; // without a range
constexpr int RoomForDetails = 900; // pixels
constexpr int DetailsWidth = 336;
constexpr std::size_t MostSpans = 5000; // of a TimelineView

/// Nothing, or what went wrong.
QString writeTrace(const TimelineModel& model, const QString& path)
{
    QSaveFile file(path);
    const std::string text = app::chromeTrace(model.view);
    if (!file.open(QIODevice::WriteOnly) || file.write(text.data(), static_cast<qint64>(text.size())) < 0
        || !file.commit())
        return file.errorString();
    return {};
}

}

TimelinePage::TimelinePage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_tools(new TimelineTools)
    , m_summary(new PauseSummary)
    , m_note(makeLabel({}, "muted"))
{
    auto* content = new QWidget;
    auto* all = new QVBoxLayout(content);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(m_tools);
    all->addWidget(makeLine());
    all->addWidget(makeViews(), 1);
    setContent(content);
    connectTools();
    connectCanvases();
    showMode();
}

QWidget* TimelinePage::makeViews()
{
    m_bars = new BarsCanvas;
    m_lanes = new LanesCanvas;
    m_lanesArea = new QScrollArea;
    m_lanesArea->setWidget(m_lanes);
    m_lanesArea->setWidgetResizable(true);
    m_lanesArea->setFrameShape(QFrame::NoFrame);
    m_lanesArea->setFocusPolicy(Qt::NoFocus);
    m_lanesArea->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_lanesArea->setMinimumHeight(130);
    m_line = makeLine();
    m_note->setContentsMargins(16, 4, 16, 6);
    m_note->setFont(typeFont(Type::Label));
    m_note->hide();
    auto* column = new QVBoxLayout;
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bars, 5);
    column->addWidget(makeLine());
    column->addWidget(m_summary);
    column->addWidget(m_line);
    column->addWidget(m_lanesArea, 5);
    column->addWidget(m_note);
    m_details = new SyncDetails;
    m_details->setFixedWidth(DetailsWidth);
    auto* views = new QWidget;
    auto* row = new QHBoxLayout(views);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addLayout(column, 1);
    row->addWidget(m_details);
    connect(m_summary, &PauseSummary::stepWanted, this, &TimelinePage::choose);
    connect(m_details, &SyncDetails::traceWanted, this, &TimelinePage::askForTraceFile);
    return views;
}

void TimelinePage::connectTools()
{
    connect(m_tools, &TimelineTools::modeChosen, this, &TimelinePage::showMode);
    connect(m_tools, &TimelineTools::actorChosen, this, &TimelinePage::calculate);
    connect(m_tools, &TimelineTools::unitChosen, m_bars, &BarsCanvas::setUnit);
    connect(m_tools, &TimelineTools::ghostToggled, m_bars, &BarsCanvas::setGhost);
    connect(m_tools, &TimelineTools::detailsToggled, m_details, &QWidget::setVisible);
}

void TimelinePage::connectCanvases()
{
    QUndoStack& undo = context().viewUndo;
    StepCursor& cursor = context().cursor;
    connect(m_bars, &BarsCanvas::stepChosen, this, &TimelinePage::choose);
    connect(m_lanes, &LanesCanvas::stepChosen, this, &TimelinePage::choose);
    connect(m_bars, &BarsCanvas::rangeChosen, this, [&](std::int64_t first, std::int64_t last) {
        showRange(cursor, undo, StepRange { first, last });
    });
    connect(m_bars, &BarsCanvas::zoomed, this, [&, this](double place, double factor) {
        if (const app::EpochView* epoch = context().focus.epoch(); epoch && m_model)
            showRange(cursor, undo, zoomedWindow(*epoch, m_asked.steps, place, factor));
    });
    connect(m_bars, &BarsCanvas::panned, this, [&, this](int versions) {
        if (const app::EpochView* epoch = context().focus.epoch(); epoch && m_model)
            showRange(cursor, undo, pannedWindow(*epoch, m_asked.steps, versions));
    });
    connect(m_bars, &BarsCanvas::resetWanted, this, [&] { showRange(cursor, undo, std::nullopt); });
    connect(m_lanes, &LanesCanvas::windowWanted, this, [&, this](const TimeWindow& window) {
        if (window != m_lanes->window())
            undo.push(new TimeWindowCommand(m_lanes, window));
    });
}

Canvas* TimelinePage::canvas()
{
    return m_lanes->hasFocus() || !m_bars->isVisibleTo(this) ? static_cast<Canvas*>(m_lanes) : m_bars;
}

QString TimelinePage::exportName() const
{
    return m_model ? QStringLiteral("%1-syncs.csv").arg(context().focus.id()) : QString();
}

QByteArray TimelinePage::exportText() { return m_bars->csv(); }

void TimelinePage::refresh()
{
    if (run()->run->spans.empty()) {
        setEmptyText(tr("No sync times are known"),
                     tr("They come from spans that the trainer and the replicas write beside the run, or from what "
                        "they print: open the run with its log files to have their lines read. Neither is there "
                        "yet, so nobody can say where the time of a sync goes."));
        return;
    }
    setEmptyText({});
    calculate();
}

void TimelinePage::cursorMoved()
{
    showSelected();
    calculate();
}

void TimelinePage::runOpened()
{
    m_window.reset();
    m_asked = {};
}

StepRange TimelinePage::wantedSteps(const app::EpochView& epoch)
{
    const StepCursor::State& state = context().cursor.state();
    if (state.range) {
        m_window.reset();
        return context().focus.shownRange().value_or(*state.range);
    }
    const std::int64_t b = state.b ? state.b->step : epoch.steps.back().step;
    const bool keeps =
        m_window && m_asked.epoch == epoch.epoch && !state.follow && m_window->first <= b && b <= m_window->second;
    if (!keeps)
        m_window = windowAround(epoch, b, UsualVersions);
    return *m_window;
}

void TimelinePage::calculate()
{
    const app::EpochView* epoch = context().focus.epoch();
    if (!run() || !epoch || epoch->steps.empty() || run()->run->spans.empty())
        return;
    TimelineRequest request;
    request.run = run();
    request.steps = wantedSteps(*epoch);
    request.epoch = epoch->epoch;
    request.b = context().cursor.b() ? context().cursor.b()->step : request.steps.second;
    request.actor = m_tools->actor();
    const bool known = request.run == m_asked.run && request.epoch == m_asked.epoch && request.steps == m_asked.steps
        && request.actor == m_asked.actor;
    const bool inLanes = m_model && m_model->clockSteps.first <= request.b && request.b <= m_model->clockSteps.second;
    if (known && (inLanes || request.b == m_asked.b))
        return;
    m_asked = request;
    m_calculation.start([request] { return makeTimelineModel(request); },
                        [this](TimelinePointer model) { take(std::move(model)); });
}

void TimelinePage::take(TimelinePointer model)
{
    m_model = std::move(model);
    m_bars->setModel(m_model);
    m_lanes->setModel(m_model);
    m_tools->setGroups(m_model->groups);
    const auto& ghost = m_model->view.ghost;
    m_tools->setGhostRate(ghost ? std::optional(ghost->bytesPerSecond) : std::nullopt);
    const QString steps = tr("Steps %1 – %2").arg(m_model->steps.first).arg(m_model->steps.second);
    m_summary->show(m_model->view.summary,
                    steps + QStringLiteral(", ") + pluralText(m_model->syncs.size(), tr("version"), tr("versions")));
    QString note;
    if (m_model->clockSteps != m_model->steps)
        note = tr("The wall clock shows the steps %1 – %2 around B.")
                   .arg(m_model->clockSteps.first)
                   .arg(m_model->clockSteps.second);
    if (m_model->clock.spans.size() >= MostSpans)
        note += (note.isEmpty() ? QString() : QStringLiteral(" "))
            + tr("Of more than %1 spans the newest are shown; choose a smaller range to see all.")
                  .arg(exactText(MostSpans));
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty() && m_tools->mode() != TimelineMode::PerStep);
    m_tools->setActors(m_model->replicas);
    showSelected();
}

void TimelinePage::showSelected()
{
    const std::optional<StepId> b = context().cursor.b();
    const bool own = b && m_model && b->epoch == m_model->view.epoch;
    m_bars->setSelected(own ? b : std::nullopt);
    m_lanes->setSelected(own ? b : std::nullopt);
    if (!own)
        return;
    const app::BarView* bar = m_model->barOf(m_model->reportedUpTo(b->step).value_or(b->step));
    m_details->show(*m_model, b->step, bar ? engineOf(bar->actor) : QString());
}

QString TimelinePage::engineOf(const std::string& actor) const
{
    const RunPointer& shown = context().focus.run();
    if (!shown || !shown->run)
        return {};
    for (const app::ReplicaView& replica : shown->run->replicas) {
        if (replica.id == actor)
            return safeName(replica.engine);
    }
    return {};
}

void TimelinePage::showMode()
{
    const bool lanes = m_tools->mode() != TimelineMode::PerStep;
    m_bars->setVisible(m_tools->mode() != TimelineMode::WallClock);
    m_lanesArea->setVisible(lanes);
    m_line->setVisible(lanes);
    m_note->setVisible(lanes && !m_note->text().isEmpty());
}

void TimelinePage::choose(std::int64_t step)
{
    if (m_model)
        context().cursor.setB({ m_model->view.epoch, step });
}

void TimelinePage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    const bool had = event->oldSize().width() >= RoomForDetails;
    const bool has = width() >= RoomForDetails;
    if (had != has || event->oldSize().width() < 0)
        m_tools->setDetailsShown(has);
}

void TimelinePage::askForTraceFile()
{
    auto* dialog = new QFileDialog(this, tr("Export trace"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilter(tr("Chrome traces (*.json)"));
    dialog->selectFile(QStringLiteral("%1-syncs.trace.json").arg(context().focus.id()));
    connect(dialog, &QFileDialog::fileSelected, this, &TimelinePage::saveTrace);
    dialog->open();
}

void TimelinePage::saveTrace(const QString& path)
{
    if (!m_model)
        return;
    m_saving.start([model = m_model, path] { return writeTrace(*model, path); },
                   [this, path](const QString& wrong) {
                       m_note->setText(wrong.isEmpty() ? tr("Saved %1. Perfetto and about:tracing open it.").arg(path)
                                                       : tr("✕ %1 was not saved: %2").arg(path, wrong));
                       m_note->show();
                   });
}

} // namespace deltascope::desktop
