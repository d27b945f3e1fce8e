#include "heat/scale_tools.h"

#include "heat/heat_scale.h"
#include "look/icon.h"
#include "widgets/cards.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>
#include <array>

namespace deltascope::desktop {

namespace {

constexpr std::array<HeatWindow, 4> Windows { { { 1e-4, 0.1 }, { 1e-3, 1 }, { 1e-5, 0.01 }, { 1e-6, 1 } } };
constexpr std::array Maps { ColorMapName::Cividis, ColorMapName::Viridis, ColorMapName::Greys };

QString windowText(const HeatWindow& window)
{
    QString low = shareText(window.low);
    low.chop(2); // one % is enough
    return QStringLiteral("log %1 … %2").arg(low, shareText(window.high));
}

}

ScaleTools::ScaleTools(QWidget* parent)
    : QWidget(parent)
    , m_windowLabel(makeLabel(tr("Scale"), "muted"))
    , m_window(new QComboBox)
    , m_lock(new QToolButton)
    , m_mapLabel(makeLabel(tr("Map"), "muted"))
    , m_map(new QComboBox)
{
    m_window->setAccessibleName(tr("Scale of the colors"));
    m_map->setAccessibleName(tr("Color map"));
    m_lock->setAccessibleName(tr("Lock the scale"));
    m_lock->setCheckable(true);
    for (const HeatWindow& window : Windows)
        m_window->addItem(windowText(window));
    for (const ColorMapName map : Maps)
        m_map->addItem(colorMapTitle(map));
    HeatScale& scale = HeatScale::shared();
    connect(m_window, &QComboBox::activated, this, [&scale](int at) {
        if (at < static_cast<int>(Windows.size()))
            scale.setWindow(Windows[static_cast<std::size_t>(at)]);
    });
    connect(m_map, &QComboBox::activated, this, [&scale](int at) { scale.setMap(Maps[static_cast<std::size_t>(at)]); });
    connect(m_lock, &QToolButton::toggled, this, [&scale](bool on) { scale.setLocked(on); });
    connect(&scale, &HeatScale::changed, this, &ScaleTools::show);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    row->addWidget(m_windowLabel);
    row->addWidget(m_window);
    row->addWidget(m_lock);
    row->addWidget(m_mapLabel);
    row->addWidget(m_map);
    show();
}

void ScaleTools::setLabelsVisible(bool visible)
{
    m_windowLabel->setVisible(visible);
    m_mapLabel->setVisible(visible);
}

void ScaleTools::show()
{
    const HeatScale& scale = HeatScale::shared();
    const auto known = std::find(Windows.begin(), Windows.end(), scale.colors().window);
    const auto own = static_cast<int>(Windows.size());
    const QSignalBlocker quietWindow(m_window);
    const QSignalBlocker quietMap(m_map);
    const QSignalBlocker quietLock(m_lock);
    while (m_window->count() > own)
        m_window->removeItem(own);
    if (known == Windows.end())
        m_window->addItem(windowText(scale.colors().window)); // dragged at the legend
    m_window->setCurrentIndex(static_cast<int>(known - Windows.begin()));
    m_map->setCurrentIndex(static_cast<int>(std::find(Maps.begin(), Maps.end(), scale.colors().map) - Maps.begin()));
    m_lock->setChecked(scale.locked());
    m_lock->setIcon(scale.locked() ? icon(QStringLiteral("lock"), Token::Accent) : icon(QStringLiteral("unlock")));
    m_lock->setToolTip(scale.locked() ? tr("The scale is locked; unlock it to drag the ends of the legend")
                                      : tr("Drag the ends of the legend; lock it to keep them"));
}

} // namespace deltascope::desktop
