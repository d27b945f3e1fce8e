#include "pages/diff/diff_tensors.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "pages/diff/sort_command.h"
#include "pages/heatmap/block_view.h"
#include "widgets/cards.h"
#include "widgets/filter_field.h"
#include "widgets/share_delegate.h"
#include "widgets/table_header.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QUndoStack>

namespace deltascope::desktop {

namespace {

constexpr int NameWidth = 260; // at least
constexpr int SideWidth = 420;
constexpr int LeastBlocks = 400; // pixels of height
constexpr int ShareWidth = 200;
constexpr int SampledRows = 60; // that columns are as wide as

QTableView* makeTable(QAbstractItemModel* model)
{
    auto* table = new QTableView;
    TableHeader::give(*table);
    table->setModel(model);
    table->setAccessibleName(DiffTensors::tr("Tensors of the comparison"));
    table->setFont(typeFont(Type::Table));
    table->setItemDelegate(new ShareDelegate(table));
    table->setShowGrid(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setTabKeyNavigation(false);
    table->setWordWrap(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setMinimumSectionSize(metrics().row);
    table->verticalHeader()->setDefaultSectionSize(metrics().row);
    QHeaderView* header = table->horizontalHeader();
    header->setSortIndicatorShown(true);
    header->setResizeContentsPrecision(SampledRows);
    return table;
}

}

DiffTensors::DiffTensors(PageContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_rows(m_model)
    , m_filter(new FilterField(DiffTable::fields(), context.viewUndo))
    , m_table(makeTable(&m_rows))
    , m_splitter(new QSplitter(Qt::Horizontal))
    , m_footer(makeLabel({}, "muted"))
    , m_hint(makeLabel(tr("Enter shows the differences by block"), "muted"))
{
    m_filter->setPlaceholderText(tr("Filter: name, dtype:bf16, different:>1000"));
    m_filter->setAccessibleName(tr("Filter the tensors"));
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* filterRow = new QHBoxLayout;
    filterRow->setContentsMargins(16, 0, 16, 8);
    filterRow->addWidget(m_filter);
    column->addLayout(filterRow);
    auto* tableRow = new QHBoxLayout;
    tableRow->setContentsMargins(8, 0, 0, 0);
    tableRow->addWidget(m_table);
    column->addLayout(tableRow, 1);
    column->addWidget(makeLine());
    auto* footer = new QHBoxLayout;
    footer->setContentsMargins(16, 6, 16, 6);
    footer->addWidget(m_footer, 1);
    footer->addWidget(m_hint);
    column->addLayout(footer);
    m_splitter->addWidget(left);
    m_splitter->setChildrenCollapsible(false);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(m_splitter);

    m_table->installEventFilter(this);
    connect(m_filter, &FilterField::queryChanged, this, [this] {
        m_rows.setQuery(m_filter->query());
        showFound();
    });
    connect(m_table->horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int section) {
        const bool number = m_model.content().columns[static_cast<std::size_t>(section)].number;
        Qt::SortOrder order = number ? Qt::DescendingOrder : Qt::AscendingOrder; // what is most is looked for
        if (section == m_rows.sortColumn())
            order = m_rows.sortOrder() == Qt::AscendingOrder ? Qt::DescendingOrder : Qt::AscendingOrder;
        m_context.viewUndo.push(new SortCommand(&m_rows, section, order));
    });
    connect(&m_rows, &QAbstractItemModel::layoutChanged, this,
            [this] { m_table->horizontalHeader()->setSortIndicator(m_rows.sortColumn(), m_rows.sortOrder()); });
    connect(m_table, &QTableView::doubleClicked, this, &DiffTensors::open);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &DiffTensors::showCurrent);
}

void DiffTensors::setContent(const QString& key, DiffTable::Content content, const StepId& a, const StepId& b)
{
    const bool fresh = key != m_key;
    const std::string chosen = nameAt(m_table->currentIndex());
    m_key = key;
    m_a = a;
    m_b = b;
    const int sortColumn = fresh ? content.sortColumn : m_rows.sortColumn();
    const Qt::SortOrder order = fresh ? content.sortOrder : m_rows.sortOrder();
    m_model.setContent(std::move(content));
    if (fresh && !m_filter->text().isEmpty()) {
        m_filter->reset();
        m_rows.setQuery(m_filter->query());
    }
    m_rows.sort(sortColumn, order);
    QHeaderView* header = m_table->horizontalHeader();
    for (int i = 0; i < m_model.columnCount(); ++i) {
        const bool share = m_model.content().columns[static_cast<std::size_t>(i)].share;
        header->setSectionResizeMode(i,
                                     i == 0      ? QHeaderView::Stretch
                                         : share ? QHeaderView::Interactive
                                                 : QHeaderView::ResizeToContents);
        if (share)
            header->resizeSection(i, ShareWidth);
    }
    header->setMinimumSectionSize(48);
    if (const int row = m_model.rowOf(chosen); row >= 0)
        m_table->setCurrentIndex(m_rows.mapFromSource(m_model.index(row, 0)));
    else if (m_rows.rowCount() > 0)
        m_table->setCurrentIndex(m_rows.index(0, 0));
    showFound();
    showCurrent();
}

void DiffTensors::setOpens(bool opens)
{
    m_opens = opens;
    m_hint->setVisible(opens);
    if (!opens)
        closeBlocks();
}

std::string DiffTensors::nameAt(const QModelIndex& row) const
{
    const QModelIndex source = m_rows.mapToSource(row);
    return source.isValid() ? m_model.nameOf(source.row()) : std::string();
}

void DiffTensors::showFound()
{
    const auto found = static_cast<std::uint64_t>(m_rows.rowCount());
    const auto all = static_cast<std::uint64_t>(m_model.rowCount());
    m_filter->setFound(found, all);
    m_footer->setText(found == all
                          ? pluralText(all, tr("tensor"), tr("tensors"))
                          : tr("%1 of %2").arg(exactText(found), pluralText(all, tr("tensor"), tr("tensors"))));
}

bool DiffTensors::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_table || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
        open(m_table->currentIndex());
        return true;
    }
    if (key == Qt::Key_Escape && m_side && m_side->isVisible()) {
        closeBlocks();
        return true;
    }
    return false;
}

void DiffTensors::open(const QModelIndex& row)
{
    const std::string name = nameAt(row);
    if (!m_opens || name.empty())
        return;
    if (!m_blocks) {
        m_side = new QWidget;
        m_blocksTitle = makeLabel({}, "title");
        m_blocks = new BlockView(m_context);
        auto* close = new QToolButton;
        close->setIcon(icon(QStringLiteral("close")));
        close->setToolTip(tr("Close"));
        close->setAccessibleName(tr("Close the blocks"));
        connect(close, &QToolButton::clicked, this, &DiffTensors::closeBlocks);
        auto* head = new QHBoxLayout;
        head->setContentsMargins(16, 4, 8, 4);
        head->addWidget(m_blocksTitle, 1);
        head->addWidget(close);
        auto* column = new QVBoxLayout(m_side);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(0);
        column->addLayout(head);
        m_blocks->setMinimumHeight(LeastBlocks);
        auto* scroll = new QScrollArea; // in a low window
        scroll->setWidget(m_blocks);
        scroll->setWidgetResizable(true);
        scroll->setFrameShape(QFrame::NoFrame);
        scroll->setFocusPolicy(Qt::NoFocus);
        column->addWidget(scroll, 1);
        m_splitter->addWidget(m_side);
        m_splitter->setStretchFactor(0, 1);
        m_splitter->setSizes({ std::max(NameWidth, width() - SideWidth), SideWidth });
        connect(m_blocks, &BlockView::upWanted, this, &DiffTensors::closeBlocks);
        connect(m_blocks, &BlockView::elementsWanted, this,
                [this] { m_context.actions.trigger(QStringLiteral("go.tensors")); });
    }
    m_side->show();
    m_context.cursor.setTensor(name);
    showCurrent();
}

void DiffTensors::closeBlocks()
{
    if (!m_side || !m_side->isVisibleTo(this))
        return;
    m_side->hide();
    m_table->setFocus(Qt::OtherFocusReason);
}

void DiffTensors::showCurrent()
{
    if (!m_side || !m_side->isVisibleTo(this))
        return;
    const std::string name = nameAt(m_table->currentIndex());
    if (name.empty())
        return;
    m_blocksTitle->setText(shortened(safeName(name), 56));
    m_blocksTitle->setToolTip(safeName(name));
    m_blocks->setPair(name, m_b, m_a);
}

} // namespace deltascope::desktop
