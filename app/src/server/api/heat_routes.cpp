#include "context.h"

#include "deltascope/app/view/dashboard_json.h"
#include "view/json_parts.h"
#include "view/step_address.h"

#include <algorithm>
#include <map>
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

/// What the deltas behind step a up to step b touch: sums of counts, an upper bound of what differs.
Result<HttpResponse> touched(Context& context, const Call& call)
{
    constexpr std::size_t MostColumns = 2000;
    DS_TRY(const Context::Snapshot snapshot, context.heatOf(call));
    const HeatView& heat = *snapshot->heat;
    DS_TRY(const StepView* a, findStep(*snapshot->run, textOf(call.request, "a")));
    DS_TRY(const StepView* b, findStep(*snapshot->run, textOf(call.request, "b")));
    if (a->epoch != b->epoch)
        return fail(Code::Usage, "the steps are of two epochs, which share no chain", snapshot->name,
                    "compare them exactly");
    if (a->step > b->step)
        std::swap(a, b);
    const auto from = heat.columnOf(a->epoch, a->step);
    const auto to = heat.columnOf(b->epoch, b->step);
    if (!from || !to || *to - *from > MostColumns)
        return fail(Code::Unsupported, "touched elements are added up over at most 2,000 known steps", snapshot->name,
                    "compare them exactly");
    std::map<std::string, std::uint64_t, std::less<>> sums;
    for (std::size_t column = *from + 1; column <= *to; ++column) {
        const auto counts = context.service.countsOf(heat, column);
        if (!counts)
            return fail(Code::NotFound, "a step between them was not replayed", heat.columns[column].name,
                        "compare them exactly");
        for (const auto& [name, count] : *counts)
            sums[name] += count;
    }
    std::uint64_t all = 0;
    std::vector<std::pair<const TensorRowView*, std::uint64_t>> rows;
    for (const TensorRowView& tensor : heat.rows) {
        const auto sum = sums.find(tensor.name);
        if (sum == sums.end() || sum->second == 0)
            continue;
        rows.emplace_back(&tensor, std::min(sum->second, tensor.elements));
        all += rows.back().second;
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
    ordered_json tensors = ordered_json::array();
    for (const auto& [tensor, count] : rows)
        tensors.push_back({ { "name", tensor->name }, { "elements", tensor->elements }, { "touched_at_most", count } });
    return jsonAnswer(
        dump({ { "rev", heat.revision },
               { "a", a->step },
               { "b", b->step },
               { "elements_at_most", all },
               { "elements_total", b->totalElements ? ordered_json(*b->totalElements) : ordered_json(nullptr) },
               { "tensors", std::move(tensors) } }),
        context.etag(heat.revision));
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
    get("runs/{}/heat/{}/{}/{}/{}/{}", tile);
    get("runs/{}/touched", touched);
}

} // namespace deltascope::server
