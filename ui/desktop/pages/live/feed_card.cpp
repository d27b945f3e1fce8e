#include "pages/live/feed_card.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QTableView>

namespace deltascope::desktop {

void FeedModel::setFeed(std::vector<app::FeedItemView> feed, std::int64_t nowUs)
{
    const bool same =
        std::equal(feed.begin(), feed.end(), m_feed.begin(), m_feed.end(),
                   [](const auto& a, const auto& b) { return a.tUs == b.tUs && a.kind == b.kind && a.text == b.text; });
    m_nowUs = nowUs;
    if (same)
        return; // the selection and the place stay
    beginResetModel();
    m_feed = std::move(feed);
    endResetModel();
}

int FeedModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_feed.size());
}

int FeedModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant FeedModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const app::FeedItemView& item = this->item(index.row());
    const bool problem = item.kind == "problem";
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() == Time)
            return clockText(item.tUs, m_nowUs);
        return (problem ? QStringLiteral("✕ ") : QString()) + shortened(safeName(item.text), 200);
    case Qt::ToolTipRole:
        return index.column() == Time ? fullTimeText(item.tUs) : safeName(item.text);
    case Qt::ForegroundRole:
        if (index.column() == Time)
            return color(Token::Muted);
        return problem ? QVariant(color(Token::Error)) : QVariant();
    default:
        return {};
    }
}

FeedCard::FeedCard(QWidget* parent)
    : Card(tr("Events"), parent)
    , m_model(new FeedModel(this))
    , m_list(new QTableView)
    , m_nothing(makeLabel(tr("Nothing has happened yet"), "muted"))
{
    QLabel* order = makeLabel(tr("newest first"), "label");
    header()->addWidget(order);
    header()->setContentsMargins(12, 0, 12, 0);
    m_list->setModel(m_model);
    m_list->setAccessibleName(tr("Events, newest first"));
    m_list->setFont(typeFont(Type::Table));
    m_list->setShowGrid(false);
    m_list->setWordWrap(false);
    m_list->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setTabKeyNavigation(false);
    m_list->horizontalHeader()->hide();
    m_list->horizontalHeader()->setSectionResizeMode(FeedModel::Time, QHeaderView::ResizeToContents);
    m_list->horizontalHeader()->setStretchLastSection(true);
    m_list->verticalHeader()->hide();
    m_list->verticalHeader()->setMinimumSectionSize(20);
    m_list->verticalHeader()->setDefaultSectionSize(24);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_nothing->setAlignment(Qt::AlignCenter);
    m_nothing->hide();
    connect(m_list, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (const std::optional<std::int64_t> step = m_model->item(index.row()).step)
            emit stepWanted(*step);
    });
    content()->setContentsMargins(6, 0, 6, 6);
    content()->addWidget(m_list, 1);
    content()->addWidget(m_nothing, 1);
}

void FeedCard::setFeed(std::vector<app::FeedItemView> feed, std::int64_t nowUs)
{
    m_list->setVisible(!feed.empty());
    m_nothing->setVisible(feed.empty());
    m_model->setFeed(std::move(feed), nowUs);
}

} // namespace deltascope::desktop
