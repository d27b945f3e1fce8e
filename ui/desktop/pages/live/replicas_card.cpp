#include "pages/live/replicas_card.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"
#include "widgets/cards.h"
#include "widgets/table_header.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace deltascope::desktop {

namespace {

/// Lags as small bars, the newest at the right.
class LagStrip final : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem blank = option;
        initStyleOption(&blank, index);
        blank.text.clear();
        const QWidget* widget = option.widget;
        (widget ? widget->style() : QApplication::style())
            ->drawControl(QStyle::CE_ItemViewItem, &blank, painter, widget);
        const QVariantList lags = index.data(ReplicaModel::HistoryRole).toList();
        const QRect room = option.rect.adjusted(6, 6, -6, -6);
        painter->fillRect(QRect(room.left(), room.bottom(), room.width(), 1), color(Token::StrongBorder));
        qlonglong most = 4; // small lags look small
        for (const QVariant& lag : lags)
            most = std::max(most, lag.toLongLong());
        const double each = static_cast<double>(room.width()) / ReplicaModel::HistoryLength;
        const double begin = room.right() + 1 - each * static_cast<double>(lags.size());
        for (qsizetype i = 0; i < lags.size(); ++i) {
            const double share = static_cast<double>(lags[i].toLongLong()) / static_cast<double>(most);
            const double height = share <= 0 ? 0 : std::max(2.0, share * room.height());
            const double left = std::round(begin + static_cast<double>(i) * each); // one outline, without seams
            const double right = std::round(begin + static_cast<double>(i + 1) * each);
            painter->fillRect(QRectF(left, room.bottom() + 1 - std::round(height), right - left, std::round(height)),
                              color(Token::Text));
        }
    }
};

/// The least important columns first: hidden where there is no room.
constexpr std::array<int, 4> Spare { ReplicaModel::Engine, ReplicaModel::Paused, ReplicaModel::Contact,
                                     ReplicaModel::History };

}

ReplicasCard::ReplicasCard(QWidget* parent)
    : QFrame(parent)
    , m_model(new ReplicaModel(this))
    , m_list(new QTableView)
    , m_nothing(new QWidget)
{
    setRole(this, "card");
    TableHeader::give(*m_list);
    m_list->setModel(m_model);
    m_list->setItemDelegateForColumn(ReplicaModel::History, new LagStrip(this));
    m_list->setAccessibleName(tr("Replicas, the worst first"));
    m_list->setShowGrid(false);
    m_list->setWordWrap(false);
    m_list->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setTabKeyNavigation(false);
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    m_list->verticalHeader()->hide();
    m_list->verticalHeader()->setDefaultSectionSize(metrics().row);
    m_list->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_list->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    connect(m_list, &QTableView::customContextMenuRequested, this, &ReplicasCard::showMenu);
    connect(m_list, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (const auto& step = m_model->replica(index.row()).replica.step)
            emit timelineWanted(*step);
    });

    auto* words = new QVBoxLayout(m_nothing);
    words->setContentsMargins(12, 8, 12, 8);
    words->addWidget(makeLabel(tr("Replicas"), "title"));
    words->addStretch(1);
    words->addWidget(makeLabel(tr("No replica has reported"), "body"), 0, Qt::AlignHCenter);
    words->addWidget(makeLabel(tr("Replicas that write heartbeats beside the run are shown here."), "label"), 0,
                     Qt::AlignHCenter);
    words->addStretch(2);
    m_list->hide();
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(1, 1, 1, 4);
    all->setSpacing(0);
    all->addWidget(m_list, 1);
    all->addWidget(m_nothing, 1);
}

void ReplicasCard::setReplicas(std::vector<app::ReplicaHistoryView> replicas)
{
    m_list->setVisible(!replicas.empty());
    m_nothing->setVisible(replicas.empty());
    m_model->setReplicas(std::move(replicas));
    fitColumns();
}

void ReplicasCard::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    fitColumns();
}

void ReplicasCard::fitColumns()
{
    if (m_model->rowCount() == 0)
        return;
    constexpr int StripWidth = 124;
    std::array<int, ReplicaModel::ColumnCount> widths {};
    int all = 0;
    const QFontMetrics strong = [] {
        QFont font = typeFont(Type::Table);
        font.setWeight(QFont::DemiBold);
        return QFontMetrics(font);
    }();
    const QFontMetrics head(typeFont(Type::Label));
    for (int column = 0; column < ReplicaModel::ColumnCount; ++column) {
        int width = head.horizontalAdvance(m_model->headerData(column, Qt::Horizontal).toString());
        for (int row = 0; row < std::min(50, m_model->rowCount()) && column != ReplicaModel::History; ++row)
            width = std::max(width, strong.horizontalAdvance(m_model->index(row, column).data().toString()));
        widths[static_cast<std::size_t>(column)] = column == ReplicaModel::History ? StripWidth : width + 22;
        all += widths[static_cast<std::size_t>(column)];
    }
    const int room = width() - 4;
    int hidden = 0;
    for (const int column : Spare) {
        const bool hide = all > room;
        m_list->setColumnHidden(column, hide);
        if (hide)
            all -= widths[static_cast<std::size_t>(column)];
        hidden += hide;
    }
    const int spare = std::max(0, room - all) / (ReplicaModel::ColumnCount - hidden);
    for (int column = 0; column < ReplicaModel::ColumnCount; ++column)
        m_list->setColumnWidth(column, widths[static_cast<std::size_t>(column)] + spare);
}

void ReplicasCard::showMenu(const QPoint& at)
{
    const QModelIndex index = m_list->indexAt(at);
    if (!index.isValid())
        return;
    const app::ReplicaView replica = m_model->replica(index.row()).replica;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QAction* go = menu->addAction(tr("Show its step on the timeline"), this,
                                  [this, replica] { emit timelineWanted(*replica.step); });
    go->setEnabled(replica.step.has_value());
    menu->addAction(tr("Copy id"), this,
                    [replica] { QApplication::clipboard()->setText(QString::fromStdString(replica.id)); });
    menu->popup(m_list->viewport()->mapToGlobal(at));
}

} // namespace deltascope::desktop
