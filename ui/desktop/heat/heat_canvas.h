#pragma once

#include "canvas/canvas.h"
#include "heat/cell_painter.h"
#include "heat/heat_frame.h"
#include "heat/heat_table.h"
#include "heat/row_spark.h"
#include "heat/tile_cache.h"

#include <QTimer>

#include <functional>

namespace deltascope::desktop {

/// Tensors by steps: cells, names, lanes, means, legend and overview. Colors are those of HeatScale::shared(). It
/// shows a plan and says what the user wants; it changes no cursor of the run. GUI thread.
class HeatCanvas final : public Canvas {
    Q_OBJECT

public:
    explicit HeatCanvas(QWidget* parent = nullptr);

    void setPlan(const HeatPlanPointer& plan, bool follow); ///< follow: the newest column stays in view
    void setMarks(const HeatMarks& marks);
    void setCellText(const CellText& text);
    const HeatModel& model() const { return m_model; }
    const HeatMarks& marks() const { return m_marks; }
    /// The cell under the mouse, else the one of the keyboard.
    std::optional<Spot> focusedSpot() const { return m_hover ? m_hover : m_model.cursor(); }

    void setZoom(const HeatZoom& zoom); ///< back to a former view
    void showSteps(const StepRange& range);
    void showNewest();
    void placeTensor(const std::string& name, int column);
    void placeColumn(int column); ///< of the keyboard's cell, if there is one
    void setAllOpen(bool open); ///< groups of rows
    bool isLoading() const { return m_tiles.isLoading(); }

    QAbstractItemModel* table() override { return &m_table; }
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    std::optional<StepId> stepAtCursor() const override;
    bool wantsKey(const QKeyEvent& event) const override;
    QSize sizeHint() const override { return { 900, 600 }; }
    QSize minimumSizeHint() const override { return { 360, 240 }; }

signals:
    void cellFocused(); ///< focusedSpot() is another one, or none
    void cellChosen(const deltascope::desktop::Spot& spot); ///< clicked
    void opened(const deltascope::desktop::Spot& spot); ///< the blocks of its tensor are wanted
    void rangeChosen(qint64 first, qint64 last); ///< steps
    void compareChosen(qint64 a, qint64 b); ///< steps
    /// Columns and rows of the view, ends excluded.
    void exportChosen(int fromColumn, int toColumn, int fromRow, int toRow);
    void spaceTapped(); ///< the key, without a drag
    /// The user moved the view; `merge`: together with the move before.
    void zoomed(const deltascope::desktop::HeatZoom& before, bool merge);
    void rowsToggled(const QString& name, bool open); ///< for screen readers and tests

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void lookChanged() override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;

private:
    enum class Drag { None, Press, Box, Pan, Overview, Legend };

    HeatLayout layout() const;
    void viewMoved(); ///< the view shows another part
    void cursorMoved(); ///< the keyboard's cell is another one
    void columnsChanged(int from, int to);
    void updateColumn(int column);
    void setHover(const std::optional<Spot>& spot, const QPoint& at);
    void hoverGutter(const QPoint& at); ///< shows the past of a row
    std::optional<Spot> spotAt(const QPoint& at) const;
    void move(bool merge, const std::function<void()>& change); ///< an undoable change of the view
    bool moveByKey(const QKeyEvent& event);
    bool zoomByKey(const QKeyEvent& event);
    void toggleRow(int row, std::optional<bool> open = {});
    void fit();
    void showSelection(); ///< asks for the range from A to B, else what is in view
    void openAtCursor();
    void dragOverview(int x);
    void dragLegend(int y);
    QRect box() const; ///< what is dragged open, in the plot
    void showBoxMenu(const QPoint& at);
    void paintOverlays(QPainter& painter, const HeatLayout& at);
    void makeStrip(); ///< colors of the overview

    HeatModel m_model;
    TileCache m_tiles;
    CellPainter m_cells;
    HeatTable m_table;
    QTimer m_tableSync; ///< the table follows the view with some rest
    HeatMarks m_marks;
    CellText m_text;
    QImage m_strip;
    bool m_stripDirty = true;
    std::optional<Spot> m_hover;
    QPoint m_mouse { -1, -1 };
    QPoint m_gutterMouse { -1, -1 };
    RowSpark m_spark; ///< of the row whose mean is under the mouse
    Drag m_drag = Drag::None;
    enum class Space { Up, Down, Used } m_space = Space::Up; ///< used: it panned
    QPoint m_pressedAt;
    QPoint m_draggedTo;
    HeatZoom m_beforeDrag;
    bool m_fittedSelection = false; ///< F was pressed once
};

} // namespace deltascope::desktop
