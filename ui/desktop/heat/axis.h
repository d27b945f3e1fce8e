#pragma once

namespace deltascope::desktop {

/// Which stretch of `count` cells is seen on `size` pixels. Pure arithmetic.
struct Axis {
    static constexpr double MostPerCell = 64; ///< pixels

    double first = 0; ///< cell at pixel 0; may be a fraction
    double cell = 1; ///< pixels per cell
    double size = 0; ///< pixels
    int count = 0;

    bool operator==(const Axis&) const = default;

    double toPixel(double at) const { return (at - first) * cell; }
    int cellAt(double pixel) const; ///< -1: outside of the cells
    double seen() const { return size / cell; } ///< cells that have room
    bool seesAll() const { return seen() > count - 0.5; }
    double smallestCell() const;

    /// The same without empty space beside the cells while there are enough of them.
    Axis clamped() const;
    Axis fitted() const; ///< all cells
    Axis panned(double pixels) const; ///< content moves by so much
    Axis zoomed(double pixel, double factor) const; ///< what is under `pixel` stays there
    Axis showing(double from, double to) const; ///< the cells [from, to)
    Axis revealing(int at) const; ///< moved as little as needed to have the cell in view
    Axis withCount(int cells) const;
    Axis withSize(double pixels) const;
};

/// Level of the pyramid at which merged cells are at least one pixel wide.
unsigned levelFor(double cell, unsigned levels);
/// Distance of labels: 1, 2 or 5 times a power of ten, so that they are at least `pixels` apart.
long long tickStep(double cell, double pixels);

} // namespace deltascope::desktop
