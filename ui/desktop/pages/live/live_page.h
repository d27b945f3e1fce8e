#pragma once

#include "bridge/calculation.h"
#include "pages/live/live_data.h"
#include "pages/page.h"

#include <array>

class QGridLayout;

namespace deltascope::desktop {

class Card;
class ChartGrid;
class FeedCard;
class HealthTile;
class KpiRow;
class MiniHeatmap;
class PartMover;
class PlotCard;
class PlotView;
class ReplicasCard;

/// What a run is doing now. GUI thread.
class LivePage final : public Page {
    Q_OBJECT

public:
    enum Plot { Changed, Pause, DeltaSize, Sync, Lag, PlotCount };

    LivePage(PageContext& context, QWidget* parent = nullptr);

    Canvas* canvas() override; ///< the chart with the focus, else the first one
    QAbstractItemView* mainList() override;
    QString exportName() const override { return QStringLiteral("live.csv"); }
    QByteArray exportText() override; ///< of the same chart
    std::optional<StepId> stepAtCursor() override;

    KpiRow& tiles() { return *m_tiles; }
    PlotCard& plot(Plot plot) { return *m_plots[plot]; }
    ChartGrid& charts() { return *m_charts; }
    MiniHeatmap& heat() { return *m_heat; }
    Card& heatCard() { return *m_heatCard; }
    HealthTile& health() { return *m_health; }
    FeedCard& feed() { return *m_feed; }
    ReplicasCard& replicas() { return *m_replicas; }
    /// Null until the first calculation is done.
    const std::shared_ptr<const LiveData>& shown() const { return m_data; }
    bool isUpToDate() const { return m_data && m_partsLeft == 0; } ///< in all parts

protected:
    void refresh() override;
    void cursorMoved() override;
    void runOpened() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    enum Part { HeatPart = PlotCount, ListPart, PartCount }; ///< after the charts

    QWidget* makeContent();
    void makePlots();
    void makeLower();
    void arrange(); ///< for the width there is
    void setX(PlotX x); ///< of all charts
    void editRule(const QString& rule);
    void show(std::shared_ptr<const LiveData> data);
    void showNextPart();
    struct LivePlot makePlot(Plot plot) const;
    std::vector<PlotMark> alertMarks(std::string_view rule) const; ///< `rule`: how its id begins
    std::optional<double> lagThreshold() const; ///< from which on the rule fires
    void setPlot(Plot plot, struct LivePlot shown);
    std::optional<std::int64_t> mine(const std::optional<StepId>& step) const;
    void markCursor();
    void markCursor(Plot plot);
    void goTo(int epoch, std::int64_t step);
    PlotCard* focusedPlot() const;

    std::array<PlotCard*, PlotCount> m_plots {};
    ChartGrid* m_charts = nullptr;
    KpiRow* m_tiles;
    HealthTile* m_health;
    MiniHeatmap* m_heat;
    Card* m_heatCard;
    FeedCard* m_feed;
    ReplicasCard* m_replicas;
    QGridLayout* m_grid;
    PartMover* m_mover; ///< of tiles, charts and cards
    QWidget* m_inner = nullptr; ///< all that scrolls
    int m_columns = 0; ///< as arranged
    int m_wideNeeds = 0; ///< pixels that three charts in a row took at least
    QTimer m_clock; ///< ages
    QTimer m_turn; ///< runs while parts wait for newer data
    int m_nextPart = 0;
    int m_partsLeft = 0; ///< that do not show the newest data yet
    Calculation<std::shared_ptr<const LiveData>> m_calculation;
    std::shared_ptr<const LiveData> m_data;
};

} // namespace deltascope::desktop
