#pragma once

#include "plot/plot_card.h"

#include <QList>
#include <QPointer>
#include <QWidget>

class QGridLayout;

namespace deltascope::desktop {

class PartMover;

constexpr int GridColumns = 12; ///< of the page and of its charts: two or three parts fill them

/// The charts of the page Live in the order that the user wants, pinned ones first, or one of them alone. Titles are
/// dragged, a double click on one shows the chart alone; the menu of a chart and keys do the same. The order is kept in
/// the settings. GUI thread.
class ChartGrid final : public QWidget {
    Q_OBJECT

public:
    struct Chart {
        QString key; ///< in the settings
        PlotCard* card = nullptr;
    };
    /// `mover`: of the page.
    ChartGrid(std::vector<Chart> charts, PartMover& mover, QWidget* parent = nullptr);

    void setWide(bool wide); ///< three in a row, else two
    QStringList order() const; ///< keys as they are shown
    PlotCard* alone() const { return m_alone; } ///< null: all are shown
    void showAlone(PlotCard* card); ///< null: all
    void setPinned(PlotCard* card, bool pinned);
    bool isPinned(const PlotCard* card) const;
    void move(PlotCard* card, int by); ///< places; stops at the ends, and at the last pinned one

signals:
    void aloneChanged(bool alone);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void addActs(const Chart& chart);
    PlotCard* cardOf(const QObject* part) const; ///< of a title or a chart
    PlotCard* cardAt(const QPoint& global) const;
    int placeOf(const PlotCard* card) const;
    void moveTo(PlotCard* card, int place);
    void arrange();
    void keep() const;
    bool dragged(PlotCard* card, const QEvent& event);
    bool pressed(PlotCard* card, QEvent& event);

    PartMover& m_mover;
    QList<Chart> m_charts; ///< as they are shown
    QStringList m_pinned; ///< keys
    QGridLayout* m_grid;
    bool m_wide = true;
    PlotCard* m_alone = nullptr;
    std::optional<QPoint> m_pressedAt; ///< on a title, global
    bool m_drags = false;
};

} // namespace deltascope::desktop
