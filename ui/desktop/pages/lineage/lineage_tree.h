#pragma once

#include "pages/lineage/lineage_model.h"
#include "pages/lineage/lineage_rows.h"
#include "widgets/flat_list.h"

#include <functional>

namespace deltascope::desktop {

/// The list of versions. A click chooses B, with Shift A; Ctrl selects more; a fold opens. Keeps what the user looks at
/// where it is while rows come and go. GUI thread.
class LineageTree final : public FlatList {
    Q_OBJECT

public:
    explicit LineageTree(QWidget* parent = nullptr);

    LineageModel& lineage() { return *m_model; }
    /// Takes over a newer picture. At its top the list shows new rows; elsewhere they change nothing on screen.
    void showPicture(LineagePointer picture, std::optional<StepId> a, std::optional<StepId> b);
    /// `reveal`: scrolls to B if it moved out of sight.
    void setMarks(std::optional<StepId> a, std::optional<StepId> b, bool reveal);
    void setOpen(std::size_t chain, bool open);
    void setAllOpen(bool open);

    /// Versions that are selected, newest first.
    std::vector<std::size_t> selectedRows() const;
    /// Under the mouse, else under the keyboard.
    std::optional<StepId> stepAtCursor() const;
    /// What the last paint took on the GUI thread.
    double lastPaintMs() const { return m_lastPaintMs; }

signals:
    void chose(const deltascope::desktop::StepId& b);
    void choseToCompare(const deltascope::desktop::StepId& a);
    void menuWanted(const QModelIndex& index, const QPoint& global);

protected:
    void drawRow(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

private:
    enum class Hold { Top, Current }; ///< what stays where it is: the first row in sight, or the current one
    void keepingView(Hold hold, const std::function<void()>& change);
    void selectB(std::optional<StepId> before);
    void hover(const QModelIndex& index);
    void fitColumns();
    bool toggle(const QModelIndex& index);

    LineageModel* m_model;
    LineageRows m_rows;
    ShownPath m_hovered;
    int m_hoveredLine = -1;
    bool m_busy = false; ///< it moves the current row by itself
    bool m_keyboard = false; ///< the last thing that moved the current row
    double m_lastPaintMs = 0;
};

} // namespace deltascope::desktop
