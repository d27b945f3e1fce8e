#pragma once

#include "canvas/canvas.h"
#include "pages/lineage/lineage_picture.h"

#include <QPixmap>

#include <memory>
#include <vector>

namespace deltascope::desktop {

class StripTable;

/// The whole run in one strip, oldest left: height is bytes, anchors are dark, problems are marked below. The frame is
/// the range: it can be dragged, resized at its ends, and drawn anew. GUI thread.
class LineageStrip final : public Canvas {
    Q_OBJECT

public:
    explicit LineageStrip(QWidget* parent = nullptr);
    ~LineageStrip() override;

    void showPicture(LineagePointer picture);
    void setMarks(std::optional<StepId> a, std::optional<StepId> b, std::optional<StepRange> range);

    QAbstractItemModel* table() override;
    QModelIndex currentCell() const override;
    void setCurrentCell(const QModelIndex& cell) override;
    std::optional<StepId> stepAtCursor() const override;
    bool wantsKey(const QKeyEvent& event) const override;
    QSize sizeHint() const override;

    double xOf(std::size_t row) const; ///< left edge of its column
    std::optional<std::size_t> rowAt(double x) const;

signals:
    void chose(const deltascope::desktop::StepId& b);
    void choseToCompare(const deltascope::desktop::StepId& a);
    void rangeChosen(const std::optional<deltascope::desktop::StepRange>& range); ///< nothing: the whole epoch

protected:
    void paint(QPainter& painter, const QRect& exposed) override;
    void lookChanged() override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    static constexpr int SideMargin = 16;
    static constexpr int PlotTop = 8;
    static constexpr int PlotHeight = 38;
    static constexpr int Height = 84;

    enum class Drag { None, Move, Begin, End, Draw };
    struct Window { ///< rows of the range, newest first, both included
        std::size_t first = 0;
        std::size_t last = 0;
    };

    std::size_t count() const { return m_picture ? m_picture->rows().size() : 0; }
    double columnWidth() const;
    std::optional<Window> window() const;
    std::optional<StepRange> rangeOf(Window window) const;
    Window wholeEpoch(int epoch) const;
    Drag gripAt(double x) const;
    void drag(double x);
    void pan(int direction);
    void zoom(double factor);
    QString textOf(std::size_t row) const;
    void renderPicture();
    void paintBars(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;
    void paintAxis(QPainter& painter) const;

    LineagePointer m_picture;
    std::optional<StepId> m_a, m_b;
    std::optional<StepRange> m_range;
    std::unique_ptr<StripTable> m_table;
    QPixmap m_rendered; ///< all but the frame and the cursor
    Drag m_drag = Drag::None;
    double m_pressX = 0;
    bool m_moved = false;
    std::optional<Window> m_before; ///< the window when the drag began
    std::optional<Window> m_dragged;
    std::optional<std::size_t> m_hovered;
};

} // namespace deltascope::desktop
