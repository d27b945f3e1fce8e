#pragma once

#include "heat/axis.h"
#include "heat/heat_plan.h"

#include <QRectF>
#include <QSet>

namespace deltascope::desktop {

/// A cell: a row of the view, inside of a band the tensor in it, and a column.
struct Spot {
    int row = 0;
    int offset = 0;
    int column = 0;

    bool operator==(const Spot&) const = default;
};

/// What part of the heatmap is seen; what undo goes back to.
struct HeatZoom {
    Axis axis;
    double scale = 1; ///< of row heights
    int scroll = 0; ///< pixels

    bool operator==(const HeatZoom&) const = default;
};

/// What the heatmap shows: rows, columns, view and cursor. No drawing, no events. GUI thread.
class HeatModel {
public:
    /// Takes a newer plan; the tensor under the cursor keeps it.
    void setPlan(HeatPlanPointer plan);
    const HeatPlanPointer& plan() const { return m_plan; } ///< null: nothing is shown
    bool isEmpty() const { return !m_plan || m_rows.empty() || m_plan->columns == 0; }

    const std::vector<ViewRow>& rows() const { return m_rows; }
    const std::vector<int>& tops() const { return m_tops; }
    std::uint64_t rowsRevision() const { return m_rowsRevision; } ///< grows when rows or their heights change
    QString labelOf(const ViewRow& row) const;
    bool isOpen(int row) const { return m_rows[static_cast<std::size_t>(row)].kind == ViewRow::Kind::Head; }
    void setOpen(int row, bool open); ///< of a group
    void openAll(bool open);

    const Axis& axis() const { return m_zoom.axis; }
    int scroll() const { return m_zoom.scroll; }
    int height() const { return m_height; } ///< of the plot
    const HeatZoom& zoom() const { return m_zoom; }
    void setZoom(const HeatZoom& zoom);
    void resize(int width, int height);
    void fitRows(); ///< all of them, where that is readable
    void fitSteps();
    void zoomSteps(double pixel, double factor);
    void zoomRows(double pixel, double factor);
    void panSteps(double pixels);
    void scrollBy(int pixels);
    void showSteps(const StepRange& range);
    void showNewest();
    void showColumns(int from, int to); ///< [from, to)
    void showRows(int from, int to); ///< [from, to) of the view

    const std::optional<Spot>& cursor() const { return m_cursor; }
    void place(const Spot& spot); ///< sets the cursor and brings it into view
    void clearCursor() { m_cursor.reset(); }
    /// Moves the cursor to a tensor, if it is among the rows.
    bool placeTensor(const std::string& name, int column);
    void moveColumn(int by);
    void moveRow(int by); ///< 1 or -1
    void moveToOther(int dx, int dy, app::HeatPool pool); ///< goes on until the color changes
    /// The next column in which the tensor at the cursor changed; -1: none.
    int otherChange(int by) const;

    std::optional<Spot> spotAt(double x, double y) const; ///< in the plot
    int firstSeenRow() const; ///< -1: none
    int endOfSeenRows() const;
    int rowOfTensor(int matrixRow) const; ///< -1: not shown
    /// Matrix row; -1: an open group, which stands for all its tensors.
    int tensorAt(const Spot& spot) const;
    std::optional<std::uint8_t> codeAt(const Spot& spot, app::HeatPool pool) const;
    QRectF rectOf(const Spot& spot) const; ///< in the plot

private:
    void layout();
    void clampScroll();
    std::optional<Spot> start() const;
    std::optional<Spot> neighbor(const Spot& spot, int by) const;
    std::optional<int> tensorAtCursor() const;
    void putCursorOn(int matrixRow, int column);
    int top(int row) const { return m_tops[static_cast<std::size_t>(row)]; }

    HeatPlanPointer m_plan;
    QSet<QString> m_open;
    std::vector<ViewRow> m_rows;
    std::vector<int> m_tops { 0 };
    std::uint64_t m_rowsRevision = 0;
    HeatZoom m_zoom;
    int m_height = 0;
    bool m_fitted = false; ///< row heights were chosen once
    std::optional<Spot> m_cursor;
};

} // namespace deltascope::desktop
