#pragma once

#include "state/step_cursor.h"

#include <QString>

#include <optional>
#include <vector>

namespace deltascope::desktop {

// Where the axes of charts have their labels. Pure; any thread.

enum class PlotScale {
    Linear,
    Log, ///< of values above 0
    SymLog, ///< linear around 0, logarithmic away from it on both sides
};

/// The values between which a chart is drawn, and those that have a grid line.
struct ValueAxis {
    double low = 0; ///< what scaled() makes of the lowest and the highest value
    double high = 1;
    std::vector<double> ticks; ///< values, ascending, within
    int decimals = 0; ///< that tell the ticks apart
    PlotScale scale = PlotScale::Linear;
    double linearTo = 1; ///< about where a SymLog axis turns logarithmic
    bool cuts = false; ///< higher values exist

    double scaled(double value) const;
    /// 0 at the bottom, 1 at the top; of a Log axis, what is not positive is at the bottom.
    double place(double value) const;
    QString text(double tick) const;
};

/// About `wanted` round values around [low, high], with room above. `integers`: no ticks between whole numbers.
ValueAxis makeValueAxis(double low, double high, bool fromZero, int wanted, bool integers = false);
/// Where an axis may end that is not made for a few outliers: well above the usual, if the highest value is more than
/// three times that; nothing: everything fits. What is higher is cut and says so. Shuffles `values`.
std::optional<double> outlierCut(std::vector<double>& values);
/// Decades around [low, high], both above 0.
ValueAxis makeLogAxis(double low, double high, int wanted);
/// 0 and decades on its sides as far as low and high are, from `least` on: the smallest distance from 0 that is to be
/// told from it, above 0.
ValueAxis makeSymLogAxis(double low, double high, double least, int wanted);

/// Distance of labels: 1, 2 or 5 times a power of ten and at least `least`.
double roundDistance(double least);
/// The same for times, in seconds: 1, 2, 5, 10, 15 or 30 of a unit; whole seconds at least.
double roundTime(double least);
/// Round steps in a range, so that labels are at least `pixels` apart.
std::vector<std::int64_t> stepTicks(StepRange range, double pixelsPerStep, double pixels);

} // namespace deltascope::desktop
