#pragma once

#include "deltascope/app/view/heat_view.h"
#include "look/tokens.h"

#include <QRgb>
#include <QString>

#include <array>
#include <cstdint>

class QPainter;
class QRect;

namespace deltascope::desktop {

enum class ColorMapName { Cividis, Viridis, Greys };

/// Shares at which the colors begin and end, in [1e-6, 1]; what is outside takes the color of the end.
struct HeatWindow {
    double low = 1e-4;
    double high = 0.1;

    bool operator==(const HeatWindow&) const = default;
};

/// How changed shares are colored.
struct HeatColors {
    ColorMapName map = ColorMapName::Cividis;
    HeatWindow window;

    bool operator==(const HeatColors&) const = default;
};

/// One color per code of app::heatCode(); 0 is the flat color of "nothing changed". Pixels of cells that are not known
/// are left transparent, and hatched ground shines through.
using ColorTable = std::array<QRgb, 256>;

QString colorMapTitle(ColorMapName map); ///< "cividis"
ColorTable makeColorTable(const HeatColors& colors, Shade shade);
/// Color at `t` of the window: 0 at its low end, 1 at its high one.
QRgb colorAt(ColorMapName map, double t);
/// For signed values: 128 is zero, 1 and 255 are the ends. PRGn; dark in the middle on dark ground.
ColorTable makeSignedTable(Shade shade);

/// app::heatCode() of a share that is no ratio of two counts.
std::uint8_t codeOfShare(double share);
/// "0.82 %": two digits, as far as one code tells them.
QString shareText(double share);
/// 45 degree lines in a color of the theme: what is not known. GUI thread.
void paintUnknown(QPainter& painter, const QRect& rect);

} // namespace deltascope::desktop
