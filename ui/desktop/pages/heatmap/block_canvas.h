#pragma once

#include "canvas/canvas.h"
#include "deltascope/app/view/tensor_view.h"

#include <QAbstractTableModel>
#include <QImage>

#include <memory>

namespace deltascope::desktop {

using BlocksPointer = std::shared_ptr<const app::BlocksView>;

/// Changed elements of each block, as a table.
class BlockTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    void setBlocks(const BlocksPointer& blocks);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    BlocksPointer m_blocks;
};

/// Where a tensor changed: the share of each block, and the counts of its rows and columns as bars. GUI thread.
class BlockCanvas final : public Canvas {
    Q_OBJECT

public:
    explicit BlockCanvas(QWidget* parent = nullptr);

    void setBlocks(const BlocksPointer& blocks); ///< null: nothing
    /// "rows from 0, columns from 56: 12 of 256 changed, 4.7 %"
    QString cellText() const;

    QAbstractItemModel* table() override { return &m_table; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    bool wantsKey(const QKeyEvent& event) const override;
    QSize sizeHint() const override { return { 640, 480 }; }
    QSize minimumSizeHint() const override { return { 280, 200 }; }

signals:
    void cellMoved();
    void opened(quint64 row, quint64 column); ///< first element of a block
    void stepped(int by);
    void upWanted();

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void lookChanged() override { m_imageDirty = true; }
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Parts {
        QRect grid, rows, columns, legend;
    };
    Parts parts() const;
    void makeImage();
    void moveTo(int row, int column);
    std::optional<QPoint> blockAt(const QPoint& at) const; ///< x: column, y: row
    void openCursor();
    void paintBars(QPainter& painter, const QRect& box, const std::vector<double>& bars, bool upright) const;
    void paintAxes(QPainter& painter, const Parts& at) const;

    BlocksPointer m_blocks;
    BlockTable m_table;
    QImage m_image;
    bool m_imageDirty = true;
    std::vector<double> m_rowBars, m_columnBars; ///< counts per pixel, of 0 to 1
    int m_row = 0; ///< of the cursor, in blocks
    int m_column = 0;
};

/// Elements of a block, which is smaller at the edges.
std::uint64_t blockElements(const app::BlocksView& blocks, int row, int column);

} // namespace deltascope::desktop
