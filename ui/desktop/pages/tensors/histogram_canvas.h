#pragma once

#include "canvas/canvas.h"
#include "pages/tensors/values_table.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// How values are put into bins, and how high a bin is drawn.
enum class HistogramForm {
    Linear, ///< equal bins, height by count
    LogCounts, ///< equal bins, height by the logarithm of the count, so that tails are seen
    Sizes, ///< absolute values by powers of two
};

/// A histogram as a table: a row per bin, counts of A and B.
class HistogramTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setHistogram(const StatisticsPointer& statistics, HistogramForm form);
    /// Null: nothing is shown.
    const app::HistogramView* histogram() const;
    QString range(int bin) const; ///< "−0.1 to −0.05"

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    StatisticsPointer m_statistics;
    HistogramForm m_form = HistogramForm::Linear;
};

/// How the values of a tensor are spread: B as bars, A as a line over them. GUI thread.
class HistogramCanvas final : public Canvas {
    Q_OBJECT

public:
    explicit HistogramCanvas(QWidget* parent = nullptr);

    void setStatistics(const StatisticsPointer& statistics); ///< null: nothing
    void setForm(HistogramForm form);
    /// Of the bin under the mouse or the keyboard: "−0.1 to −0.05: A 12, B 14"
    QString binText() const;

    QAbstractItemModel* table() override { return &m_table; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    bool wantsKey(const QKeyEvent& event) const override;
    QSize sizeHint() const override { return { 280, 150 }; }
    QSize minimumSizeHint() const override { return { 160, 120 }; }

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void show();
    QRect plot() const;
    int binAt(int x) const;
    double heightOf(std::uint64_t count) const; ///< 0 to 1
    void moveTo(int bin);
    void paintEdges(QPainter& painter, const QRect& box) const;

    StatisticsPointer m_statistics;
    HistogramForm m_form = HistogramForm::Linear;
    HistogramTable m_table;
    std::uint64_t m_most = 0; ///< in a bin
    int m_bin = -1; ///< of the keyboard
    int m_hover = -1;
};

} // namespace deltascope::desktop
