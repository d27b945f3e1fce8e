#include "plot/plot_data.h"

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

bool PlotData::isEmpty() const
{
    return std::all_of(series.begin(), series.end(), [](const PlotSeries& one) { return one.columns.x.empty(); });
}

bool PlotData::fromZero() const
{
    return std::any_of(series.begin(), series.end(), [](const PlotSeries& one) { return one.draw != PlotDraw::Line; });
}

app::SeriesColumns scaled(app::SeriesColumns columns, double factor)
{
    for (std::vector<double>* values : { &columns.first, &columns.min, &columns.max, &columns.last }) {
        for (double& value : *values)
            value *= factor;
    }
    return columns;
}

namespace {

/// Piecewise linear, and on beyond both ends as in the last piece.
double between(const std::vector<double>& from, const std::vector<double>& to, double at)
{
    const auto after = std::upper_bound(from.begin() + 1, from.end() - 1, at);
    const auto i = static_cast<std::size_t>(after - from.begin());
    const double width = from[i] - from[i - 1];
    return width > 0 ? to[i - 1] + (at - from[i - 1]) / width * (to[i] - to[i - 1]) : to[i - 1];
}

}

StepClock::StepClock(std::vector<std::pair<std::int64_t, std::int64_t>> times)
{
    for (const auto& [step, us] : times) {
        const double seconds = static_cast<double>(us) / 1e6;
        m_steps.push_back(static_cast<double>(step));
        m_seconds.push_back(m_seconds.empty() ? seconds : std::max(seconds, m_seconds.back()));
    }
}

double StepClock::secondsAt(double step) const { return between(m_steps, m_seconds, step); }

double StepClock::stepAt(double seconds) const { return between(m_seconds, m_steps, seconds); }

std::vector<double> smoothed(const std::vector<double>& values, double w)
{
    std::vector<double> out;
    out.reserve(values.size());
    double sum = 0;
    double weight = 1; // w to the power of the values so far
    for (const double value : values) {
        if (!std::isfinite(value)) {
            out.push_back(value);
            continue;
        }
        sum = w * sum + (1 - w) * value;
        weight *= w;
        out.push_back(w > 0 ? sum / (1 - weight) : value);
    }
    return out;
}

std::int64_t usualDistance(const std::vector<std::int64_t>& steps)
{
    if (steps.size() < 2)
        return 1;
    std::vector<std::int64_t> distances;
    distances.reserve(steps.size());
    for (std::size_t i = 1; i < steps.size(); ++i)
        distances.push_back(steps[i] - steps[i - 1]);
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    return std::max<std::int64_t>(1, *middle);
}

std::vector<std::pair<std::size_t, std::size_t>> stretchesOf(const std::vector<std::int64_t>& steps)
{
    std::vector<std::pair<std::size_t, std::size_t>> stretches;
    const std::int64_t hole = 3 * usualDistance(steps);
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= steps.size(); ++i) {
        if (i < steps.size() && steps[i] - steps[i - 1] <= hole)
            continue;
        stretches.emplace_back(begin, i);
        begin = i;
    }
    return stretches;
}

std::optional<std::size_t> nearestIndex(const std::vector<std::int64_t>& steps, double wanted)
{
    if (steps.empty())
        return std::nullopt;
    const auto after = std::lower_bound(steps.begin(), steps.end(), wanted,
                                        [](std::int64_t step, double x) { return static_cast<double>(step) < x; });
    const auto at = static_cast<std::size_t>(after - steps.begin());
    if (at == steps.size())
        return at - 1;
    if (at == 0)
        return at;
    return wanted - static_cast<double>(steps[at - 1]) < static_cast<double>(steps[at]) - wanted ? at - 1 : at;
}

StepRange zoomedRange(StepRange range, double center, double factor, StepRange limit)
{
    const auto first = static_cast<double>(range.first);
    const auto last = static_cast<double>(range.second);
    StepRange wanted { std::llround(center - (center - first) * factor),
                       std::llround(center + (last - center) * factor) };
    if (wanted == range && factor > 1)
        wanted = { range.first - 1, range.second + 1 };
    if (wanted.second - wanted.first < 2)
        return range;
    return { std::max(limit.first, wanted.first), std::min(limit.second, wanted.second) };
}

StepRange pannedRange(StepRange range, double by, StepRange limit)
{
    const std::int64_t shift =
        std::clamp<std::int64_t>(std::llround(by), std::min<std::int64_t>(0, limit.first - range.first),
                                 std::max<std::int64_t>(0, limit.second - range.second));
    return { range.first + shift, range.second + shift };
}

std::vector<std::int64_t> stepsOf(const PlotData& data)
{
    std::vector<std::int64_t> steps;
    for (const PlotSeries& series : data.series)
        steps.insert(steps.end(), series.columns.x.begin(), series.columns.x.end());
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
}

QByteArray linesOf(const PlotData& data, const QString& unit, QChar separator)
{
    const auto quoted = [](QString text) {
        return QChar(u'"') + text.replace(QChar(u'"'), QStringLiteral("\"\"")) + QChar(u'"');
    };
    QString text = QStringLiteral("step");
    for (const PlotSeries& series : data.series)
        text += separator + quoted(unit.isEmpty() ? series.label : QStringLiteral("%1 (%2)").arg(series.label, unit));
    text += QChar(u'\n');
    std::vector<std::size_t> at(data.series.size(), 0);
    for (const std::int64_t step : stepsOf(data)) {
        text += QString::number(step);
        for (std::size_t i = 0; i < data.series.size(); ++i) {
            const app::SeriesColumns& columns = data.series[i].columns;
            text += separator;
            if (at[i] < columns.x.size() && columns.x[at[i]] == step)
                text += QString::number(columns.last[at[i]++], 'g', 12);
        }
        text += QChar(u'\n');
    }
    return text.toUtf8();
}

} // namespace deltascope::desktop
