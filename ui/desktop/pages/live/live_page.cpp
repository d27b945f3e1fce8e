#include "pages/live/live_page.h"

#include "actions/action_registry.h"
#include "heat/mini_heatmap.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/live/chart_grid.h"
#include "pages/live/feed_card.h"
#include "pages/live/health_tile.h"
#include "pages/live/kpi_row.h"
#include "pages/live/live_plots.h"
#include "pages/live/replicas_card.h"
#include "pages/live/rule_links.h"
#include "state/range_command.h"
#include "widgets/notice_pane.h"
#include "widgets/part_mover.h"

#include <QGridLayout>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QTableView>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int WideFrom = 900; ///< pixels of the page with three charts in a row
constexpr int ChartHeight = 124;
const QString XKey = QStringLiteral("plots/x");

}

LivePage::LivePage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_tiles(new KpiRow)
    , m_health(new HealthTile)
    , m_heat(new MiniHeatmap)
    , m_heatCard(nullptr)
    , m_feed(new FeedCard)
    , m_replicas(new ReplicasCard)
    , m_grid(new QGridLayout)
    , m_mover(new PartMover(this))
{
    makePlots();
    makeLower();
    setContent(makeContent());
    connect(m_tiles, &KpiRow::pageWanted, this,
            [this](const QString& page) { this->context().actions.trigger(QStringLiteral("go.") + page); });
    connect(m_tiles, &KpiRow::menuWanted, this, [this](int tile, const QPoint& global) {
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        addRuleLinks(*menu, rulesOfTile(tile), [this](const QString& rule) { editRule(rule); });
        menu->popup(global);
    });
    connect(m_health, &HealthTile::stepWanted, this, &LivePage::goTo);
    connect(m_health, &HealthTile::verifyWanted, this, [this](int epoch, std::int64_t step) {
        goTo(epoch, step);
        this->context().actions.trigger(QStringLiteral("run.verify"));
    });
    connect(m_health, &HealthTile::materializeWanted, this, [this](int epoch, std::int64_t step) {
        goTo(epoch, step);
        this->context().actions.trigger(QStringLiteral("run.materialize"));
    });
    connect(m_health, &HealthTile::rollBackWanted, this, [this](int epoch, std::int64_t step) {
        goTo(epoch, step);
        this->context().actions.trigger(QStringLiteral("run.rollBack"));
    });
    m_health->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_health, &HealthTile::customContextMenuRequested, this, [this](const QPoint& at) {
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        addRuleLinks(*menu, rulesOfHealth(), [this](const QString& rule) { editRule(rule); });
        menu->popup(m_health->mapToGlobal(at));
    });
    m_clock.setInterval(1000);
    connect(&m_clock, &QTimer::timeout, this, [this] {
        if (isVisible())
            m_tiles->tick(ServiceBridge::nowUs());
    });
    m_clock.start();
    m_turn.setInterval(0);
    connect(&m_turn, &QTimer::timeout, this, &LivePage::showNextPart);
    connect(&context.bridge, &ServiceBridge::alertMoved, this, &LivePage::refreshLater); // a rule may be off now
}

void LivePage::makePlots()
{
    using Smoothing = PlotCard::Smoothing;
    m_plots[Changed] = new PlotCard(QStringLiteral("changed"), tr("Changed"), Smoothing::Offered);
    m_plots[Pause] = new PlotCard(QStringLiteral("pause"), tr("Pause"), Smoothing::Off, PlotCard::Outliers::Cut);
    m_plots[DeltaSize] = new PlotCard(QStringLiteral("delta"), tr("Delta size"), Smoothing::Off);
    m_plots[Sync] = new PlotCard(QStringLiteral("sync"), tr("Sync total"), Smoothing::Off, PlotCard::Outliers::Cut);
    m_plots[Lag] = new PlotCard(QStringLiteral("lag"), tr("Replica lag"), Smoothing::Off);
    for (int i = 0; i < PlotCount; ++i) {
        PlotCard* card = m_plots[static_cast<std::size_t>(i)];
        card->setMinimumHeight(ChartHeight);
        card->menu()->addSeparator();
        addRuleLinks(*card->menu(), rulesOfPlot(i), [this](const QString& rule) { editRule(rule); });
        PlotView* view = card->view();
        connect(card, &PlotCard::xChosen, this, &LivePage::setX);
        connect(view, &PlotView::stepChosen, this, [this](std::int64_t step) { goTo(m_data->epoch, step); });
        connect(view, &PlotView::rangeChosen, this, [this](const std::optional<StepRange>& range) {
            showRange(context().cursor, context().viewUndo, range);
        });
        connect(view, &PlotView::hovered, this, [this](const std::optional<std::int64_t>& step) {
            for (PlotCard* other : m_plots)
                other->view()->setHovered(step);
        });
    }
    setX(static_cast<PlotX>(QSettings().value(XKey).toInt()));
    m_charts = new ChartGrid({ { QStringLiteral("changed"), m_plots[Changed] },
                               { QStringLiteral("pause"), m_plots[Pause] },
                               { QStringLiteral("delta"), m_plots[DeltaSize] },
                               { QStringLiteral("sync"), m_plots[Sync] },
                               { QStringLiteral("lag"), m_plots[Lag] } },
                             *m_mover);
    connect(m_charts, &ChartGrid::aloneChanged, this, [this](bool alone) {
        for (QWidget* other :
             { static_cast<QWidget*>(m_heatCard), static_cast<QWidget*>(m_feed), static_cast<QWidget*>(m_replicas) })
            other->setVisible(!alone);
        for (int row = 1; row <= 2; ++row)
            m_grid->setRowStretch(row, alone ? 0 : 1);
        refreshLater(); // other decimation
    });
}

void LivePage::setX(PlotX x)
{
    for (PlotCard* card : m_plots)
        card->view()->setX(x);
    QSettings().setValue(XKey, static_cast<int>(x));
}

void LivePage::editRule(const QString& rule) { context().actions.trigger(QStringLiteral("rule.") + rule); }

void LivePage::makeLower()
{
    auto* card = new Card(tr("Where it changed"));
    auto* open = makeButton(tr("Open heatmap"));
    open->setFont(typeFont(Type::Label));
    setRole(open, "link");
    card->header()->addWidget(new HeatLegend);
    card->header()->addWidget(open);
    card->content()->addWidget(m_heat);
    card->setMinimumHeight(132);
    m_heatCard = card;
    m_feed->setMinimumHeight(124);
    m_replicas->setMinimumHeight(124);
    const auto heatmap = [this] { context().actions.trigger(QStringLiteral("go.heatmap")); };
    connect(open, &QPushButton::clicked, this, heatmap);
    connect(m_heat, &MiniHeatmap::opened, this, heatmap);
    connect(m_heat, &MiniHeatmap::stepChosen, this, [this](std::int64_t step) { goTo(m_data->epoch, step); });
    // Events and replicas are of the newest epoch.
    const auto newest = [this] { return run()->run->epochs.empty() ? 0 : run()->run->epochs.back().epoch; };
    connect(m_feed, &FeedCard::stepWanted, this, [this, newest](std::int64_t step) { goTo(newest(), step); });
    connect(m_replicas, &ReplicasCard::timelineWanted, this, [this, newest](std::int64_t step) {
        goTo(newest(), step);
        context().actions.trigger(QStringLiteral("go.timeline"));
    });
}

QWidget* LivePage::makeContent()
{
    m_inner = new QWidget;
    setRole(m_inner, "page");
    auto* all = new QVBoxLayout(m_inner);
    const int padding = metrics().padding;
    all->setContentsMargins(padding, padding, padding, padding);
    all->setSpacing(metrics().gap);
    all->addItem(m_mover->place(m_tiles, m_inner));
    all->addLayout(m_grid, 1);
    m_grid->setSpacing(metrics().gap);
    arrange();
    return new NoticePane(m_health, m_inner, padding);
}

void LivePage::arrange()
{
    if (m_columns == 3) // measured each time: fonts change, and so do legends
        m_wideNeeds = m_inner->minimumSizeHint().width();
    const int columns = width() >= std::max(WideFrom, m_wideNeeds) ? 3 : 2;
    if (columns == m_columns)
        return;
    m_columns = columns;
    m_tiles->setRows(columns == 3 ? 1 : 2);
    m_heatCard->setNote(columns == 3 ? tr("share of elements per layer and step, element-weighted mean") : QString());
    m_charts->setWide(columns == 3);
    for (QWidget* widget : { static_cast<QWidget*>(m_charts), static_cast<QWidget*>(m_heatCard),
                             static_cast<QWidget*>(m_feed), static_cast<QWidget*>(m_replicas) })
        m_grid->removeWidget(widget);
    const auto put = [this](QWidget* widget, int row, int from, int parts) {
        m_grid->addItem(m_mover->place(widget, m_inner), row, from, 1, parts);
    };
    put(m_charts, 0, 0, GridColumns);
    put(m_heatCard, 1, 0, GridColumns);
    put(m_feed, 2, 0, columns == 3 ? 4 : 5);
    put(m_replicas, 2, columns == 3 ? 4 : 5, columns == 3 ? 8 : 7);
    for (int i = 0; i < GridColumns; ++i) {
        m_grid->setColumnStretch(i, 1);
        m_grid->setColumnMinimumWidth(i, 1);
    }
    m_grid->setRowStretch(0, columns == 3 ? 2 : 3); // of charts
    m_grid->setRowStretch(1, 1);
    m_grid->setRowStretch(2, 1);
}

void LivePage::resizeEvent(QResizeEvent* event)
{
    Page::resizeEvent(event);
    arrange();
    refreshLater(); // other decimation
}

// --- data ------------------------------------------------------------------------------------------------------------

void LivePage::runOpened()
{
    m_data = nullptr;
    m_turn.stop();
    m_health->setHealth({}, 0);
    m_heat->setHeat(nullptr);
}

void LivePage::refresh()
{
    const std::optional<StepRange> range = context().focus.shownRange();
    if (!range)
        return;
    LiveQuestion question;
    question.run = run();
    question.epoch = context().focus.epoch()->epoch;
    question.range = *range;
    question.linePixels = static_cast<std::uint32_t>(m_plots[Changed]->view()->plotWidth());
    question.barPixels = static_cast<std::uint32_t>(m_plots[Pause]->view()->plotWidth());
    question.stackPixels = static_cast<std::uint32_t>(m_plots[Sync]->view()->plotWidth());
    question.heatPixels = static_cast<std::uint32_t>(m_heat->plotWidth());
    question.nowUs = ServiceBridge::nowUs();
    if (m_data && m_data->run->id == question.run->id)
        question.heatBefore = m_data->heat;
    m_calculation.start([question] { return makeLiveData(question); },
                        [this](std::shared_ptr<const LiveData> data) {
                            if (run() && data->run->id == run()->id)
                                show(std::move(data));
                        });
}

void LivePage::show(std::shared_ptr<const LiveData> data)
{
    m_data = std::move(data);
    m_health->setMayAct(m_data->run->state != "recorded");
    m_health->setHealth(m_data->summary.health, m_data->run->run->epochs.back().epoch);
    m_tiles->setData(m_data);
    arrange();
    m_partsLeft = PartCount;
    m_turn.start();
}

void LivePage::setPlot(Plot plot, LivePlot shown)
{
    shown.data.range = m_data->range;
    shown.data.clock = m_data->clock;
    const app::EpochView* epoch = context().focus.epoch();
    shown.data.limit = epoch && !epoch->steps.empty()
        ? StepRange { epoch->steps.front().step, std::max(epoch->steps.back().step, epoch->steps.back().lastMissing) }
        : shown.data.range;
    m_plots[plot]->setData(std::move(shown.data), shown.unit, shown.note, std::move(shown.legend));
}

/// One chart or card, then the next one in an event of its own: together they would keep the window from anything else.
/// Newer data goes on where those before were shown to, so that none waits for ever.
void LivePage::showNextPart()
{
    const int part = m_nextPart;
    m_nextPart = (m_nextPart + 1) % PartCount;
    if (--m_partsLeft == 0)
        m_turn.stop();
    if (part < PlotCount) {
        const auto plot = static_cast<Plot>(part);
        setPlot(plot, makePlot(plot));
        markCursor(plot);
    } else if (part == HeatPart) {
        m_heat->setHeat(m_data->heat, m_data->heatPicture);
        m_heat->setCursor(mine(context().cursor.b()));
    } else {
        m_feed->setFeed(m_data->feed, ServiceBridge::nowUs());
        m_replicas->setReplicas(m_data->replicas);
    }
}

LivePlot LivePage::makePlot(Plot plot) const
{
    switch (plot) {
    case Changed: {
        LivePlot changed = changedPlot(*m_data);
        std::vector<PlotMark>& marks = changed.data.marks; // the words of steps
        const std::vector<PlotMark> alerts = alertMarks("density-shift");
        marks.insert(marks.end(), alerts.begin(), alerts.end());
        std::stable_sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
        return changed;
    }
    case Pause: {
        LivePlot pause = pausePlot(*m_data);
        pause.data.marks = alertMarks("pause-long");
        return pause;
    }
    case DeltaSize:
        return deltaPlot(*m_data);
    case Sync:
        return syncPlot(*m_data);
    default:
        return lagPlot(*m_data, lagThreshold(), static_cast<std::uint32_t>(m_plots[Lag]->view()->plotWidth()));
    }
}

std::vector<PlotMark> LivePage::alertMarks(std::string_view rule) const
{
    std::vector<PlotMark> marks;
    for (const app::AlertView& alert : context().bridge.monitor().alerts().list(m_data->run->id).alerts) {
        if (alert.step && alert.rule.starts_with(rule))
            marks.push_back({ *alert.step, QStringLiteral("⚑"), Token::Text });
    }
    return marks;
}

std::optional<double> LivePage::lagThreshold() const
{
    for (const app::AlertRuleView& rule : context().bridge.monitor().alerts().list(m_data->run->id).rules) {
        if (rule.id == "replica-lag" && rule.on)
            return rule.threshold;
    }
    return std::nullopt;
}

// --- cursor ----------------------------------------------------------------------------------------------------------

/// A step that is not drawn yet is marked when it is: till then B stands where it was.
void LivePage::cursorMoved()
{
    const app::EpochView* epoch = context().focus.epoch();
    const bool sameSteps =
        m_data && epoch && epoch->epoch == m_data->epoch && context().focus.shownRange() == m_data->range;
    if (!sameSteps)
        refreshLater();
    const std::optional<std::int64_t> b = mine(context().cursor.b());
    if (sameSteps || (b && m_data->range.first <= *b && *b <= m_data->range.second))
        markCursor();
}

/// If it is of the epoch that is drawn.
std::optional<std::int64_t> LivePage::mine(const std::optional<StepId>& step) const
{
    return step && m_data && step->epoch == m_data->epoch ? std::optional(step->step) : std::nullopt;
}

void LivePage::markCursor()
{
    for (int plot = 0; plot < PlotCount; ++plot)
        markCursor(static_cast<Plot>(plot));
    m_heat->setCursor(mine(context().cursor.b()));
}

void LivePage::markCursor(Plot plot)
{
    m_plots[plot]->view()->setCursor(mine(context().cursor.a()), mine(context().cursor.b()));
}

void LivePage::goTo(int epoch, std::int64_t step)
{
    if (context().focus.step({ epoch, step }))
        context().cursor.setB({ epoch, step });
}

PlotCard* LivePage::focusedPlot() const
{
    const auto focused = std::find_if(m_plots.begin(), m_plots.end(), [](const PlotCard* card) {
        return const_cast<PlotCard*>(card)->view()->hasFocus();
    });
    return focused == m_plots.end() ? m_plots.front() : *focused;
}

Canvas* LivePage::canvas()
{
    if (m_heat->hasFocus())
        return m_heat;
    return focusedPlot()->view();
}

QAbstractItemView* LivePage::mainList() { return m_feed->list(); }

QByteArray LivePage::exportText() { return focusedPlot()->csv(); }

std::optional<StepId> LivePage::stepAtCursor()
{
    for (PlotCard* card : m_plots) {
        if (const std::optional<StepId> step = card->view()->stepAtCursor())
            return step;
    }
    return m_heat->stepAtCursor() ? m_heat->stepAtCursor() : Page::stepAtCursor();
}

} // namespace deltascope::desktop
