#include "deltascope/app/view/series_view.h"

#include <algorithm>
#include <optional>

namespace deltascope::app {

namespace {

/// What a series is made from.
struct Source {
    const RunView& run;
    std::map<std::int64_t, double> syncMs; ///< the slowest replica of each step
    std::map<std::int64_t, double> driftElements;
};

/// The value of a series at a step; `previous`: the version before it, or null.
using Value = std::optional<double> (*)(const Source& source, const StepView& step, const StepView* previous);

std::optional<double> at(const std::map<std::int64_t, double>& values, std::int64_t step)
{
    const auto found = values.find(step);
    return found == values.end() ? std::nullopt : std::optional(found->second);
}

template <class T> std::optional<double> number(const std::optional<T>& value)
{
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> intervalSeconds(const StepView& step, const StepView* previous)
{
    if (!previous || previous->publishedUs <= 0 || step.publishedUs < previous->publishedUs)
        return std::nullopt;
    return static_cast<double>(step.publishedUs - previous->publishedUs) / 1e6;
}

struct Named {
    std::string_view name;
    Value value;
};

constexpr Named Series[] = {
    { "changed_frac", [](const Source&, const StepView& step, const StepView*) { return step.changedFraction; } },
    { "changed_elems",
      [](const Source&, const StepView& step, const StepView*) { return number(step.changedVsPrevious); } },
    { "wire_bytes",
      [](const Source&, const StepView& step, const StepView*) {
          return step.kind == "delta" ? std::optional(static_cast<double>(step.wireBytes)) : std::nullopt;
      } },
    { "pause_ms", [](const Source&, const StepView& step, const StepView*) { return step.pauseMs; } },
    { "interval_s",
      [](const Source&, const StepView& step, const StepView* previous) { return intervalSeconds(step, previous); } },
    { "sync_ms",
      [](const Source& source, const StepView& step, const StepView*) { return at(source.syncMs, step.step); } },
    { "drift_elems",
      [](const Source& source, const StepView& step, const StepView*) { return at(source.driftElements, step.step); } },
};

/// Collects values in ascending order of steps.
class Decimation {
public:
    Decimation(std::int64_t from, std::int64_t to, std::uint32_t pixels)
        : m_from(from)
        , m_perPixel(pixels == 0 ? 0 : static_cast<double>(to - from + 1) / pixels)
    {
    }

    void add(std::int64_t step, double value)
    {
        const auto bucket =
            m_perPixel > 0 ? static_cast<std::int64_t>(static_cast<double>(step - m_from) / m_perPixel) : step;
        if (m_out.x.empty() || bucket != m_bucket) {
            m_bucket = bucket;
            m_out.x.push_back(step);
            for (std::vector<double>* values : { &m_out.first, &m_out.min, &m_out.max, &m_out.last })
                values->push_back(value);
            return;
        }
        m_out.x.back() = step;
        m_out.min.back() = std::min(m_out.min.back(), value);
        m_out.max.back() = std::max(m_out.max.back(), value);
        m_out.last.back() = value;
    }

    SeriesColumns take() { return std::move(m_out); }

private:
    std::int64_t m_from;
    double m_perPixel;
    std::int64_t m_bucket = 0;
    SeriesColumns m_out;
};

const std::vector<StepView>* stepsOf(const RunView& run, int epoch)
{
    const auto found =
        std::find_if(run.epochs.begin(), run.epochs.end(), [&](const EpochView& view) { return view.epoch == epoch; });
    return found == run.epochs.end() ? nullptr : &found->steps;
}

}

const std::vector<std::string_view>& seriesNames()
{
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> made;
        for (const Named& series : Series)
            made.push_back(series.name);
        return made;
    }();
    return names;
}

SeriesColumns makeColumns(const std::vector<std::pair<std::int64_t, double>>& values, std::int64_t from,
                          std::int64_t to, std::uint32_t pixels)
{
    Decimation decimation(from, to, pixels);
    for (const auto& [step, value] : values) {
        if (step >= from && step <= to)
            decimation.add(step, value);
    }
    return decimation.take();
}

SeriesView makeSeries(const RunView& run, const TimelineView& timeline, const std::vector<std::string>& names,
                      const SeriesRange& range)
{
    SeriesView view;
    view.revision = run.revision;
    view.epoch = range.epoch;
    const std::vector<StepView>* steps = stepsOf(run, range.epoch);
    if (!steps || steps->empty())
        return view;
    view.from = std::max(range.from, steps->front().step);
    view.to = std::min(range.to, steps->back().step);

    Source source { run, {}, {} };
    for (const BarView& bar : timeline.bars) {
        double& slowest = source.syncMs[bar.step];
        slowest = std::max(slowest, static_cast<double>(bar.t1Us - bar.t0Us) / 1e3);
    }
    for (const DriftView& drift : run.drift) {
        if (drift.epoch == range.epoch)
            source.driftElements[drift.step] = static_cast<double>(drift.estimate.value_or(drift.differs));
    }

    std::vector<std::pair<const Named*, Decimation>> wanted;
    for (const Named& series : Series) {
        if (std::find(names.begin(), names.end(), series.name) != names.end())
            wanted.emplace_back(&series, Decimation(view.from, view.to, range.pixels));
    }
    const StepView* previous = nullptr;
    for (const StepView& step : *steps) {
        if (step.state == "gap")
            continue;
        if (step.step >= view.from && step.step <= view.to) {
            ++view.points;
            if (step.kind == "anchor")
                view.anchors.push_back(step.step);
            for (auto& [series, decimation] : wanted) {
                if (const std::optional<double> value = series->value(source, step, previous))
                    decimation.add(step.step, *value);
            }
        }
        previous = &step;
    }
    for (auto& [series, decimation] : wanted)
        view.series.emplace(series->name, decimation.take());
    return view;
}

} // namespace deltascope::app
