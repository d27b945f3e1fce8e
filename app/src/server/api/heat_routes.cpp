#include "context.h"

#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/touched_view.h"
#include "view/heat_description.h"
#include "view/io/json_writer.h"
#include "view/step_address.h"
#include "view/touched_description.h"

#include <algorithm>

namespace deltascope::server {

using namespace app;

namespace {

Result<HttpResponse> tile(Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.heatOf(call));
    DS_TRY(const int epoch, epochOf(call.request, *snapshot->run));
    const HeatView& heat = *snapshot->heat;
    const auto [first, last] = heat.columnsOf(epoch);
    const std::string& pool = call.parts[1];
    if (pool != "max" && pool != "mean")
        return fail(Code::Usage, "cells are merged by max or by mean", pool);
    DS_TRY(const std::int64_t levelY, parseNumber(call.parts[2], "a level", 0, heatLevels(heat.rows.size()) - 1));
    DS_TRY(const std::int64_t levelX, parseNumber(call.parts[3], "a level", 0, heatLevels(last - first) - 1));
    DS_TRY(const std::int64_t tileY, parseNumber(call.parts[4], "a tile", 0, INT32_MAX));
    DS_TRY(const std::int64_t tileX, parseNumber(call.parts[5], "a tile", 0, INT32_MAX));
    const HeatTile made =
        makeHeatTile(heat, epoch, pool == "max" ? HeatPool::Max : HeatPool::Mean, static_cast<unsigned>(levelY),
                     static_cast<unsigned>(levelX), static_cast<std::size_t>(tileY), static_cast<std::size_t>(tileX));
    HttpResponse answer;
    answer.contentType = "application/octet-stream";
    answer.body.assign(made.codes.begin(), made.codes.end());
    answer.body.append(made.unknown.begin(), made.unknown.end());
    answer.headers.emplace_back("X-Unknown", made.unknown.empty() ? "none" : "mask");
    answer.etag = context.etag(heat.revision);
    return answer;
}

/// Exact counts of one cell: what its code is made from.
Result<HttpResponse> cell(Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.heatOf(call));
    DS_TRY(const int epoch, epochOf(call.request, *snapshot->run));
    const HeatView& heat = *snapshot->heat;
    const auto [first, last] = heat.columnsOf(epoch);
    DS_TRY(const std::optional<std::int64_t> row,
           numberOf(call.request, "row", 0, static_cast<std::int64_t>(heat.rows.size()) - 1));
    DS_TRY(const std::optional<std::int64_t> column,
           numberOf(call.request, "column", 0, static_cast<std::int64_t>(last - first) - 1));
    if (!row || !column)
        return fail(Code::Usage, "a cell has a row and a column");
    const TensorRowView& tensor = heat.rows[static_cast<std::size_t>(*row)];
    const std::size_t at = first + static_cast<std::size_t>(*column);
    HeatCellView view { tensor.name, heat.columns[at].step, std::nullopt, tensor.elements };
    if (const auto counts = context.service.countsOf(heat, at)) {
        const auto found =
            std::find_if(counts->begin(), counts->end(), [&](const auto& count) { return count.first == tensor.name; });
        view.changed = found == counts->end() ? 0 : found->second;
    }
    return jsonAnswer(dump(written(view)), context.etag(heat.revision));
}

/// Exact counts of whole columns, of tensors that changed: for copies of a run that ask for many.
Result<HttpResponse> counts(Context& context, const Call& call)
{
    constexpr std::int64_t MostColumns = 256;
    DS_TRY(const Context::Snapshot snapshot, context.heatOf(call));
    DS_TRY(const int epoch, epochOf(call.request, *snapshot->run));
    const HeatView& heat = *snapshot->heat;
    const auto [first, last] = heat.columnsOf(epoch);
    const auto most = static_cast<std::int64_t>(last - first);
    DS_TRY(const std::optional<std::int64_t> from, numberOf(call.request, "from", 0, most));
    DS_TRY(const std::optional<std::int64_t> to, numberOf(call.request, "to", 0, most));
    const std::int64_t begin = from.value_or(0);
    const std::int64_t end = std::min(to.value_or(most), begin + MostColumns);
    HeatCountsView view { heat.revision, epoch, {} };
    for (std::int64_t at = begin; at < end; ++at) {
        const std::size_t column = first + static_cast<std::size_t>(at);
        view.columns.push_back(
            { heat.columns[column].step, heat.columns[column].chainKey, context.service.countsOf(heat, column) });
    }
    return jsonAnswer(dump(written(view)));
}

/// What the deltas behind step a up to step b touch.
Result<HttpResponse> touched(Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.heatOf(call));
    DS_TRY(const StepView* a, findStep(*snapshot->run, textOf(call.request, "a")));
    DS_TRY(const StepView* b, findStep(*snapshot->run, textOf(call.request, "b")));
    DS_TRY(const TouchedView view, makeTouchedView(context.service, *snapshot, *a, *b));
    return jsonAnswer(dump(written(view)), context.etag(view.revision));
}

}

void addHeatRoutes(Routes& routes, Context& context)
{
    const auto get = [&](std::string_view pattern, auto handler) {
        routes.add("GET", pattern, Scope::Read,
                   answering([&context, handler](const Call& call) { return handler(context, call); }));
    };
    get("runs/{}/tensors", [](Context& c, const Call& call) -> Result<HttpResponse> {
        DS_TRY(const Context::Snapshot snapshot, c.heatOf(call));
        DS_TRY(const int epoch, epochOf(call.request, *snapshot->run));
        return jsonAnswer(tensorsToJson(*snapshot->heat, epoch), c.etag(snapshot->heat->revision));
    });
    get("runs/{}/heat", [](Context& c, const Call& call) -> Result<HttpResponse> {
        DS_TRY(const Context::Snapshot snapshot, c.heatOf(call));
        DS_TRY(const int epoch, epochOf(call.request, *snapshot->run));
        return jsonAnswer(heatIndexToJson(*snapshot->heat, *snapshot, epoch), c.etag(snapshot->revision));
    });
    get("runs/{}/heat/cell", cell);
    get("runs/{}/heat/counts", counts);
    get("runs/{}/heat/{}/{}/{}/{}/{}", tile);
    get("runs/{}/touched", touched);
}

} // namespace deltascope::server
