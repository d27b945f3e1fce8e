#include "pages/heatmap/heatmap_page.h"

#include "actions/action_registry.h"
#include "heat/heat_scale.h"
#include "heat/tensor_filter.h"
#include "look/format.h"
#include "pages/heatmap/block_view.h"
#include "pages/heatmap/element_view.h"
#include "pages/heatmap/heat_tools.h"
#include "pages/heatmap/trail.h"
#include "pages/heatmap/view_commands.h"
#include "widgets/cards.h"

#include <QLineEdit>
#include <QStackedWidget>
#include <QUndoStack>
#include <QVBoxLayout>

#include <cmath>

namespace deltascope::desktop {

namespace {

enum CommandKind { ZoomKind = 101, RowsKind };

}

HeatmapPage::HeatmapPage(PageContext& context, QWidget* parent)
    : Page(context, parent)
    , m_heat(new HeatCanvas)
    , m_tools(new HeatTools)
    , m_blocks(new BlockView(context))
    , m_elements(new ElementView(context))
    , m_trail(new Trail(tr("Heatmap")))
    , m_stack(new QStackedWidget)
    , m_counts(context.bridge.service())
{
    auto* heat = new QWidget;
    auto* column = new QVBoxLayout(heat);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_tools);
    column->addWidget(makeLine());
    column->addWidget(m_heat, 1);
    m_stack->addWidget(heat);
    m_stack->addWidget(m_blocks);
    m_stack->addWidget(m_elements);
    m_trail->hide();
    auto* content = new QWidget;
    auto* all = new QVBoxLayout(content);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(m_trail);
    all->addWidget(m_stack, 1);
    setContent(content);

    connect(m_tools, &HeatTools::optionsChanged, this, &HeatmapPage::rowsChosen);
    connect(m_heat, &HeatCanvas::cellFocused, this, &HeatmapPage::showCell);
    connect(m_heat, &HeatCanvas::cellChosen, this, &HeatmapPage::chooseCell);
    connect(m_heat, &HeatCanvas::opened, this, &HeatmapPage::openBlocks);
    connect(m_heat, &HeatCanvas::rangeChosen, this,
            [this](qint64 first, qint64 last) { this->context().cursor.setRange(StepRange(first, last)); });
    connect(m_heat, &HeatCanvas::compareChosen, this, [this](qint64 a, qint64 b) {
        StepCursor::State state = this->context().cursor.state();
        const int epoch = m_heat->model().plan()->epoch;
        state.a = StepId { epoch, a };
        state.b = StepId { epoch, b };
        state.follow = false;
        this->context().cursor.set(state);
        this->context().actions.trigger(QStringLiteral("run.diff"));
    });
    connect(m_heat, &HeatCanvas::exportChosen, this,
            [this](int from, int to, int top, int end) { exportBox(csvOf(from, to, top, end)); });
    connect(m_heat, &HeatCanvas::spaceTapped, this,
            [this] { this->context().actions.trigger(QStringLiteral("cursor.follow")); });
    connect(m_heat, &HeatCanvas::zoomed, this, [this](const HeatZoom& before, bool merge) {
        this->context().viewUndo.push(new ViewCommand<HeatZoom>(
            tr("zoom"), before, m_heat->model().zoom(),
            [heat = QPointer(m_heat)](const HeatZoom& zoom) {
                if (heat)
                    heat->setZoom(zoom);
            },
            merge ? ZoomKind : -1));
    });
    connect(&m_counts, &ExactCounts::arrived, this, &HeatmapPage::showCell);
    connect(&HeatScale::shared(), &HeatScale::changed, this, &HeatmapPage::showCell);
    connect(&context.bridge, &ServiceBridge::alertMoved, this, &HeatmapPage::refreshLater);
    connect(m_blocks, &BlockView::elementsWanted, this, &HeatmapPage::openElements);
    connect(m_blocks, &BlockView::upWanted, this, &HeatmapPage::goUp);
    connect(m_elements, &ElementView::upWanted, this, &HeatmapPage::goUp);
    connect(m_elements, &ElementView::moved, this,
            [this] { m_trail->setPlace(safeName(m_blocks->tensor()), m_elements->place()); });
    connect(m_trail, &Trail::topWanted, this, [this] { setLevel(Level::Heat); });
    connect(m_trail, &Trail::tensorWanted, this, [this] { setLevel(Level::Blocks); });
}

Canvas* HeatmapPage::canvas()
{
    switch (m_level) {
    case Level::Blocks:
        return m_blocks->canvas();
    case Level::Elements:
        return m_elements->canvas();
    case Level::Heat:
        break;
    }
    return m_heat;
}

QLineEdit* HeatmapPage::filterField() { return m_level == Level::Heat ? m_tools->filter() : nullptr; }

// --- data ------------------------------------------------------------------------------------------------------------

void HeatmapPage::refresh() { makePlan(); }

void HeatmapPage::makePlan()
{
    if (!run() || !run()->run)
        return;
    const app::EpochView* epoch = context().focus.epoch();
    m_plan.start(
        [&monitor = context().bridge.monitor(), run = run(), epoch = epoch ? epoch->epoch : 0, rows = m_rows,
         before = m_heat->model().plan()] {
            return makeHeatPlan(run, epoch, stepsWithAlerts(monitor, run->id), rows, before);
        },
        [this](const HeatPlanPointer& plan) { take(plan); });
}

void HeatmapPage::take(const HeatPlanPointer& plan)
{
    const bool first = !m_heat->model().plan();
    if (!plan || plan->columns == 0 || plan->rows() == 0) {
        m_heat->setPlan(nullptr, false);
        setEmptyText(tr("No changes per tensor yet"),
                     tr("The heatmap fills as soon as the deltas of this run have been read. Nothing has to be "
                        "switched on."));
        return;
    }
    setEmptyText({});
    m_heat->setPlan(plan, context().cursor.state().follow);
    const StepCursor::State& cursor = context().cursor.state();
    if (first) {
        if (cursor.range)
            m_heat->showSteps(*cursor.range);
        else if (cursor.follow)
            m_heat->showNewest();
        if (!cursor.tensor.empty())
            m_heat->placeTensor(cursor.tensor, cursor.b ? plan->columnOf(*cursor.b) : plan->columns - 1);
        m_seen = cursor;
    }
    cursorMoved();
}

void HeatmapPage::runOpened()
{
    m_heat->setPlan(nullptr, false);
    m_elements->clear();
    setLevel(Level::Heat);
    m_seen = {};
}

void HeatmapPage::cursorMoved()
{
    const HeatPlanPointer& plan = m_heat->model().plan();
    if (!plan)
        return;
    const StepCursor::State now = context().cursor.state();
    if (now.b && now.b->epoch != plan->epoch)
        return makePlan();
    showMarks();
    const int b = m_heat->marks().b;
    if (now.range != m_seen.range && now.range)
        m_heat->showSteps(*now.range);
    if (now.follow && !m_seen.follow)
        m_heat->showNewest();
    if (now.tensor != m_seen.tensor && !now.tensor.empty())
        m_heat->placeTensor(now.tensor, b);
    else if (!now.follow && now.b != m_seen.b)
        m_heat->placeColumn(b);
    if (m_level == Level::Blocks && now.tensor != m_blocks->tensor() && !now.tensor.empty())
        m_blocks->setTensor(now.tensor);
    if (m_level == Level::Elements && (now.b != m_seen.b || now.a != m_seen.a))
        openElements(m_elementRow, m_elementColumn);
    m_seen = now;
}

void HeatmapPage::showMarks()
{
    const HeatPlan& plan = *m_heat->model().plan();
    const StepCursor& cursor = context().cursor;
    m_heat->setMarks({ cursor.a() ? plan.columnOf(*cursor.a()) : -1, cursor.b() ? plan.columnOf(*cursor.b()) : -1 });
}

void HeatmapPage::showCell()
{
    const HeatModel& model = m_heat->model();
    const std::optional<Spot> spot = m_heat->focusedSpot();
    CellText text;
    text.hint = tr("Enter opens blocks, 1 and 2 set A and B");
    if (!spot || model.isEmpty()) {
        text.counts = tr("Click a cell or use the arrow keys.");
        m_heat->setCellText(text);
        return;
    }
    const HeatPlanPointer& plan = model.plan();
    const app::HeatPool pool = HeatScale::shared().pool();
    const int row = model.tensorAt(*spot);
    const auto code = model.codeAt(*spot, pool);
    text.step = tr("step %1").arg(plan->column(spot->column).step);
    text.share = code ? shareText(app::heatShare(*code)) : tr("not known");
    if (row < 0) {
        text.name = model.labelOf(model.rows()[static_cast<std::size_t>(spot->row)]);
        text.counts = pool == app::HeatPool::Max ? tr("at most in one tensor") : tr("on the mean of its elements");
    } else {
        const app::TensorRowView& tensor = plan->tensor(row);
        text.name = safeName(tensor.name);
        text.tensor = QStringLiteral("%1, %2").arg(safeName(tensor.dtype).toLower(), shapeText(tensor.shape));
        if (const auto changed = m_counts.changed(plan, row, spot->column)) {
            text.counts = tr("%1 of %2").arg(exactText(*changed), exactText(tensor.elements));
            if (tensor.elements > 0)
                text.share = percentText(static_cast<double>(*changed) / static_cast<double>(tensor.elements));
        }
    }
    m_heat->setCellText(text);
}

// --- levels ----------------------------------------------------------------------------------------------------------

void HeatmapPage::chooseCell(const Spot& spot)
{
    const HeatPlan& plan = *m_heat->model().plan();
    StepCursor::State state = context().cursor.state();
    const int tensor = m_heat->model().tensorAt(spot);
    if (state.b != plan.stepOf(spot.column)) {
        state.b = plan.stepOf(spot.column);
        state.follow = false;
    }
    if (tensor >= 0)
        state.tensor = plan.tensor(tensor).name;
    m_seen = state; // it is shown already
    context().cursor.set(state);
}

void HeatmapPage::openBlocks(const Spot& spot)
{
    chooseCell(spot);
    m_blocks->setTensor(context().cursor.state().tensor);
    setLevel(Level::Blocks);
}

void HeatmapPage::openElements(std::uint64_t row, std::uint64_t column)
{
    const std::optional<TensorTarget> target = m_blocks->target();
    const BlocksPointer& blocks = m_blocks->blocks();
    if (!target || !blocks)
        return;
    m_elementRow = row;
    m_elementColumn = column;
    setLevel(Level::Elements);
    m_elements->show(*target, row, column, blocks->rows, blocks->cols);
}

void HeatmapPage::goUp()
{
    if (m_level != Level::Heat)
        setLevel(m_level == Level::Elements ? Level::Blocks : Level::Heat);
}

void HeatmapPage::setLevel(Level level)
{
    m_level = level;
    m_trail->setVisible(level != Level::Heat);
    m_trail->setPlace(safeName(m_blocks->tensor()), level == Level::Elements ? m_elements->place() : QString());
    m_stack->setCurrentIndex(static_cast<int>(level));
    if (isVisible())
        canvas()->setFocus();
}

// --- rows ------------------------------------------------------------------------------------------------------------

void HeatmapPage::rowsChosen()
{
    const RowOptions wanted = m_tools->options();
    const TensorFilter filter(wanted.filter, 0);
    m_tools->setFilterError(filter.error());
    if (wanted == m_rows || !filter.error().isEmpty())
        return;
    context().viewUndo.push(new ViewCommand<RowOptions>(
        tr("rows"), m_rows, wanted,
        [page = QPointer(this)](const RowOptions& options) {
            if (page)
                page->setRows(options);
        },
        wanted.sort == m_rows.sort ? RowsKind : -1));
    m_rows = wanted;
    makePlan();
}

void HeatmapPage::setRows(const RowOptions& options)
{
    m_rows = options;
    m_tools->setOptions(options);
    m_tools->setFilterError({});
    makePlan();
}

} // namespace deltascope::desktop
