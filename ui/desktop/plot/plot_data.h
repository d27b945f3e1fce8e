#pragma once

#include "deltascope/app/view/series_view.h"
#include "look/tokens.h"
#include "state/step_cursor.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace deltascope::desktop {

// What a chart over steps shows. Values are in the unit that the chart names; plain data, any thread.

enum class PlotDraw {
    Line,
    Steps, ///< holds its value until the next point
    Bars, ///< from zero
};

struct PlotSeries {
    QString label;
    PlotDraw draw = PlotDraw::Line;
    Token token = Token::Accent;
    app::SeriesColumns columns; ///< decimated: at most one bucket per pixel, for bars one per bar
    double width = 1.5;
};

/// A word beside a value that stands out.
struct PlotLabel {
    std::int64_t step = 0;
    double value = 0;
    QString text;
};

/// A vertical line with a mark on top.
struct PlotMark {
    std::int64_t step = 0;
    QString text;
    Token token = Token::Text;
};

struct PlotThreshold {
    double value = 0;
    QString text;
};

/// When steps were published: the other way to lay out the x axis. Steps without a time are between their neighbors.
class StepClock {
public:
    /// Ascending steps and microseconds since 1970; times that go back are held.
    explicit StepClock(std::vector<std::pair<std::int64_t, std::int64_t>> times);

    double secondsAt(double step) const; ///< since 1970
    double stepAt(double seconds) const;
    double begin() const { return m_seconds.front(); } ///< seconds of the first step
    bool isEmpty() const { return m_steps.size() < 2; }

private:
    std::vector<double> m_steps;
    std::vector<double> m_seconds;
};

enum class PlotX {
    Step,
    Wall, ///< time of day
    SinceStart, ///< of the epoch
};

struct PlotData {
    std::vector<PlotSeries> series; ///< in the order of painting, of a stack from the bottom
    bool stacked = false; ///< all are bars over the same steps
    int epoch = 0;
    StepRange range { 0, 0 }; ///< shown
    StepRange limit { 0, 0 }; ///< how far the range can grow
    std::uint64_t points = 0; ///< before decimation
    std::vector<std::int64_t> anchors;
    std::vector<PlotLabel> labels;
    std::vector<PlotMark> marks;
    std::optional<PlotThreshold> threshold;
    std::shared_ptr<const StepClock> clock; ///< of the epoch; null: only steps are known
    QString nothing; ///< said where there are no values; empty: that there are none in this range
    std::function<QString(double)> format; ///< a value with its unit; never null

    bool isEmpty() const;
    bool fromZero() const; ///< bars begin at zero, and so does what is counted
};

/// Multiplies all values.
app::SeriesColumns scaled(app::SeriesColumns columns, double factor);

/// Exponential smoothing with the bias of its start taken out: s = w·s + (1 − w)·y, divided by 1 − wⁿ after n values.
/// What is not finite is passed over.
std::vector<double> smoothed(const std::vector<double>& values, double w);

/// The usual distance between neighbors, at least 1.
std::int64_t usualDistance(const std::vector<std::int64_t>& steps);

/// Indices [begin, end) of stretches without a hole. Neighbors much further apart than usual are a hole; anchors, which
/// have no value, are none.
std::vector<std::pair<std::size_t, std::size_t>> stretchesOf(const std::vector<std::int64_t>& steps);

/// Index of the step nearest to `wanted`; nothing in an empty list.
std::optional<std::size_t> nearestIndex(const std::vector<std::int64_t>& steps, double wanted);

/// A range after zooming by `factor` around `center`, at least two steps wide and within `limit`.
StepRange zoomedRange(StepRange range, double center, double factor, StepRange limit);
StepRange pannedRange(StepRange range, double by, StepRange limit);

/// All steps at which one of the series has a value, ascending.
std::vector<std::int64_t> stepsOf(const PlotData& data);

/// One row per step, one column per series; empty where a value is missing. `separator`: a comma or a tab.
QByteArray linesOf(const PlotData& data, const QString& unit, QChar separator);

} // namespace deltascope::desktop
