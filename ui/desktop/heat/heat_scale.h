#pragma once

#include "heat/color_map.h"

#include <QObject>

namespace deltascope::desktop {

/// How changed shares are shown: the same on all pages and for all runs, kept between sessions. GUI thread.
class HeatScale final : public QObject {
    Q_OBJECT

public:
    static HeatScale& shared();

    const HeatColors& colors() const { return m_colors; }
    app::HeatPool pool() const { return m_pool; }
    bool locked() const { return m_locked; } ///< the ends of the legend cannot be dragged
    const ColorTable& table(); ///< of the theme in force

    void setMap(ColorMapName map);
    void setWindow(const HeatWindow& window);
    void setPool(app::HeatPool pool);
    void setLocked(bool locked);

signals:
    void changed();

private:
    HeatScale();
    void store();

    HeatColors m_colors;
    app::HeatPool m_pool = app::HeatPool::Max;
    bool m_locked = true;
    ColorTable m_table {};
    HeatColors m_tableColors; ///< what m_table is made of
    int m_tableShade = -1;
};

} // namespace deltascope::desktop
