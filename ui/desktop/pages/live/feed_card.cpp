#include "pages/live/feed_card.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QTableView>

#include <algorithm>
#include <optional>

namespace deltascope::desktop {
namespace {

constexpr std::size_t Unsettled = 8; ///< newest rows that a late event may still come between
constexpr int CellRoom = 18; ///< left and right of a cell's text

bool isSame(const app::FeedItemView& a, const app::FeedItemView& b)
{
    return a.tUs == b.tUs && a.kind == b.kind && a.step == b.step && a.text == b.text;
}

/// What stands before the rows that two feeds have in common.
struct Shift {
    std::size_t gone;
    std::size_t come;
};

/// Nothing: they have too little in common. Rows at the end of either may have no like.
std::optional<Shift> shiftOf(const std::vector<app::FeedItemView>& before, const std::vector<app::FeedItemView>& now)
{
    for (std::size_t gone = 0; gone < std::min(Unsettled, before.size()); ++gone) {
        const auto first = std::find_if(now.begin(), now.end(),
                                        [&](const app::FeedItemView& item) { return isSame(item, before[gone]); });
        const auto common =
            std::min<std::ptrdiff_t>(now.end() - first, static_cast<std::ptrdiff_t>(before.size() - gone));
        if (common > 0 && std::equal(first, first + common, before.begin() + static_cast<std::ptrdiff_t>(gone), isSame))
            return Shift { gone, static_cast<std::size_t>(first - now.begin()) };
    }
    return std::nullopt;
}

}

void FeedModel::setFeed(std::vector<app::FeedItemView> feed, std::int64_t nowUs)
{
    m_nowUs = nowUs;
    if (const std::optional<Shift> shift = shiftOf(m_feed, feed)) {
        const std::size_t kept = std::min(m_feed.size() - shift->gone, feed.size() - shift->come);
        replaceRows(0, shift->gone, shift->come, feed);
        replaceRows(shift->come + kept, m_feed.size() - shift->come - kept, feed.size() - shift->come - kept, feed);
        return;
    }
    beginResetModel();
    m_feed = std::move(feed);
    endResetModel();
}

/// `gone` rows from `first` on become the `come` ones that stand there in `feed`.
void FeedModel::replaceRows(std::size_t first, std::size_t gone, std::size_t come,
                            const std::vector<app::FeedItemView>& feed)
{
    const auto at = static_cast<std::ptrdiff_t>(first);
    const auto row = static_cast<int>(first);
    if (gone > 0) {
        beginRemoveRows({}, row, row + static_cast<int>(gone) - 1);
        m_feed.erase(m_feed.begin() + at, m_feed.begin() + at + static_cast<std::ptrdiff_t>(gone));
        endRemoveRows();
    }
    if (come > 0) {
        beginInsertRows({}, row, row + static_cast<int>(come) - 1);
        m_feed.insert(m_feed.begin() + at, feed.begin() + at, feed.begin() + at + static_cast<std::ptrdiff_t>(come));
        endInsertRows();
    }
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
    m_list->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
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
    if (!feed.empty()) // the oldest is the first to need its date
        fitTime(clockText(feed.back().tUs, nowUs));
    m_model->setFeed(std::move(feed), nowUs);
}

void FeedCard::fitTime(const QString& longest)
{
    const QFontMetrics metrics(typeFont(Type::Table));
    const int width =
        CellRoom + std::max(metrics.horizontalAdvance(QStringLiteral("00:00:00")), metrics.horizontalAdvance(longest));
    if (m_list->columnWidth(FeedModel::Time) != width)
        m_list->setColumnWidth(FeedModel::Time, width);
}

} // namespace deltascope::desktop
