#include "pages/lineage/lineage_tree.h"

#include "look/look.h"
#include "look/tokens.h"
#include "pages/lineage/chain_painter.h"

#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QMouseEvent>
#include <QPainter>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QStyledItemDelegate>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int NarrowWidth = 820;

/// Lines are painted whole; all that a cell has to say is how high it is.
class LineHeight final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return { 40, metrics().row }; }
};

/// Of the columns between the chain and the names, at 100 %.
struct ColumnWidth {
    LineageModel::Column column;
    int wide;
    int narrow;
};
constexpr ColumnWidth Widths[] = {
    { LineageModel::Step, 92, 76 },      { LineageModel::Kind, 104, 78 }, { LineageModel::Age, 68, 56 },
    { LineageModel::Changed, 80, 70 },   { LineageModel::Bytes, 80, 68 }, { LineageModel::Verified, 112, 68 },
    { LineageModel::Restore, 220, 128 },
};

}

LineageTree::LineageTree(QWidget* parent)
    : FlatList(parent)
    , m_model(new LineageModel(this))
{
    setModel(m_model);
    setItemDelegate(new LineHeight(this));
    setAccessibleName(tr("Versions, newest first"));
    setAutoScroll(false); // B moves without taking the view along
    setMouseTracking(true);
    header()->setMinimumSectionSize(40);
    header()->setSectionResizeMode(QHeaderView::Interactive);
    header()->setSectionResizeMode(LineageModel::Refs, QHeaderView::Stretch);
}

void LineageTree::showPicture(LineagePointer picture, std::optional<StepId> a, std::optional<StepId> b)
{
    const bool other = !m_model->picture() || !picture || m_model->picture()->snapshot().id != picture->snapshot().id;
    const std::optional<std::size_t> oldB = m_model->b();
    const std::optional<StepId> before = oldB ? std::optional(m_model->picture()->idOf(*oldB)) : std::nullopt;
    if (other)
        m_model->forgetFolding();
    // A new anchor would fold the chain that the user may be reading.
    if (verticalScrollBar()->value() > 0 || selectionModel()->selectedRows().size() > 1)
        m_model->keepNewestOpen();
    const int lanes = picture ? picture->lanes() : 1;
    keepingView(Hold::Top, [&] { m_model->show(std::move(picture), a, b); });
    if (other)
        scrollToTop();
    selectB(before);
    const int width = std::max(chainWidth(lanes), 68);
    if (header()->sectionSize(LineageModel::Chain) != width)
        header()->resizeSection(LineageModel::Chain, width);
}

void LineageTree::setMarks(std::optional<StepId> a, std::optional<StepId> b, bool reveal)
{
    if (!m_model->picture())
        return;
    const std::optional<std::size_t> oldB = m_model->b();
    const std::optional<StepId> before = oldB ? std::optional(m_model->picture()->idOf(*oldB)) : std::nullopt;
    keepingView(Hold::Current, [&] { m_model->setMarks(a, b); });
    selectB(before);
    if (reveal && b && before != b) {
        scrollTo(m_model->indexOf(*b));
    }
}

void LineageTree::setOpen(std::size_t chain, bool open)
{
    keepingView(Hold::Top, [&] { m_model->setOpen(chain, open); });
}

void LineageTree::setAllOpen(bool open)
{
    keepingView(Hold::Current, [&] { m_model->setAllOpen(open); });
}

/// Runs a change of the rows. The row that is held stays where it is on screen, and selected and current rows survive
/// even a reset of the model.
void LineageTree::keepingView(Hold hold, const std::function<void()>& change)
{
    const QScopedValueRollback busy(m_busy, true);
    executeDelayedItemsLayout();
    const bool atTop = verticalScrollBar()->value() == 0;
    const QModelIndex current = currentIndex();
    const bool holdCurrent = hold == Hold::Current && current.isValid() && isInSight(current.row());
    const QModelIndex held = holdCurrent ? current : indexAt(QPoint(1, 1));
    const int y = held.isValid() ? topOf(held.row()) : 0;
    const std::optional<LineageItem> heldItem =
        held.isValid() ? std::optional(m_model->item(held.row())) : std::nullopt;
    const std::optional<LineageItem> currentItem =
        current.isValid() ? std::optional(m_model->item(current.row())) : std::nullopt;
    std::vector<LineageItem> selected;
    for (const QModelIndex& index : selectionModel()->selectedRows())
        selected.push_back(m_model->item(index.row()));

    bool reset = false;
    const QMetaObject::Connection watch =
        connect(m_model, &QAbstractItemModel::modelReset, this, [&reset] { reset = true; });
    change();
    disconnect(watch);
    executeDelayedItemsLayout();

    const auto find = [this](const LineageItem& wanted) {
        const auto& items = m_model->items();
        const auto at = std::lower_bound(items.begin(), items.end(), wanted,
                                         [](const LineageItem& x, const LineageItem& y) { return x.isAbove(y); });
        const bool there = at != items.end() && at->isSame(wanted);
        return there ? m_model->index(static_cast<int>(at - items.begin()), 0) : QModelIndex();
    };
    if (reset) {
        if (currentItem)
            selectionModel()->setCurrentIndex(find(*currentItem), QItemSelectionModel::NoUpdate);
        for (const LineageItem& item : selected)
            selectionModel()->select(find(item), QItemSelectionModel::Select | QItemSelectionModel::Rows);
    }
    m_hoveredLine = -1;
    m_hovered = {};
    if ((atTop && !holdCurrent) || !heldItem)
        return;
    const QModelIndex now = find(*heldItem);
    if (now.isValid())
        verticalScrollBar()->setValue(verticalScrollBar()->value() + topOf(now.row()) - y);
}

/// The selection follows B unless the user has selected something else.
void LineageTree::selectB(std::optional<StepId> before)
{
    const QScopedValueRollback busy(m_busy, true);
    const QModelIndexList selected = selectionModel()->selectedRows();
    const bool untouched =
        selected.isEmpty() || (selected.size() == 1 && (!before || m_model->versionOf(selected.front()) == before));
    const QModelIndex b = m_model->b() ? m_model->indexOf(m_model->picture()->idOf(*m_model->b())) : QModelIndex();
    if (!untouched || !b.isValid() || (selected.size() == 1 && selected.front() == b && currentIndex() == b))
        return;
    selectionModel()->setCurrentIndex(b, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

std::vector<std::size_t> LineageTree::selectedRows() const
{
    std::vector<std::size_t> rows;
    for (const QModelIndex& index : selectionModel()->selectedRows()) {
        if (m_model->versionOf(index))
            rows.push_back(m_model->item(index.row()).row);
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::optional<StepId> LineageTree::stepAtCursor() const
{
    if (m_hoveredLine >= 0 && m_hoveredLine < m_model->rowCount()) {
        if (const std::optional<StepId> step = m_model->versionOf(m_model->index(m_hoveredLine, 0)))
            return step;
    }
    return m_model->versionOf(currentIndex());
}

void LineageTree::drawRow(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const bool current = index.row() == currentIndex().row();
    QRect rect = option.rect;
    rect.setLeft(0);
    rect.setWidth(std::max(viewport()->width(), header()->length()));
    m_rows.paint(*painter,
                 { index.row(), rect, selectionModel()->isRowSelected(index.row(), {}), index.row() == m_hoveredLine,
                   current && m_keyboard && hasFocus() },
                 *m_model, *header(), m_hovered);
}

void LineageTree::paintEvent(QPaintEvent* event)
{
    QElapsedTimer clock;
    clock.start();
    FlatList::paintEvent(event);
    m_lastPaintMs = static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

bool LineageTree::toggle(const QModelIndex& index)
{
    if (!index.isValid() || m_model->item(index.row()).kind == LineageItem::Kind::Restart)
        return false;
    const LineageItem item = m_model->item(index.row());
    if (!LineageFolding::canFold(*m_model->picture(), item.chain))
        return false;
    const bool open = item.kind == LineageItem::Kind::Fold;
    setOpen(item.chain, open);
    const std::size_t row = m_model->picture()->chains()[item.chain].from;
    if (const std::optional<std::size_t> at = itemOfRow(m_model->items(), *m_model->picture(), row))
        selectionModel()->setCurrentIndex(m_model->index(static_cast<int>(*at), 0), QItemSelectionModel::NoUpdate);
    return true;
}

void LineageTree::mousePressEvent(QMouseEvent* event)
{
    const QScopedValueRollback busy(m_busy, true);
    m_keyboard = false;
    const QModelIndex index = indexAt(event->position().toPoint());
    if (!index.isValid()) { // beside the rows nothing happens, least of all to the selection
        event->accept();
        return;
    }
    const LineageItem& item = m_model->item(index.row());
    const bool left = event->button() == Qt::LeftButton;
    const std::optional<StepId> step = m_model->versionOf(index);
    const bool onTriangle = LineageRows::triangle(visualRect(index), *header()).contains(event->position().toPoint())
        && item.kind == LineageItem::Kind::Row && m_model->picture()->chains()[item.chain].from == item.row;
    if (left && (item.kind == LineageItem::Kind::Fold || onTriangle) && toggle(index))
        return;
    if (left && event->modifiers().testFlag(Qt::ShiftModifier)) {
        if (step)
            emit choseToCompare(*step);
        return;
    }
    if (event->button() == Qt::RightButton && selectionModel()->isRowSelected(index.row(), {}))
        return; // the menu is about all that is selected
    FlatList::mousePressEvent(event);
    if (step && event->modifiers() == Qt::NoModifier && event->button() != Qt::MiddleButton)
        emit chose(*step);
}

void LineageTree::mouseDoubleClickEvent(QMouseEvent* event) { mousePressEvent(event); }

void LineageTree::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() != Qt::NoButton) // no rubber band over versions
        return;
    hover(indexAt(event->position().toPoint()));
}

void LineageTree::leaveEvent(QEvent* event)
{
    FlatList::leaveEvent(event);
    hover({});
}

void LineageTree::hover(const QModelIndex& index)
{
    const int line = index.isValid() ? index.row() : -1;
    if (line == m_hoveredLine)
        return;
    m_hoveredLine = line;
    m_hovered = {};
    if (m_model->versionOf(index))
        m_hovered = shownPath(m_model->items(), *m_model->picture(), m_model->item(line).row);
    viewport()->update();
}

void LineageTree::keyPressEvent(QKeyEvent* event)
{
    const QScopedValueRollback busy(m_busy, true);
    m_keyboard = true;
    const QModelIndex current = currentIndex();
    const LineageItem::Kind kind = current.isValid() ? m_model->item(current.row()).kind : LineageItem::Kind::Restart;
    const bool fold = kind == LineageItem::Kind::Fold;
    const bool plain = event->modifiers() == Qt::NoModifier || event->modifiers() == Qt::KeypadModifier;
    if (event->matches(QKeySequence::Copy)) {
        if (const QString text = selectedText(LineageModel::Step); !text.isEmpty())
            QApplication::clipboard()->setText(text);
        return;
    }
    if (plain && ((event->key() == Qt::Key_Right && fold) || (event->key() == Qt::Key_Left && !fold))) {
        toggle(current);
        return;
    }
    if (plain && (event->key() == Qt::Key_Right || event->key() == Qt::Key_Left))
        return;
    if (plain && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
        if (fold)
            toggle(current);
        else if (const std::optional<StepId> step = m_model->versionOf(current))
            emit chose(*step);
        return;
    }
    FlatList::keyPressEvent(event);
    viewport()->update();
    if (currentIndex() != current)
        scrollTo(currentIndex());
    const std::optional<StepId> step = m_model->versionOf(currentIndex());
    if (plain && step && currentIndex() != current)
        emit chose(*step);
}

void LineageTree::contextMenuEvent(QContextMenuEvent* event)
{
    const bool keyboard = event->reason() == QContextMenuEvent::Keyboard;
    const QModelIndex index = keyboard ? currentIndex() : indexAt(event->pos());
    if (index.isValid())
        emit menuWanted(index, keyboard ? viewport()->mapToGlobal(visualRect(index).bottomLeft()) : event->globalPos());
}

void LineageTree::resizeEvent(QResizeEvent* event)
{
    FlatList::resizeEvent(event);
    if (event->oldSize().width() != event->size().width())
        fitColumns();
}

void LineageTree::fitColumns()
{
    const bool narrow = viewport()->width() < NarrowWidth;
    const double scale = typeFont(Type::Table).pixelSize() / 12.0;
    for (const ColumnWidth& width : Widths)
        header()->resizeSection(width.column, qRound((narrow ? width.narrow : width.wide) * scale));
}

void LineageTree::changeEvent(QEvent* event)
{
    FlatList::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        m_rows.lookChanged();
        scheduleDelayedItemsLayout();
    }
}

/// Others move the current row too: then it means B.
void LineageTree::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    FlatList::currentChanged(current, previous);
    const std::optional<StepId> step = m_busy ? std::nullopt : m_model->versionOf(current);
    if (!step)
        return;
    scrollTo(current);
    emit chose(*step);
}

} // namespace deltascope::desktop
