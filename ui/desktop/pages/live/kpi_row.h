#pragma once

#include "pages/live/live_data.h"
#include "widgets/kpi_tile.h"

#include <QWidget>

#include <array>

class QGridLayout;

namespace deltascope::desktop {

/// The six numbers of the page Live. GUI thread.
class KpiRow final : public QWidget {
    Q_OBJECT

public:
    enum Tile { Latest, Age, Changed, DeltaSize, Paused, Replicas, TileCount };

    explicit KpiRow(QWidget* parent = nullptr);
    void setData(std::shared_ptr<const LiveData> data);
    /// Brings ages up to date.
    void tick(std::int64_t nowUs);
    const KpiTile& tile(Tile tile) const { return *m_tiles[tile]; }
    /// In one row, or in two where there is little room.
    void setRows(int rows);

signals:
    void pageWanted(const QString& id); ///< where a number comes from
    void menuWanted(int tile, const QPoint& global);

private:
    void setLatest(const app::KpiView& kpi);
    void setChanged(const app::KpiView& kpi);
    void setPaused(const app::KpiView& kpi);
    void setReplicas(const app::KpiView& kpi);

    std::array<KpiTile*, TileCount> m_tiles {};
    QGridLayout* m_grid;
    std::shared_ptr<const LiveData> m_data;
};

/// Whether a value is above or below its median; within 3 % it is as usual. Empty where one is not known.
QString usualText(std::optional<double> value, std::optional<double> median);

} // namespace deltascope::desktop
