#include "pages/heatmap/block_view.h"

#include "actions/action_registry.h"
#include "heat/scale_tools.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/reads_note.h"

#include <QFormLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr std::uint32_t MostBlocks = 128;
constexpr int FactsWidth = 236;
constexpr int RoomForFacts = 560; ///< pixels

}

BlockView::BlockView(PageContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_question(context.bridge)
    , m_canvas(new BlockCanvas)
{
    m_problem = makeLabel({}, "error");
    m_problem->setWordWrap(true);
    m_problem->setContentsMargins(12, 4, 12, 4);
    m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_problem->hide();
    m_reads = new ReadsNote;
    m_cell = makeLabel({}, "body");
    m_cell->setContentsMargins(12, 6, 12, 6);
    m_cell->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_tools = makeTools();
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(m_canvas, 1);
    m_facts = makeFacts();
    middle->addWidget(m_facts);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(m_tools);
    all->addWidget(m_problem);
    all->addWidget(m_reads);
    all->addLayout(middle, 1);
    all->addWidget(makeLine());
    all->addWidget(m_cell);
    connect(m_canvas, &BlockCanvas::cellMoved, this, &BlockView::showCell);
    connect(m_canvas, &BlockCanvas::opened, this, &BlockView::elementsWanted);
    connect(m_canvas, &BlockCanvas::upWanted, this, &BlockView::upWanted);
    connect(m_canvas, &BlockCanvas::stepped, this, [this](int by) {
        m_context.actions.trigger(by < 0 ? QStringLiteral("step.previous") : QStringLiteral("step.next"));
    });
    connect(&context.cursor, &StepCursor::changed, this, &BlockView::update);
    connect(&context.focus, &RunFocus::opened, this, [this] { setTensor({}); });
    showFacts();
}

QWidget* BlockView::makeTools()
{
    const auto stepButton = [this](const QString& name, const QString& text, const QString& action) {
        auto* button = new QToolButton;
        button->setIcon(icon(name));
        button->setToolTip(text);
        button->setAccessibleName(text);
        connect(button, &QToolButton::clicked, this, [this, action] { m_context.actions.trigger(action); });
        return button;
    };
    m_previous = stepButton(QStringLiteral("previous"), tr("Previous step (,)"), QStringLiteral("step.previous"));
    m_next = stepButton(QStringLiteral("next"), tr("Next step (.)"), QStringLiteral("step.next"));
    m_step = makeLabel({}, "title");
    m_versusA = makeButton({}, {}, "small");
    m_versusA->setCheckable(true);
    connect(m_versusA, &QPushButton::toggled, this, &BlockView::update);
    auto* tools = new QWidget;
    auto* row = new QHBoxLayout(tools);
    row->setContentsMargins(12, 4, 12, 4);
    row->setSpacing(6);
    row->addWidget(m_previous);
    row->addWidget(m_step);
    row->addWidget(m_next);
    row->addSpacing(8);
    row->addWidget(m_versusA);
    row->addStretch(1);
    m_scale = new ScaleTools;
    m_scale->setLabelsVisible(false);
    row->addWidget(m_scale);
    return tools;
}

QWidget* BlockView::makeFacts()
{
    const QString names[] = { tr("Changed"),      tr("Compared with"), tr("Dead rows"),
                              tr("Dead columns"), tr("Gini of rows"),  tr("Block") };
    m_shape = makeLabel({}, "muted");
    m_shape->setWordWrap(true);
    m_share = makeLabel({}, "number");
    auto* facts = new QWidget;
    auto* column = new QVBoxLayout(facts);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(6);
    column->addWidget(m_shape);
    column->addWidget(m_share);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(8);
    form->setVerticalSpacing(6);
    for (int i = 0; i < 6; ++i) {
        m_values[i] = makeLabel({}, "body");
        m_values[i]->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        form->addRow(makeLabel(names[i], "muted"), m_values[i]);
    }
    column->addLayout(form);
    m_topTitle = makeLabel(tr("Hottest rows"), "title");
    column->addSpacing(8);
    column->addWidget(m_topTitle);
    m_topRows = new QVBoxLayout;
    m_topRows->setSpacing(2);
    column->addLayout(m_topRows);
    column->addStretch(1);
    auto* scrolled = new QScrollArea;
    scrolled->setWidget(facts);
    scrolled->setWidgetResizable(true);
    scrolled->setFrameShape(QFrame::NoFrame);
    scrolled->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scrolled->setFixedWidth(FactsWidth);
    scrolled->setAccessibleName(tr("About this tensor"));
    setRole(scrolled, "page");
    setRole(facts, "page");
    return scrolled;
}

void BlockView::setTensor(const std::string& name)
{
    m_pair.reset();
    m_tensor = name;
    update();
}

void BlockView::setPair(const std::string& name, const StepId& step, const StepId& against)
{
    m_pair.emplace(step, against);
    m_tensor = name;
    update();
}

std::optional<TensorTarget> BlockView::target() const
{
    if (m_tensor.empty() || !m_context.focus.run())
        return std::nullopt;
    const QString run = m_context.focus.id();
    if (m_pair)
        return TensorTarget { run, m_pair->first, m_pair->second, m_tensor };
    if (!m_context.cursor.b())
        return std::nullopt;
    const std::optional<StepId> a = m_versusA->isChecked() ? m_context.cursor.a() : std::nullopt;
    return TensorTarget { run, *m_context.cursor.b(), a, m_tensor };
}

void BlockView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    update();
}

void BlockView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_facts->setVisible(width() >= RoomForFacts);
    m_scale->setVisible(width() >= RoomForFacts);
    showCell();
}

void BlockView::showCell()
{
    QString text = m_canvas->cellText();
    if (m_blocks && m_blocks->a && m_facts->isHidden())
        text = tr("%1 of %2 changed against step %3; %4")
                   .arg(exactText(m_blocks->changed), exactText(m_blocks->total))
                   .arg(*m_blocks->a)
                   .arg(text);
    m_cell->setText(text);
}

/// Asks for what is wanted now, unless it is here or on its way.
void BlockView::update()
{
    showTools();
    const std::optional<TensorTarget> wanted = target();
    if (!isVisible() || wanted == m_asked)
        return;
    const bool otherTensor = !wanted || !m_asked || wanted->tensor != m_asked->tensor || wanted->run != m_asked->run;
    m_asked = wanted;
    if (otherTensor) {
        m_blocks.reset();
        m_canvas->setBlocks(nullptr);
        showFacts();
        emit shown();
    }
    const auto request = wanted ? wanted->request(m_context.bridge) : std::nullopt;
    if (!request)
        return m_question.drop();
    m_question.ask([request](app::Service& service) { return service.blocks(*request, MostBlocks); },
                   [this](const Result<app::JobResult>& result) { take(result); });
}

void BlockView::take(const Result<app::JobResult>& result)
{
    if (!result) {
        const app::ProblemView problem = app::problemView(result.error());
        m_problem->setText(
            QStringLiteral("✕ %1 %2. %3")
                .arg(QString::fromStdString(problem.code), safeName(problem.text), safeName(problem.remedy)));
        m_problem->show();
        m_blocks.reset(); // what is here is of another step
        m_canvas->setBlocks(nullptr);
    } else if (const auto* blocks = std::get_if<BlocksPointer>(&*result)) {
        m_problem->hide();
        m_blocks = *blocks;
        m_canvas->setBlocks(m_blocks);
    }
    showFacts();
    emit shown();
}

void BlockView::showTools()
{
    m_tools->setVisible(!m_pair);
    const std::optional<StepId> b = m_context.cursor.b();
    const std::optional<StepId> a = m_context.cursor.a();
    m_step->setText(b ? tr("step %1").arg(b->step) : unknownText());
    m_versusA->setEnabled(a.has_value());
    m_versusA->setText(a ? tr("Δ against A %1").arg(a->step) : tr("Δ against A"));
    m_versusA->setToolTip(a ? QString() : tr("Set A first, for instance with the key 1 on the heatmap"));
    m_previous->setEnabled(m_context.focus.neighbor(-1).has_value());
    m_next->setEnabled(m_context.focus.neighbor(1).has_value());
}

void BlockView::showFacts()
{
    const bool known = m_blocks != nullptr;
    while (const QLayoutItem* item = m_topRows->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_topTitle->setVisible(known && !m_blocks->topRows.empty());
    showCell();
    m_reads->setReads(known ? m_blocks->reads : app::ReadsView());
    if (!known) {
        m_shape->setText(m_question.isRunning() ? tr("Reading the tensor…") : QString());
        m_share->setText(unknownText());
        for (QLabel* value : m_values)
            value->setText(unknownText());
        return;
    }
    const app::BlocksView& b = *m_blocks;
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
        return percentText(whole == 0 ? std::optional<double>()
                                      : static_cast<double>(part) / static_cast<double>(whole));
    };
    m_shape->setText(
        tr("%1, %2, %3 elements").arg(shapeText(b.shape), safeName(b.dtype).toLower(), exactText(b.total)));
    // Without a state before, "nothing changed" would be a lie.
    m_share->setText(b.a ? tr("%1 changed").arg(share(b.changed, b.total)) : unknownText());
    m_values[0]->setText(b.a ? exactText(b.changed) : unknownText());
    m_values[1]->setText(b.a ? tr("step %1").arg(*b.a) : tr("nothing"));
    m_values[2]->setText(b.a ? tr("%1 of %2").arg(exactText(b.deadRows), exactText(b.rows)) : unknownText());
    m_values[3]->setText(b.a ? tr("%1 of %2").arg(exactText(b.deadCols), exactText(b.cols)) : unknownText());
    m_values[4]->setText(b.giniOfRows ? QString::number(*b.giniOfRows, 'f', 2) : unknownText());
    m_values[5]->setText(tr("%1 × %2").arg(b.rowsPerBlock).arg(b.colsPerBlock));
    for (const auto& [number, changed] : b.topRows) {
        QPushButton* link = makeButton(tr("row %1").arg(exactText(number)), {}, "link");
        link->setToolTip(tr("%1 changed").arg(exactText(changed)));
        connect(link, &QPushButton::clicked, this, [this, row = number] { emit elementsWanted(row, 0); });
        auto* line = new QWidget;
        auto* row = new QHBoxLayout(line);
        row->setContentsMargins(0, 0, 0, 0);
        row->addWidget(link);
        row->addStretch(1);
        row->addWidget(makeLabel(share(changed, b.cols), "body"));
        m_topRows->addWidget(line);
    }
}

} // namespace deltascope::desktop
