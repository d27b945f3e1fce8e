#pragma once

#include "state/step_cursor.h"

#include <QString>

#include <optional>
#include <vector>

namespace deltascope::desktop {

// Where the axes of charts have their labels. Pure; any thread.

/// The values between which a chart is drawn, and those that have a grid line.
struct ValueAxis {
    double low = 0; ///< of a log axis: the decimal logarithm
    double high = 1;
    std::vector<double> ticks; ///< values, ascending, within
    int decimals = 0; ///< that tell the ticks apart
    bool log = false;
    bool cuts = false; ///< higher values exist

    /// 0 at the bottom, 1 at the top; of a log axis, what is not positive is at the bottom.
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

/// Distance of labels: 1, 2 or 5 times a power of ten and at least `least`.
double roundDistance(double least);
/// The same for times, in seconds: 1, 2, 5, 10, 15 or 30 of a unit; whole seconds at least.
double roundTime(double least);
/// Round steps in a range, so that labels are at least `pixels` apart.
std::vector<std::int64_t> stepTicks(StepRange range, double pixelsPerStep, double pixels);

} // namespace deltascope::desktop
