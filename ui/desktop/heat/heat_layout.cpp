#include "heat/heat_layout.h"

#include "look/look.h"

#include <QFontMetrics>

#include <algorithm>

namespace deltascope::desktop {

HeatLayout HeatLayout::of(const QSize& size)
{
    const int textHeight = QFontMetrics(typeFont(Type::Label)).height();
    constexpr int Top = 6;
    constexpr int Lanes = 36;
    constexpr int Gutter = 48;
    constexpr int Overview = 16;
    constexpr int LegendHeight = 360;
    const int steps = std::max(18, textHeight + 4);
    const int left = textHeight * 11 + 10; // 164 with text of 14 pixels
    const int right = 78 + textHeight * 5;
    const int status = std::max(28, textHeight + 12);
    const int below = status + 8 + Overview + textHeight + 10;
    HeatLayout at;
    at.plot = { left, Top + Lanes + steps, std::max(1, size.width() - left - right),
                std::max(1, size.height() - Top - Lanes - steps - below - 4) };
    at.lanes = { left, Top, at.plot.width(), Lanes };
    at.steps = { left, Top + Lanes, at.plot.width(), steps };
    at.tree = { 0, at.plot.y(), left, at.plot.height() };
    at.gutter = { at.plot.right() + 9, at.plot.y(), Gutter, at.plot.height() };
    at.legend = { at.gutter.right() + 13, at.plot.y(), 12,
                  std::clamp(at.plot.height() - 2 * textHeight - 20, 20, LegendHeight) };
    at.status = { 0, at.plot.bottom() + 5, size.width(), status };
    at.overview = { left, at.status.bottom() + 9, at.plot.width(), Overview };
    return at;
}

} // namespace deltascope::desktop
