#include "pages/tensors/values_panel.h"

#include "deltascope/app/view/problem.h"
#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/reads_note.h"
#include "widgets/segments.h"
#include "widgets/table_header.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollArea>
#include <QTreeView>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr std::uint32_t HistorySteps = 20;
constexpr int AskLaterMs = 250;

QWidget* makeTitleRow(const QString& title, QWidget* right)
{
    auto* made = new QWidget;
    auto* row = new QHBoxLayout(made);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(makeLabel(title, "title"));
    row->addStretch(1);
    row->addWidget(right);
    return made;
}

}

ValuesPanel::ValuesPanel(PageContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_costs(context.bridge)
    , m_work(context.bridge)
    , m_historyWork(context.bridge)
    , m_about(makeLabel({}, "muted"))
    , m_compute(makeButton({}, {}, "primary"))
    , m_cancel(makeButton(tr("Cancel")))
    , m_problem(makeLabel({}, "error"))
    , m_reads(new ReadsNote)
    , m_list(new QTreeView)
    , m_forms(new Segments(tr("Form of the histogram"), { tr("Linear"), tr("Log"), tr("|Value|") }))
    , m_histogram(new HistogramCanvas)
    , m_moved(new MovedCanvas)
    , m_historyTitle(makeLabel({}, "title"))
    , m_computeHistory(makeButton({}))
    , m_history(new ValuesHistoryCanvas)
    , m_historyReads(new ReadsNote)
{
    m_about->setWordWrap(true);
    m_problem->setWordWrap(true);
    m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_compute->setAccessibleDescription(tr("The values of this tensor at B"));
    m_computeHistory->setAccessibleDescription(tr("The values of this tensor over the last steps"));
    m_result = makeResult();
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(12, 8, 12, 12);
    column->setSpacing(8);
    column->addWidget(makeLabel(tr("Values"), "section"));
    column->addWidget(m_about);
    column->addWidget(m_compute);
    column->addWidget(m_problem);
    column->addWidget(m_result);
    column->addWidget(m_reads);
    column->addWidget(m_historyTitle);
    column->addWidget(m_computeHistory);
    column->addWidget(m_history);
    column->addWidget(m_historyReads);
    column->addWidget(m_cancel);
    column->addStretch(1);
    auto* scrolled = new QScrollArea;
    scrolled->setWidget(content);
    scrolled->setWidgetResizable(true);
    scrolled->setFrameShape(QFrame::NoFrame);
    scrolled->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scrolled->setAccessibleName(tr("Values of this tensor"));
    setRole(scrolled, "page");
    setRole(content, "page");
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(scrolled);
    setMinimumWidth(280);
    makeConnections();
    showState();
}

QWidget* ValuesPanel::makeResult()
{
    TableHeader::give(*m_list);
    m_list->setModel(&m_table);
    m_list->setAccessibleName(tr("Statistics"));
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setAllColumnsShowFocus(true);
    m_list->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(ValuesTable::Name, QHeaderView::Stretch);
    m_list->header()->setSectionResizeMode(ValuesTable::AtA, QHeaderView::ResizeToContents);
    m_list->header()->setSectionResizeMode(ValuesTable::AtB, QHeaderView::ResizeToContents);
    QPushButton* copyAll = makeButton(tr("Copy as TSV"), QStringLiteral("copy"), "small");
    connect(copyAll, &QPushButton::clicked, this, &ValuesPanel::copy);
    m_movedPart = new QWidget;
    auto* moved = new QVBoxLayout(m_movedPart);
    moved->setContentsMargins(0, 0, 0, 0);
    moved->setSpacing(4);
    QLabel* note = makeLabel(
        tr("share of elements by representable values (ulp); bars are logarithmic, 0.001 % to 100 %"), "muted");
    note->setFont(typeFont(Type::Label));
    note->setWordWrap(true);
    moved->addWidget(makeLabel(tr("How far elements moved"), "title"));
    moved->addWidget(note);
    moved->addWidget(m_moved);
    auto* made = new QWidget;
    auto* column = new QVBoxLayout(made);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(makeTitleRow(tr("Histogram"), m_forms));
    column->addWidget(m_histogram);
    column->addWidget(makeTitleRow(tr("Statistics"), copyAll));
    column->addWidget(m_list);
    column->addWidget(m_movedPart);
    return made;
}

void ValuesPanel::makeConnections()
{
    m_askLater.setSingleShot(true);
    m_askLater.setInterval(AskLaterMs);
    connect(&m_askLater, &QTimer::timeout, this, &ValuesPanel::askCosts);
    connect(m_compute, &QPushButton::clicked, this, &ValuesPanel::compute);
    connect(m_computeHistory, &QPushButton::clicked, this, &ValuesPanel::computeHistory);
    connect(m_cancel, &QPushButton::clicked, this, &ValuesPanel::cancel);
    connect(m_forms, &Segments::chosenByUser, this,
            [this](int form) { m_histogram->setForm(static_cast<HistogramForm>(form)); });
    connect(&m_context.cursor, &StepCursor::changed, this, &ValuesPanel::update);
    connect(&m_context.focus, &RunFocus::opened, this, [this] { setTensor({}); });
}

void ValuesPanel::setTensor(const std::string& name)
{
    m_tensor = name;
    update();
}

Canvas* ValuesPanel::focusedCanvas() const
{
    for (Canvas* canvas :
         { static_cast<Canvas*>(m_histogram), static_cast<Canvas*>(m_moved), static_cast<Canvas*>(m_history) }) {
        if (canvas->hasFocus())
            return canvas;
    }
    return nullptr;
}

void ValuesPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    update();
}

std::optional<TensorTarget> ValuesPanel::target() const
{
    const std::optional<StepId> b = m_context.cursor.b();
    if (m_tensor.empty() || !m_context.focus.run() || !b)
        return std::nullopt;
    std::optional<StepId> a = m_context.cursor.a();
    if (a == b)
        a.reset();
    return TensorTarget { m_context.focus.id(), *b, a, m_tensor };
}

std::optional<app::TensorRequest> ValuesPanel::request() const
{
    return m_target ? m_target->request(m_context.bridge) : std::nullopt;
}

// --- questions -------------------------------------------------------------------------------------------------------

void ValuesPanel::update()
{
    const std::optional<TensorTarget> wanted = target();
    if (!isVisible() || wanted == m_target)
        return;
    const bool otherTensor = !wanted || !m_target || wanted->tensor != m_target->tensor || wanted->run != m_target->run;
    m_target = wanted;
    cancel();
    m_costs.drop();
    m_cost.reset();
    m_historyCost.reset();
    m_problem->clear();
    if (otherTensor)
        clear();
    m_askLater.start();
    showState();
}

void ValuesPanel::clear()
{
    m_statistics.reset();
    m_statisticsOf.reset();
    m_past.reset();
    m_pastOf.reset();
    m_table.setStatistics(nullptr);
    m_histogram->setStatistics(nullptr);
    m_moved->setStatistics(nullptr);
    m_history->setHistory(nullptr, 0);
}

void ValuesPanel::askCosts()
{
    askCost(0, m_cost, [this] { askCost(HistorySteps, m_historyCost, {}); });
}

void ValuesPanel::askCost(std::uint32_t steps, std::optional<app::StatisticsCostView>& cost,
                          const std::function<void()>& then)
{
    const auto asked = request();
    if (!asked)
        return;
    m_costs.ask([asked, steps](app::Service& service) { return service.statisticsCost(*asked, steps); },
                [this, &cost, then](const Result<app::JobResult>& result) {
                    if (result) {
                        cost = *std::get<std::shared_ptr<const app::StatisticsCostView>>(*result);
                        if (then)
                            then();
                    } else {
                        showProblem(result.error());
                    }
                    showState();
                });
}

void ValuesPanel::compute()
{
    const auto asked = request();
    if (!asked)
        return;
    m_problem->clear();
    m_work.ask([asked](app::Service& service) { return service.statistics(*asked); },
               [this](const Result<app::JobResult>& result) {
                   if (result) {
                       m_statistics = std::get<StatisticsPointer>(*result);
                       m_statisticsOf = m_target;
                       m_table.setStatistics(m_statistics);
                       m_histogram->setStatistics(m_statistics);
                       m_moved->setStatistics(m_statistics);
                   } else {
                       showProblem(result.error());
                   }
                   showState();
               });
    showState();
}

void ValuesPanel::computeHistory()
{
    const auto asked = request();
    if (!asked)
        return;
    m_problem->clear();
    m_historyWork.ask([asked](app::Service& service) { return service.statisticsHistory(*asked, HistorySteps); },
                      [this](const Result<app::JobResult>& result) {
                          if (result) {
                              m_past = std::get<ValuesHistoryPointer>(*result);
                              m_pastOf = m_target;
                              m_history->setHistory(m_past, m_target->step.epoch);
                          } else {
                              showProblem(result.error());
                          }
                          showState();
                      });
    showState();
}

void ValuesPanel::cancel()
{
    m_work.drop();
    m_historyWork.drop();
    showState();
}

// --- what is shown ---------------------------------------------------------------------------------------------------

void ValuesPanel::showProblem(const Error& error)
{
    const app::ProblemView problem = app::problemView(error);
    m_problem->setText(
        QStringLiteral("✕ %1 %2. %3")
            .arg(QString::fromStdString(problem.code), safeName(problem.text), safeName(problem.remedy)));
}

void ValuesPanel::showState()
{
    const bool works = m_work.isRunning();
    const bool remembers = m_historyWork.isRunning();
    const auto labelOf = [this](const std::optional<app::StatisticsCostView>& cost, bool reads, bool again) {
        if (!cost)
            return tr("Compute");
        const QString bytes = bytesText(cost->readBytes);
        return reads ? tr("Reading %1…").arg(bytes)
            : again  ? tr("Compute step %1 (reads %2)").arg(m_target->step.step).arg(bytes)
                     : tr("Compute (reads %1)").arg(bytes);
    };
    m_compute->setText(labelOf(m_cost, works, m_statistics != nullptr));
    m_compute->setEnabled(m_cost && !works);
    m_compute->setVisible(!m_statistics || m_statisticsOf != m_target);
    const std::uint32_t steps = m_historyCost ? m_historyCost->steps : HistorySteps;
    m_historyTitle->setText(tr("Over the last %1 steps").arg(steps));
    m_computeHistory->setText(labelOf(m_historyCost, remembers, m_past != nullptr));
    m_computeHistory->setEnabled(m_historyCost && !remembers);
    m_computeHistory->setVisible((!m_past || m_pastOf != m_target) && steps > 1);
    m_historyTitle->setVisible(m_past || steps > 1);
    m_history->setVisible(m_past != nullptr);
    m_historyReads->setReads(m_past ? m_past->reads : app::ReadsView());
    m_cancel->setVisible(works || remembers);
    m_result->setVisible(m_statistics != nullptr);
    m_reads->setReads(m_statistics ? m_statistics->reads : app::ReadsView());
    m_problem->setVisible(!m_problem->text().isEmpty());
    if (!m_statistics) {
        m_about->setText(tr("Range, percentiles and spread of the values, and how far they moved. Nothing is read "
                            "before you ask."));
        return;
    }
    m_about->setText(m_statistics->a ? tr("step %1 against %2, %3 elements")
                                           .arg(m_statistics->b.step)
                                           .arg(m_statistics->a->step)
                                           .arg(exactText(m_statistics->elements))
                                     : tr("step %1, %2 elements; not compared with a state before")
                                           .arg(m_statistics->b.step)
                                           .arg(exactText(m_statistics->elements)));
    m_movedPart->setVisible(m_statistics->moved.has_value());
    m_list->setColumnHidden(ValuesTable::AtA, !m_statistics->a);
    const int rows = m_table.rowCount();
    m_list->setFixedHeight(m_list->header()->sizeHint().height() + rows * m_list->sizeHintForRow(0)
                           + 2 * m_list->frameWidth());
}

void ValuesPanel::copy() const { QApplication::clipboard()->setText(m_table.asTsv()); }

} // namespace deltascope::desktop
