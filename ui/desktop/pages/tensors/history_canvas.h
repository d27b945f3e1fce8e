#pragma once

#include "canvas/canvas.h"
#include "deltascope/app/view/heat_view.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>
#include <vector>

namespace deltascope::desktop {

/// Changed share of one tensor at each step of an epoch. Immutable; made off the GUI thread.
struct TensorHistory {
    struct Point {
        std::int64_t step = 0;
        float share = -1; ///< -1: not known
    };
    int epoch = 0;
    std::vector<Point> points;
    float most = 0;
};
using TensorHistoryPointer = std::shared_ptr<const TensorHistory>;

TensorHistoryPointer makeTensorHistory(const app::HeatView& heat, int epoch, int row);

/// A history as a table: a row per step.
class HistoryTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setHistory(const TensorHistoryPointer& history);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    TensorHistoryPointer m_history;
};

/// A line of changed shares over the steps, with B marked. Gaps are steps about which nothing is known. GUI thread.
class HistoryCanvas final : public Canvas {
    Q_OBJECT

public:
    explicit HistoryCanvas(QWidget* parent = nullptr);

    void setHistory(const TensorHistoryPointer& history); ///< null: nothing
    void setB(std::optional<StepId> b);

    QAbstractItemModel* table() override { return &m_table; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    std::optional<StepId> stepAtCursor() const override;
    QSize sizeHint() const override { return { 400, 92 }; }
    QSize minimumSizeHint() const override { return { 160, 76 }; }

signals:
    void stepChosen(const deltascope::desktop::StepId& step);

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QRect plot() const;
    double xOf(int point) const;
    double yOf(float share) const;
    int pointAt(int x) const; ///< -1: none
    void paintLine(QPainter& painter) const;

    TensorHistoryPointer m_history;
    HistoryTable m_table;
    int m_b = -1; ///< point
    std::optional<StepId> m_stepB;
    int m_hover = -1;
};

} // namespace deltascope::desktop
