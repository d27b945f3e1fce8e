#pragma once

#include "deltascope/app/view/summary_view.h"
#include "widgets/cards.h"

#include <QAbstractTableModel>

class QTableView;

namespace deltascope::desktop {

/// What happened in a run, newest first: time and text. GUI thread.
class FeedModel final : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Time, Text, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;

    /// Rows that were there before stay, with their selection.
    void setFeed(std::vector<app::FeedItemView> feed, std::int64_t nowUs);
    const app::FeedItemView& item(int row) const { return m_feed[static_cast<std::size_t>(row)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

private:
    void replaceRows(std::size_t first, std::size_t gone, std::size_t come, const std::vector<app::FeedItemView>& feed);

    std::vector<app::FeedItemView> m_feed;
    std::int64_t m_nowUs = 0;
};

/// The feed in a card; Enter or a double click goes to the step of an event.
class FeedCard final : public Card {
    Q_OBJECT

public:
    explicit FeedCard(QWidget* parent = nullptr);
    void setFeed(std::vector<app::FeedItemView> feed, std::int64_t nowUs);
    QTableView* list() { return m_list; }

signals:
    void stepWanted(std::int64_t step);

private:
    void fitTime(const QString& longest);

    FeedModel* m_model;
    QTableView* m_list;
    QLabel* m_nothing;
};

} // namespace deltascope::desktop
