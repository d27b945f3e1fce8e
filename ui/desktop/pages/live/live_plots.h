#pragma once

#include "pages/live/live_data.h"
#include "plot/plot_card.h"

namespace deltascope::desktop {

// From the view-models of the page Live to what its charts show. GUI thread, quick.

/// A chart, the unit of its values, the words of its header.
struct LivePlot {
    PlotData data;
    QString unit;
    QString note;
    std::vector<PlotLegend::Entry> legend;
};

LivePlot changedPlot(const LiveData& live);
LivePlot pausePlot(const LiveData& live);
LivePlot deltaPlot(const LiveData& live);
LivePlot syncPlot(const LiveData& live);
/// `warnsAt`: threshold of the rule about lag; nothing: it is off. `pixels`: of the plot.
LivePlot lagPlot(const LiveData& live, std::optional<double> warnsAt, std::uint32_t pixels);

} // namespace deltascope::desktop
