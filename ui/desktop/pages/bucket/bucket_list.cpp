#include "pages/bucket/bucket_list.h"

#include "actions/action_registry.h"
#include "look/icon.h"
#include "look/look.h"
#include "look/tokens.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QStyledItemDelegate>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace deltascope::desktop {

namespace {

constexpr int IconSide = 16;
constexpr int LeastName = 180; ///< else the other columns become narrow

struct ColumnWidth {
    BucketWish::Column column;
    int wide;
    int narrow;
};
constexpr ColumnWidth Widths[] = { { BucketWish::Kind, 120, 72 },     { BucketWish::Step, 84, 60 },
                                   { BucketWish::Size, 96, 76 },      { BucketWish::NeededBy, 104, 84 },
                                   { BucketWish::Modified, 120, 88 }, { BucketWish::State, 140, 112 } };

/// Cells without the style sheet in between: a screen of them takes a fraction of a millisecond.
class ObjectCell final : public QStyledItemDelegate {
public:
    explicit ObjectCell(BucketList& list)
        : QStyledItemDelegate(&list)
        , m_list(list)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return { 40, metrics().row }; }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const app::ListingRowView& row = m_list.objects().row(index.row());
        const bool selected = option.state.testFlag(QStyle::State_Selected);
        painter->fillRect(option.rect, color(selected ? Token::Selection : Token::Surface));
        painter->setPen(color(Token::Grid));
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
        const bool first = index.column() == BucketWish::Name;
        const bool last = index.column() == BucketWish::State;
        QRect room = option.rect.adjusted(first ? FlatList::EdgePadding : FlatList::CellPadding, 0,
                                          last ? -FlatList::EdgePadding : -FlatList::CellPadding, 0);
        if (first) {
            const QColor ink = color(row.folder ? Token::Text : Token::Muted);
            const QPixmap picture = iconPixmap(row.folder ? QStringLiteral("folder") : QStringLiteral("list"), ink,
                                               IconSide, painter->device()->devicePixelRatioF());
            painter->drawPixmap(room.left(), room.center().y() - IconSide / 2 + 1, picture);
            room.setLeft(room.left() + IconSide + 8);
        }
        paintText(*painter, room, index, row);
        if (option.state.testFlag(QStyle::State_HasFocus))
            paintFocus(*painter, option.rect, index);
    }

private:
    void paintText(QPainter& painter, QRect room, const QModelIndex& index, const app::ListingRowView& row) const
    {
        QString text = index.data().toString();
        const bool bold = row.step && row.step == m_list.step()
            && (index.column() == BucketWish::Name || index.column() == BucketWish::Step);
        painter.setFont(typeFont(bold ? Type::TableTitle : Type::Table));
        const bool quiet = index.column() == BucketWish::Kind || index.column() == BucketWish::Modified
            || (index.column() == BucketWish::Step && !row.step) || (row.folder && index.column() == BucketWish::Size);
        Token ink = quiet ? Token::Muted : Token::Text;
        if (index.column() == BucketWish::State && row.state == "broken")
            ink = Token::Error;
        const QFontMetrics measure = painter.fontMetrics();
        if (index.column() == BucketWish::State && row.state == "complete") {
            const QString dot = text.left(1);
            painter.setPen(color(Token::Ok));
            painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, dot);
            room.setLeft(room.left() + measure.horizontalAdvance(dot));
            text.remove(0, 1);
        }
        painter.setPen(color(ink));
        const int align = index.data(Qt::TextAlignmentRole).value<Qt::Alignment>();
        const Qt::TextElideMode elide = index.column() == BucketWish::Name ? Qt::ElideMiddle : Qt::ElideRight;
        painter.drawText(room, align | Qt::TextSingleLine, measure.elidedText(text, elide, room.width()));
    }

    void paintFocus(QPainter& painter, const QRect& cell, const QModelIndex& index) const
    {
        if (index.column() != BucketWish::Name)
            return;
        painter.fillRect(QRect(cell.left(), cell.top(), 3, cell.height()), color(Token::Accent));
    }

    BucketList& m_list;
};

}

BucketList::BucketList(QWidget* parent)
    : FlatList(parent)
    , m_model(new BucketModel(this))
{
    setModel(m_model);
    setItemDelegate(new ObjectCell(*this));
    setAccessibleName(tr("Objects"));
    setProperty(FiltersByTyping, true);
    setAllColumnsShowFocus(true);
    header()->setSectionsClickable(true);
    header()->setSortIndicatorShown(true);
    header()->setSortIndicator(BucketWish::Name, Qt::AscendingOrder);
    header()->setMinimumSectionSize(48);
    header()->setSectionResizeMode(BucketWish::Name, QHeaderView::Stretch);
    connect(header(), &QHeaderView::sortIndicatorChanged, this,
            [this](int column, Qt::SortOrder order) { emit sortWanted(column, order == Qt::DescendingOrder); });
    connect(this, &QAbstractItemView::doubleClicked, this, &BucketList::opened);
}

void BucketList::showPicture(BucketPointer picture)
{
    const bool sameFolder = m_model->picture() && picture && m_model->picture()->prefix == picture->prefix;
    const app::ListingRowView* before = sameFolder ? current() : nullptr;
    const std::string key = before ? before->key : std::string();
    const int scroll = sameFolder ? verticalScrollBar()->value() : 0;
    {
        const QScopedValueRollback busy(m_busy, true);
        m_model->show(std::move(picture));
        const QModelIndex again = key.empty() ? QModelIndex() : m_model->indexOf(key);
        if (again.isValid() && currentIndex().row() != again.row())
            selectionModel()->setCurrentIndex(again, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        executeDelayedItemsLayout();
        verticalScrollBar()->setValue(scroll);
    }
    const app::ListingRowView* now = current();
    if (!sameFolder || (now ? now->key : std::string()) != key)
        emit currentMoved();
}

void BucketList::setStep(std::optional<std::int64_t> step)
{
    if (m_step == step)
        return;
    m_step = step;
    viewport()->update();
}

const app::ListingRowView* BucketList::current() const
{
    const QModelIndex index = currentIndex();
    return index.isValid() && index.row() < m_model->rowCount() ? &m_model->row(index.row()) : nullptr;
}

void BucketList::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    FlatList::currentChanged(current, previous);
    if (!m_busy)
        emit currentMoved();
}

void BucketList::keyPressEvent(QKeyEvent* event)
{
    const bool plain = (event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::NoModifier;
    if (event->matches(QKeySequence::Copy)) {
        if (const QString text = selectedText(BucketWish::Name); !text.isEmpty())
            QApplication::clipboard()->setText(text);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (currentIndex().isValid())
            emit opened(currentIndex());
        return;
    case Qt::Key_Backspace:
        emit upWanted();
        return;
    case Qt::Key_Space:
        emit previewWanted();
        return;
    default:
        break;
    }
    const QString text = event->text();
    if (plain && !text.isEmpty() && text.front().isPrint()) {
        emit typed(text);
        return;
    }
    FlatList::keyPressEvent(event);
}

void BucketList::contextMenuEvent(QContextMenuEvent* event)
{
    const bool keyboard = event->reason() == QContextMenuEvent::Keyboard;
    const QModelIndex index = keyboard ? currentIndex() : indexAt(event->pos());
    if (index.isValid())
        emit menuWanted(index, keyboard ? viewport()->mapToGlobal(visualRect(index).bottomLeft()) : event->globalPos());
}

void BucketList::resizeEvent(QResizeEvent* event)
{
    FlatList::resizeEvent(event);
    const double scale = typeFont(Type::Table).pixelSize() / 12.0;
    const int wide = std::accumulate(std::begin(Widths), std::end(Widths), LeastName,
                                     [](int sum, const ColumnWidth& width) { return sum + width.wide; });
    const bool narrow = viewport()->width() < qRound(wide * scale);
    for (const ColumnWidth& width : Widths)
        header()->resizeSection(width.column, qRound((narrow ? width.narrow : width.wide) * scale));
}

} // namespace deltascope::desktop
