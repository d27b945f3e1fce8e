#pragma once

#include "plot/plot_legend.h"
#include "plot/plot_view.h"
#include "widgets/cards.h"

class QLabel;
class QMenu;
class QStackedLayout;
class QTableView;
class QToolButton;

namespace deltascope::desktop {

/// A chart in a card: title, unit, legend, and a menu with scales, smoothing, copy, export and the table of its values.
/// What the user chooses here is kept in the settings under `key`. GUI thread.
class PlotCard final : public Card {
    Q_OBJECT

public:
    enum class Smoothing { Off, Offered };
    enum class Outliers { Shown, Cut }; ///< unless the user wants it otherwise
    PlotCard(const QString& key, const QString& title, Smoothing smoothing, Outliers outliers = Outliers::Shown,
             QWidget* parent = nullptr);

    PlotView* view() { return m_view; }
    QMenu* menu(); ///< what it is in may add to it
    QToolButton* menuButton();
    QWidget* titleBar();
    void setPinned(bool pinned); ///< only shown
    /// `unit` is of the values, `note` stands in the header: unit and meaning. `legend`: added to what smoothing says.
    void setData(PlotData data, const QString& unit, const QString& note, std::vector<PlotLegend::Entry> legend);

    void setAsTable(bool table);
    bool isTable() const;
    /// The values that are shown, as tab separated lines.
    QString valuesAsText() const;
    QByteArray csv() const;
    /// Title, legend and chart as they are seen.
    QPixmap picture();
    /// As a picture, a drawing or values, by the ending: png, svg, csv. Says so where that fails.
    void exportTo(const QString& path);

signals:
    void xChosen(deltascope::desktop::PlotX x); ///< all charts of a page have the same

protected:
    void resizeEvent(QResizeEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    static constexpr char ScaleKey[] = "/scale";
    static constexpr char CutKey[] = "/cut";
    static constexpr char SmoothingKey[] = "/smoothing";

    // plot/plot_menu.cpp
    void makeMenu();
    void addScales(QMenu& menu);
    void addSmoothings(QMenu& menu);
    void addAxes(QMenu& menu);
    bool writeSvg(const QString& path);

    void showLegend();
    void save(const QString& ending, const QString& filter);

    QString m_key;
    QString m_title;
    QString m_unit;
    QString m_note;
    bool m_canSmooth;
    std::vector<PlotLegend::Entry> m_legendEntries;
    PlotLegend* m_legend;
    QToolButton* m_menu;
    QLabel* m_pin;
    QStackedLayout* m_stack;
    PlotView* m_view;
    QTableView* m_table = nullptr; ///< made when it is wanted
};

} // namespace deltascope::desktop
