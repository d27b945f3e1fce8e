#include "pages/heatmap/element_view.h"

#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/reads_note.h"
#include "widgets/table_header.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

/// One of the four directions in which the window moves.
struct Move {
    Qt::ArrowType arrow;
    int rows, columns;
};
constexpr Move Moves[] = {
    { Qt::UpArrow, -1, 0 }, { Qt::DownArrow, 1, 0 }, { Qt::LeftArrow, 0, -1 }, { Qt::RightArrow, 0, 1 }
};

}

ElementView::ElementView(PageContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_question(context.bridge)
    , m_table(new QTableView)
    , m_canvas(new ElementCanvas(m_model))
{
    const QString names[] = { tr("Rows above"), tr("Rows below"), tr("Columns to the left"),
                              tr("Columns to the right") };
    auto* tools = new QHBoxLayout;
    tools->setContentsMargins(12, 4, 12, 4);
    tools->setSpacing(6);
    for (int i = 0; i < 4; ++i) {
        m_moves[i] = new QToolButton;
        m_moves[i]->setArrowType(Moves[i].arrow);
        m_moves[i]->setToolTip(names[i]);
        m_moves[i]->setAccessibleName(names[i]);
        connect(m_moves[i], &QToolButton::clicked, this, [this, move = Moves[i]] { go(move.rows, move.columns); });
        tools->addWidget(m_moves[i]);
    }
    m_says = makeLabel({}, "body");
    m_says->setMinimumWidth(0);
    m_says->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_onlyChanged = new QCheckBox(tr("Only changed"));
    connect(m_onlyChanged, &QCheckBox::toggled, this, [this](bool on) {
        m_model.setOnlyChanged(on);
        showState();
    });
    QPushButton* copyAll = makeButton(tr("Copy as TSV"), QStringLiteral("copy"), "small");
    connect(copyAll, &QPushButton::clicked, this, &ElementView::copy);
    tools->addSpacing(8);
    tools->addWidget(m_says, 1);
    tools->addWidget(m_onlyChanged);
    tools->addWidget(copyAll);

    TableHeader::give(*m_table);
    m_table->setModel(&m_model);
    m_table->setAccessibleName(tr("Elements"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(metrics().row);
    QHeaderView* header = m_table->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::Interactive);
    const int digit = QFontMetrics(typeFont(Type::Mono)).horizontalAdvance(QLatin1Char('0'));
    const int digits[ElementModel::ColumnCount] = { 10, 7, 8, 10, 10, 12, 12, 12, 7 };
    for (int column = 0; column < ElementModel::ColumnCount; ++column)
        header->resizeSection(column, (digits[column] + 2) * digit);
    for (const int column : { ElementModel::OldValue, ElementModel::NewValue, ElementModel::Delta })
        header->setSectionResizeMode(column, QHeaderView::Stretch);
    header->setMinimumSectionSize(6 * digit);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(ElementModel::Index, Qt::AscendingOrder);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& row) {
        if (row.isValid())
            m_canvas->setCurrentElement(m_model.elementAt(row.row()));
    });
    connect(m_canvas, &ElementCanvas::elementChosen, this, [this](int element) {
        if (const int row = m_model.rowOfElement(element); row >= 0)
            m_table->setCurrentIndex(m_model.index(row, ElementModel::Index));
    });
    connect(m_canvas, &ElementCanvas::upWanted, this, &ElementView::upWanted);
    auto* up = new QShortcut(QKeySequence(Qt::Key_Backspace), m_table, this, &ElementView::upWanted);
    up->setContext(Qt::WidgetShortcut);
    auto* copyKey = new QShortcut(QKeySequence::Copy, m_table, this, &ElementView::copy);
    copyKey->setContext(Qt::WidgetShortcut);

    m_problem = makeLabel({}, "error");
    m_problem->setWordWrap(true);
    m_problem->setContentsMargins(12, 4, 12, 4);
    m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_problem->hide();
    m_reads = new ReadsNote;
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(m_table, 2);
    middle->addWidget(m_canvas, 1);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addLayout(tools);
    all->addWidget(m_problem);
    all->addWidget(m_reads);
    all->addLayout(middle, 1);
}

void ElementView::show(const TensorTarget& target, std::uint64_t row, std::uint64_t column, std::uint64_t rows,
                       std::uint64_t columns)
{
    const bool otherTensor = !m_target || m_target->tensor != target.tensor || m_target->run != target.run;
    m_target = target;
    m_row = row;
    m_column = column;
    m_rows = rows;
    m_columns = columns;
    if (otherTensor)
        m_model.setElements(nullptr, 1);
    ask();
}

void ElementView::clear()
{
    m_target.reset();
    m_question.drop();
    m_model.setElements(nullptr, 1);
    m_problem->hide();
    showState();
}

void ElementView::ask()
{
    const auto request = m_target ? m_target->request(m_context.bridge) : std::nullopt;
    if (!request)
        return clear();
    const std::uint64_t rows = std::min(Side, m_rows - std::min(m_rows, m_row));
    const std::uint64_t columns = std::min(Side, m_columns - std::min(m_columns, m_column));
    m_question.ask([request, row = m_row, column = m_column, rows,
                    columns](app::Service& service) { return service.elements(*request, row, column, rows, columns); },
                   [this](const Result<app::JobResult>& result) { take(result); });
    showState();
    emit moved();
}

void ElementView::take(const Result<app::JobResult>& result)
{
    if (!result) {
        const app::ProblemView problem = app::problemView(result.error());
        m_problem->setText(
            QStringLiteral("✕ %1 %2. %3")
                .arg(QString::fromStdString(problem.code), safeName(problem.text), safeName(problem.remedy)));
        m_problem->show();
        m_model.setElements(nullptr, 1);
    } else if (const auto* elements = std::get_if<ElementsPointer>(&*result)) {
        m_problem->hide();
        m_model.setElements(*elements, m_columns);
    }
    showState();
}

void ElementView::go(int rows, int columns)
{
    const auto moved = [](std::uint64_t at, int by, std::uint64_t size) {
        if (by < 0)
            return at > Side ? at - Side : 0;
        return by > 0 && at + Side < size ? at + Side : at;
    };
    m_row = moved(m_row, rows, m_rows);
    m_column = moved(m_column, columns, m_columns);
    ask();
}

void ElementView::copy() { QApplication::clipboard()->setText(m_model.asTsv()); }

QString ElementView::place() const
{
    return tr("rows from %1, columns from %2").arg(exactText(m_row), exactText(m_column));
}

void ElementView::showState()
{
    m_moves[0]->setEnabled(m_target && m_row > 0);
    m_moves[1]->setEnabled(m_target && m_row + Side < m_rows);
    m_moves[2]->setEnabled(m_target && m_column > 0);
    m_moves[3]->setEnabled(m_target && m_column + Side < m_columns);
    const ElementsPointer& shown = m_model.elements();
    m_reads->setReads(shown ? shown->reads : app::ReadsView());
    if (!shown) {
        m_says->setText(m_question.isRunning() ? tr("Reading the elements…") : QString());
        return;
    }
    const QString count = pluralText(static_cast<std::uint64_t>(m_model.elementCount()), tr("element"));
    m_says->setText(shown->a ? tr("Step %1 against %2: %3 of %4 changed")
                                   .arg(shown->step)
                                   .arg(*shown->a)
                                   .arg(exactText(static_cast<std::uint64_t>(m_model.changedCount())), count)
                             : tr("Step %1, compared with nothing: %2").arg(shown->step).arg(count));
}

} // namespace deltascope::desktop
