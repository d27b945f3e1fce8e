#include "pages/live/live_plots.h"

#include "look/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <cmath>

namespace deltascope::desktop {

namespace {

struct LivePlotWords {
    Q_DECLARE_TR_FUNCTIONS(LivePlots)
};

constexpr std::size_t MostLines = 8; ///< of replicas; above that a band
constexpr double MuchLonger = 2; ///< than the median: worth a label

using Mark = PlotLegend::Mark;

PlotData begin(const app::SeriesView& series)
{
    PlotData data;
    data.epoch = series.epoch;
    data.points = series.points;
    data.anchors = series.anchors;
    data.format = [](double value) { return QString::number(value, 'g', 4); };
    return data;
}

/// The words that people gave steps, where these are.
std::vector<PlotMark> wordMarks(const LiveData& live)
{
    std::vector<PlotMark> marks;
    for (const app::RefView& ref : live.run->run->refs) {
        if (ref.step && ref.isHere && ref.epoch == live.epoch)
            marks.push_back({ *ref.step, safeName(ref.word), Token::Muted });
    }
    return marks;
}

const app::SeriesColumns& columnsOf(const app::SeriesView& view, const char* name)
{
    static const app::SeriesColumns none;
    const auto found = view.series.find(name);
    return found == view.series.end() ? none : found->second;
}

double highest(const app::SeriesColumns& columns)
{
    return columns.max.empty() ? 0.0 : *std::max_element(columns.max.begin(), columns.max.end());
}

double medianOf(std::vector<double> values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Seconds, or milliseconds where all values are below one second.
struct TimeUnit {
    double perSecond = 1;
    QString name = QStringLiteral("s");
};

TimeUnit unitFor(double mostSeconds)
{
    return mostSeconds > 0 && mostSeconds < 1 ? TimeUnit { 1000, QStringLiteral("ms") } : TimeUnit {};
}

}

LivePlot changedPlot(const LiveData& live)
{
    LivePlot plot { begin(live.lines), QStringLiteral("%"), LivePlotWords::tr("% of elements"), {} };
    plot.data.series.push_back({ LivePlotWords::tr("changed"), PlotDraw::Line, Token::Accent,
                                 scaled(columnsOf(live.lines, "changed_frac"), 100), 1.5 });
    plot.data.marks = wordMarks(live);
    plot.data.nothing = LivePlotWords::tr("Nothing is known of these steps yet");
    plot.data.format = [](double value) { return percentText(value / 100); };
    return plot;
}

LivePlot pausePlot(const LiveData& live)
{
    const app::SeriesColumns& ms = columnsOf(live.bars, "pause_ms");
    const double most = highest(ms) / 1e3;
    const TimeUnit unit = unitFor(most);
    LivePlot plot { begin(live.bars),
                    unit.name,
                    LivePlotWords::tr("%1, slowest replica").arg(unit.name),
                    { { LivePlotWords::tr("no tokens produced"), Mark::Square, Token::Pause } } };
    plot.data.series.push_back(
        { LivePlotWords::tr("paused"), PlotDraw::Bars, Token::Pause, scaled(ms, unit.perSecond / 1e3), 1 });
    plot.data.nothing = LivePlotWords::tr("No pause was reported for these steps");
    plot.data.format = [unit](double value) { return durationText(value / unit.perSecond); };
    if (most > MuchLonger * medianOf(ms.max) / 1e3) {
        const auto at = static_cast<std::size_t>(std::max_element(ms.max.begin(), ms.max.end()) - ms.max.begin());
        // Several steps may share the bar: the name of the step is that of the worst pause where spans tell it.
        const bool told = live.worstPause && std::abs(static_cast<double>(live.worstPause->us) / 1e6 - most) < 1e-3;
        const QString text = told ? LivePlotWords::tr("%1, %2, step %3")
                                        .arg(durationText(most), safeName(live.worstPause->actor))
                                        .arg(live.worstPause->step)
                                  : durationText(most);
        plot.data.labels.push_back({ ms.x[at], most * unit.perSecond, text });
    }
    return plot;
}

LivePlot deltaPlot(const LiveData& live)
{
    struct Unit {
        const char* name;
        double bytes;
    };
    static constexpr std::array<Unit, 5> Units {
        { { "B", 1 }, { "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "TB", 1e12 } }
    };
    const app::SeriesColumns& bytes = columnsOf(live.bars, "wire_bytes");
    Unit unit = Units.front();
    for (const Unit& larger : Units) {
        if (highest(bytes) >= larger.bytes)
            unit = larger;
    }
    const QString name = QString::fromLatin1(unit.name);
    LivePlot plot { begin(live.bars), name, LivePlotWords::tr("%1 on the wire").arg(name), {} };
    plot.data.series.push_back(
        { LivePlotWords::tr("delta"), PlotDraw::Bars, Token::Upload, scaled(bytes, 1 / unit.bytes), 1 });
    plot.data.format = [unit](double value) {
        return bytesText(static_cast<std::uint64_t>(std::max(0.0, std::round(value * unit.bytes))));
    };
    if (live.summary.kpi.fullBytes && !live.bars.anchors.empty())
        plot.legend.push_back({ LivePlotWords::tr("anchors %1 not drawn").arg(bytesText(live.summary.kpi.fullBytes)),
                                Mark::None, Token::Muted });
    return plot;
}

LivePlot syncPlot(const LiveData& live)
{
    const SyncStack& stack = live.sync;
    double most = 0;
    for (std::size_t i = 0; i < stack.steps.size(); ++i) {
        double sum = 0;
        for (const std::vector<double>& values : stack.seconds)
            sum += values[i];
        most = std::max(most, sum);
    }
    const TimeUnit unit = unitFor(most);
    LivePlot plot { begin(live.bars), unit.name, LivePlotWords::tr("%1, slowest replica").arg(unit.name), {} };
    plot.data.stacked = true;
    plot.data.nothing =
        LivePlotWords::tr("No sync times: they come from spans that trainer and replicas write beside the run");
    plot.data.format = [unit](double value) { return durationText(value / unit.perSecond); };
    for (const PhaseGroup group : PhaseGroups) {
        const std::vector<double>& values = stack.seconds[static_cast<std::size_t>(group)];
        const bool any = std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
        if (!any)
            continue;
        const app::SeriesColumns columns { stack.steps, values, values, values, values };
        plot.data.series.push_back(
            { groupText(group), PlotDraw::Bars, tokenOf(group), scaled(columns, unit.perSecond), 1 });
        plot.legend.push_back({ groupText(group), Mark::Square, tokenOf(group) });
    }
    return plot;
}

LivePlot lagPlot(const LiveData& live, std::optional<double> warnsAt, std::uint32_t pixels)
{
    LivePlot plot { begin(live.bars), LivePlotWords::tr("versions"), LivePlotWords::tr("versions behind"), {} };
    plot.data.nothing = live.replicas.empty() ? LivePlotWords::tr("No replica has reported")
                                              : LivePlotWords::tr("Nothing is known of these steps");
    plot.data.format = [](double value) { return QString::number(std::llround(value)); };
    const StepRange range { live.bars.from, live.bars.to };
    std::vector<PlotSeries> lines; // the worst last: on top
    for (const app::ReplicaHistoryView& replica : live.replicas) {
        std::vector<std::pair<std::int64_t, double>> values;
        for (std::size_t i = 0; i < replica.lagHistory.size(); ++i) {
            const auto lag = static_cast<double>(static_cast<std::int64_t>(replica.lagHistory[i]));
            if (i > 0 && replica.lagSteps[i] == replica.lagSteps[i - 1])
                values.back().second = lag; // now, after the newest version was published
            else
                values.emplace_back(replica.lagSteps[i], lag);
        }
        lines.push_back({ safeName(replica.replica.id), PlotDraw::Steps, Token::OtherSeries,
                          app::makeColumns(values, range.first, range.second, pixels), 1 });
    }
    std::erase_if(lines, [](const PlotSeries& line) { return line.columns.x.empty(); });
    if (lines.empty())
        return plot;
    std::stable_sort(lines.begin(), lines.end(),
                     [](const PlotSeries& a, const PlotSeries& b) { return highest(a.columns) < highest(b.columns); });
    PlotSeries& worst = lines.back();
    worst.token = Token::Text;
    worst.width = 2;
    plot.legend.push_back({ worst.label, Mark::Line, Token::Text });
    if (lines.size() == 2)
        plot.legend.push_back({ lines.front().label, Mark::FaintLine, Token::OtherSeries });
    else if (lines.size() > 2)
        plot.legend.push_back(
            { LivePlotWords::tr("%1 others").arg(lines.size() - 1), Mark::FaintLine, Token::OtherSeries });
    if (const double top = highest(worst.columns); top >= 2) {
        const auto& max = worst.columns.max;
        const auto at = static_cast<std::size_t>(std::max_element(max.begin(), max.end()) - max.begin());
        plot.data.labels.push_back(
            { worst.columns.x[at], top, LivePlotWords::tr("⚑ %1 worst %2").arg(worst.label).arg(std::llround(top)) });
    }
    if (warnsAt)
        plot.data.threshold = { *warnsAt, LivePlotWords::tr("warns at %1 for 60 s").arg(*warnsAt) };
    if (lines.size() > MostLines)
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(MostLines));
    plot.data.series = std::move(lines);
    return plot;
}

} // namespace deltascope::desktop
