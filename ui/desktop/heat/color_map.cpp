#include "heat/color_map.h"

#include <QBrush>
#include <QPainter>
#include <QPixmap>
#include <QPixmapCache>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

using Stops = std::array<QRgb, 9>;

constexpr Stops Cividis { 0xff002051, 0xff11366c, 0xff3c4d6e, 0xff62646f, 0xff7f7c75,
                          0xff9a9478, 0xffbbaf71, 0xffe2cb5c, 0xfffdea45 };
constexpr Stops Viridis { 0xff440154, 0xff472d7b, 0xff3b528b, 0xff2c728e, 0xff21918c,
                          0xff28ae80, 0xff5ec962, 0xffaddc30, 0xfffde725 };
constexpr Stops Greys { 0xffe4e4e4, 0xffc9c9c9, 0xffaeaeae, 0xff949494, 0xff7a7a7a,
                        0xff616161, 0xff494949, 0xff333333, 0xff1c1c1c };
constexpr Stops SignedLight { 0xff762a83, 0xff9970ab, 0xffc2a5cf, 0xffe7d4e8, 0xfff7f7f7,
                              0xffd9f0d3, 0xffa6dba0, 0xff5aae61, 0xff1b7837 };
constexpr Stops SignedDark { 0xffe7d4e8, 0xffc2a5cf, 0xff9970ab, 0xff5b4366, 0xff24282e,
                             0xff35563b, 0xff5aae61, 0xffa6dba0, 0xffd9f0d3 };

const Stops& stopsOf(ColorMapName map)
{
    switch (map) {
    case ColorMapName::Viridis:
        return Viridis;
    case ColorMapName::Greys:
        return Greys;
    case ColorMapName::Cividis:
        break;
    }
    return Cividis;
}

int mixed(int from, int to, double part) { return static_cast<int>(std::lround(from + (to - from) * part)); }

/// Linear in sRGB between evenly spaced stops.
QRgb between(const Stops& stops, double t)
{
    const double at = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto left = static_cast<std::size_t>(at);
    const QRgb a = stops[left];
    const QRgb b = stops[std::min(left + 1, stops.size() - 1)];
    const double part = at - static_cast<double>(left);
    return qRgb(mixed(qRed(a), qRed(b), part), mixed(qGreen(a), qGreen(b), part), mixed(qBlue(a), qBlue(b), part));
}

}

QString colorMapTitle(ColorMapName map)
{
    switch (map) {
    case ColorMapName::Viridis:
        return QStringLiteral("viridis");
    case ColorMapName::Greys:
        return QStringLiteral("greys");
    case ColorMapName::Cividis:
        break;
    }
    return QStringLiteral("cividis");
}

ColorTable makeColorTable(const HeatColors& colors, Shade shade)
{
    const double low = std::log10(colors.window.low);
    const double decades = std::max(1e-9, std::log10(colors.window.high) - low);
    ColorTable table {};
    table[0] = color(Token::ZeroCell, shade).rgb();
    for (std::size_t code = 1; code < table.size(); ++code) {
        const double share = app::heatShare(static_cast<std::uint8_t>(code));
        table[code] = between(stopsOf(colors.map), (std::log10(share) - low) / decades);
    }
    return table;
}

QRgb colorAt(ColorMapName map, double t) { return between(stopsOf(map), t); }

ColorTable makeSignedTable(Shade shade)
{
    ColorTable table {};
    for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = between(shade == Shade::Dark ? SignedDark : SignedLight, (static_cast<double>(i) - 1) / 254);
    return table;
}

std::uint8_t codeOfShare(double share)
{
    constexpr std::uint64_t Whole = 1'000'000'000'000;
    if (share <= 0)
        return 0;
    const double part = std::min(1.0, share) * static_cast<double>(Whole);
    return app::heatCode(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(part + 0.5)), Whole);
}

QString shareText(double share)
{
    if (share == 0)
        return QStringLiteral("0 %");
    const double percent = share * 100;
    if (percent < 0.001)
        return QString::number(percent, 'e', 1) + QStringLiteral(" %");
    const int decimals = std::max(0, 1 - static_cast<int>(std::floor(std::log10(percent) + 1e-9)));
    QString text = QString::number(percent, 'f', decimals);
    while (text.contains(QLatin1Char('.')) && (text.endsWith(QLatin1Char('0')) || text.endsWith(QLatin1Char('.'))))
        text.chop(1);
    return text + QStringLiteral(" %");
}

void paintUnknown(QPainter& painter, const QRect& rect)
{
    constexpr int Period = 6;
    const QRgb ground = color(Token::Sunken).rgb();
    const QRgb stripe = color(Token::OtherSeries).rgb();
    const QString key = QStringLiteral("ds/unknown/%1").arg(ground, 0, 16);
    QPixmap tile;
    if (!QPixmapCache::find(key, &tile)) {
        QImage image(Period, Period, QImage::Format_RGB32);
        const QRgb mixedStripe =
            qRgb(mixed(qRed(ground), qRed(stripe), 0.55), mixed(qGreen(ground), qGreen(stripe), 0.55),
                 mixed(qBlue(ground), qBlue(stripe), 0.55));
        image.fill(ground);
        for (int i = 0; i < Period; ++i)
            image.setPixel(i, Period - 1 - i, mixedStripe);
        tile = QPixmap::fromImage(image);
        QPixmapCache::insert(key, tile);
    }
    painter.drawTiledPixmap(rect, tile, rect.topLeft());
}

} // namespace deltascope::desktop
