#include "heat/heat_scale.h"

#include <QSettings>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr double Lowest = 1e-6;
constexpr double LeastFactor = 3; ///< between the ends of a window

}

HeatScale& HeatScale::shared()
{
    static HeatScale scale;
    return scale;
}

HeatScale::HeatScale()
{
    const QSettings settings;
    m_colors.map = static_cast<ColorMapName>(std::clamp(settings.value(QStringLiteral("heat/map")).toInt(), 0, 2));
    const HeatWindow stored { settings.value(QStringLiteral("heat/low"), m_colors.window.low).toDouble(),
                              settings.value(QStringLiteral("heat/high"), m_colors.window.high).toDouble() };
    if (stored.low >= Lowest && stored.high <= 1 && stored.high >= stored.low * LeastFactor)
        m_colors.window = stored;
    m_pool = settings.value(QStringLiteral("heat/mean")).toBool() ? app::HeatPool::Mean : app::HeatPool::Max;
    m_locked = settings.value(QStringLiteral("heat/locked"), true).toBool();
}

const ColorTable& HeatScale::table()
{
    const int shade = static_cast<int>(currentShade());
    if (shade != m_tableShade || m_tableColors != m_colors) {
        m_table = makeColorTable(m_colors, currentShade());
        m_tableColors = m_colors;
        m_tableShade = shade;
    }
    return m_table;
}

void HeatScale::setMap(ColorMapName map)
{
    if (map == m_colors.map)
        return;
    m_colors.map = map;
    store();
}

void HeatScale::setWindow(const HeatWindow& window)
{
    HeatWindow cut { std::clamp(window.low, Lowest, 1 / LeastFactor), std::min(1.0, window.high) };
    cut.high = std::max(cut.high, cut.low * LeastFactor);
    if (cut == m_colors.window)
        return;
    m_colors.window = cut;
    store();
}

void HeatScale::setPool(app::HeatPool pool)
{
    if (pool == m_pool)
        return;
    m_pool = pool;
    store();
}

void HeatScale::setLocked(bool locked)
{
    if (locked == m_locked)
        return;
    m_locked = locked;
    store();
}

void HeatScale::store()
{
    QSettings settings;
    settings.setValue(QStringLiteral("heat/map"), static_cast<int>(m_colors.map));
    settings.setValue(QStringLiteral("heat/low"), m_colors.window.low);
    settings.setValue(QStringLiteral("heat/high"), m_colors.window.high);
    settings.setValue(QStringLiteral("heat/mean"), m_pool == app::HeatPool::Mean);
    settings.setValue(QStringLiteral("heat/locked"), m_locked);
    emit changed();
}

} // namespace deltascope::desktop
