#include "heat/axis.h"

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

int Axis::cellAt(double pixel) const
{
    const double at = std::floor(first + pixel / cell);
    return pixel >= 0 && pixel < size && at >= 0 && at < count ? static_cast<int>(at) : -1;
}

double Axis::smallestCell() const { return std::min(MostPerCell, size / std::max(1, count)); }

Axis Axis::clamped() const
{
    Axis axis = *this;
    const double least = std::max(1e-6, smallestCell());
    axis.cell = std::clamp(cell, least, std::max(least, MostPerCell));
    axis.first = std::clamp(first, 0.0, std::max(0.0, count - size / axis.cell));
    return axis;
}

Axis Axis::fitted() const
{
    Axis axis = *this;
    axis.first = 0;
    axis.cell = smallestCell();
    return axis.clamped();
}

Axis Axis::panned(double pixels) const
{
    Axis axis = *this;
    axis.first -= pixels / cell;
    return axis.clamped();
}

Axis Axis::zoomed(double pixel, double factor) const
{
    Axis axis = *this;
    const double anchor = first + pixel / cell;
    axis.cell = std::clamp(cell * factor, std::max(1e-6, smallestCell()), MostPerCell);
    axis.first = anchor - pixel / axis.cell;
    return axis.clamped();
}

Axis Axis::showing(double from, double to) const
{
    Axis axis = *this;
    axis.first = from;
    axis.cell = size / std::max(1.0, to - from);
    return axis.clamped();
}

Axis Axis::revealing(int at) const
{
    Axis axis = *this;
    if (at < first)
        axis.first = at;
    else if (at + 1 > first + seen())
        axis.first = at + 1 - seen();
    else
        return axis;
    return axis.clamped();
}

Axis Axis::withCount(int cells) const
{
    Axis axis = *this;
    axis.count = cells;
    return seesAll() ? axis.fitted() : axis.clamped();
}

Axis Axis::withSize(double pixels) const
{
    Axis axis = *this;
    axis.size = pixels;
    return size == 0 || seesAll() ? axis.fitted() : axis.clamped();
}

unsigned levelFor(double cell, unsigned levels)
{
    const int level = cell >= 1 ? 0 : static_cast<int>(std::ceil(-std::log2(cell) - 1e-9));
    return std::min(levels - 1, static_cast<unsigned>(level));
}

long long tickStep(double cell, double pixels)
{
    const double least = std::max(1.0, pixels / cell);
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double n : { 1.0, 2.0, 5.0 }) {
        if (n * power >= least - 1e-9)
            return std::llround(n * power);
    }
    return std::llround(10 * power);
}

} // namespace deltascope::desktop
