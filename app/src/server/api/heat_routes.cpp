#include "context.h"

#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/touched_view.h"
#include "view/json_parts.h"
#include "view/step_address.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

using nlohmann::ordered_json;

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
    ordered_json changed = nullptr;
    if (const auto counts = context.service.countsOf(heat, at)) {
        const auto found =
            std::find_if(counts->begin(), counts->end(), [&](const auto& count) { return count.first == tensor.name; });
        changed = found == counts->end() ? 0 : found->second;
    }
    return jsonAnswer(dump({ { "tensor", tensor.name },
                             { "step", heat.columns[at].step },
                             { "changed", std::move(changed) },
                             { "total", tensor.elements } }),
                      context.etag(heat.revision));
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
    ordered_json columns = ordered_json::array();
    for (std::int64_t at = begin; at < end; ++at) {
        const std::size_t column = first + static_cast<std::size_t>(at);
        ordered_json changed = nullptr;
        if (const auto known = context.service.countsOf(heat, column)) {
            changed = ordered_json::object();
            for (const auto& [tensor, count] : *known)
                changed[tensor] = count;
        }
        columns.push_back({ { "step", heat.columns[column].step },
                            { "chain", heat.columns[column].chainKey },
                            { "changed", std::move(changed) } });
    }
    return jsonAnswer(dump({ { "rev", heat.revision }, { "epoch", epoch }, { "columns", std::move(columns) } }));
}

/// What the deltas behind step a up to step b touch.
Result<HttpResponse> touched(Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.heatOf(call));
    DS_TRY(const StepView* a, findStep(*snapshot->run, textOf(call.request, "a")));
    DS_TRY(const StepView* b, findStep(*snapshot->run, textOf(call.request, "b")));
    DS_TRY(const TouchedView view, makeTouchedView(context.service, *snapshot, *a, *b));
    ordered_json tensors = ordered_json::array();
    for (const TouchedTensorView& tensor : view.tensors)
        tensors.push_back(
            { { "name", tensor.name }, { "elements", tensor.elements }, { "touched_at_most", tensor.atMost } });
    return jsonAnswer(
        dump({ { "rev", view.revision },
               { "a", view.a },
               { "b", view.b },
               { "elements_at_most", view.elementsAtMost },
               { "elements_total", view.elementsTotal ? ordered_json(*view.elementsTotal) : ordered_json(nullptr) },
               { "tensors", std::move(tensors) } }),
        context.etag(view.revision));
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
