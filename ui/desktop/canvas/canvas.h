#pragma once

#include "state/step_cursor.h"

#include <QModelIndex>
#include <QWidget>

class QAbstractItemModel;
class QKeyEvent;

namespace deltascope::desktop {

/// A widget that paints its content itself. What it shows is also a table: for screen readers, and as its twin
/// (Ctrl+Shift+T). Takes the focus; give it an accessible name. GUI thread.
class Canvas : public QWidget {
    Q_OBJECT

public:
    explicit Canvas(QWidget* parent = nullptr);

    /// What is shown, one cell per cell. Owned by the canvas, lives as long.
    virtual QAbstractItemModel* table() = 0;
    /// The cell under the keyboard cursor, in table().
    virtual QModelIndex currentCell() const { return {}; }
    virtual void setCurrentCell(const QModelIndex& cell) { Q_UNUSED(cell) }
    /// The step under the mouse, else under the keyboard cursor.
    virtual std::optional<StepId> stepAtCursor() const { return std::nullopt; }
    /// Keys that the canvas handles itself although an action of the window has them.
    virtual bool wantsKey(const QKeyEvent& event) const
    {
        Q_UNUSED(event)
        return false;
    }

    /// What the last paint took on the GUI thread.
    double lastPaintMs() const { return m_lastPaintMs; }

protected:
    void paintEvent(QPaintEvent* event) final;
    void changeEvent(QEvent* event) override;
    /// Paints at least `exposed`. Allocates nothing that could be kept.
    virtual void paint(QPainter& painter, const QRect& exposed) = 0;
    /// Colors or fonts are others now: caches are worthless.
    virtual void lookChanged() { }
    /// Tells screen readers about the cell under the cursor; to be called when it moves.
    void announceCell(const QString& text);
    /// A 2 px frame where the keyboard is.
    void paintFocus(QPainter& painter, const QRect& rect) const;

private:
    double m_lastPaintMs = 0;
};

} // namespace deltascope::desktop
