#pragma once

#include "canvas/canvas.h"
#include "deltascope/app/view/statistics_view.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>
#include <vector>

namespace deltascope::desktop {

using ValuesHistoryPointer = std::shared_ptr<const app::StatisticsHistoryView>;

/// Statistics of a tensor over steps, as a table: a row per step, a column per statistic.
class ValuesHistoryTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    /// One statistic; nothing where it is not known.
    struct Series {
        QString name;
        std::vector<std::optional<double>> values;
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setHistory(const ValuesHistoryPointer& history);
    const std::vector<Series>& series() const { return m_series; }
    const ValuesHistoryPointer& history() const { return m_history; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    ValuesHistoryPointer m_history;
    std::vector<Series> m_series;
};

/// A small line for each statistic over the steps, each on a scale of its own. GUI thread.
class ValuesHistoryCanvas final : public Canvas {
    Q_OBJECT

public:
    explicit ValuesHistoryCanvas(QWidget* parent = nullptr);

    void setHistory(const ValuesHistoryPointer& history, int epoch); ///< null: nothing

    QAbstractItemModel* table() override { return &m_table; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    std::optional<StepId> stepAtCursor() const override;
    bool wantsKey(const QKeyEvent& event) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QRect plot() const; ///< of all lines
    int rowHeight() const;
    int shown() const; ///< point whose values stand at the right
    int pointAt(int x) const; ///< -1: none
    void moveTo(int point);
    void paintLine(QPainter& painter, const QRectF& box, const std::vector<std::optional<double>>& values) const;

    ValuesHistoryTable m_table;
    int m_epoch = 0;
    int m_point = -1; ///< of the keyboard
    int m_hover = -1;
};

} // namespace deltascope::desktop
