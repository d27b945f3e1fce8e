#include "context.h"

#include "deltascope/app/command_line.h"
#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/json.h"
#include "view/io/text_writer.h"
#include "view/step_address.h"
#include "view/step_page_description.h"

#include <cstring>
#include <fmt/format.h>
#include <functional>

namespace deltascope::server {

using namespace app;

namespace {

/// The tensor, step and other state that a path and a query name. Errors: NotFound, Usage, Transient.
Result<TensorRequest> tensorOf(const Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.heatOf(call));
    DS_TRY(const StepView* step, findStep(*snapshot->run, call.parts[1]));
    const std::vector<TensorRowView>& rows = snapshot->heat->rows;
    DS_TRY(const std::int64_t row,
           parseNumber(call.parts[2], "a tensor", 0, static_cast<std::int64_t>(rows.size()) - 1));
    TensorRequest request;
    request.version = { *context.monitor.sourceOf(call.parts.front()), addressOf(*step) };
    request.tensor = rows[static_cast<std::size_t>(row)].name;
    if (const std::string other = textOf(call.request, "a"); !other.empty()) {
        DS_TRY(const StepView* against, findStep(*snapshot->run, other));
        request.against = addressOf(*against);
    }
    return request;
}

void appendLittleEndian(std::string& body, const std::vector<std::uint32_t>& values)
{
    for (const std::uint32_t value : values) {
        for (unsigned shift = 0; shift < 32; shift += 8)
            body += static_cast<char>(value >> shift & 0xffU);
    }
}

HttpResponse blocksAnswer(const BlocksView& view)
{
    HttpResponse answer;
    answer.contentType = "application/octet-stream";
    answer.body = blocksToJson(view) + "\n";
    appendLittleEndian(answer.body, view.blocks);
    appendLittleEndian(answer.body, view.rowCounts);
    appendLittleEndian(answer.body, view.colCounts);
    return answer;
}

void blocks(Context& context, Call call)
{
    const Result<TensorRequest> tensor = tensorOf(context, call);
    const Result<std::optional<std::int64_t>> most = numberOf(call.request, "n", 1, 512);
    if (!tensor || !most)
        return call.reply(errorAnswer(tensor ? most.error() : tensor.error()));
    const auto maxBlocks = static_cast<std::uint32_t>(most->value_or(128));
    context.monitor.ask([&](Service& service) { return service.blocks(*tensor, maxBlocks); },
                        [call](Result<JobResult> result) {
                            call.reply(result ? blocksAnswer(*std::get<std::shared_ptr<const BlocksView>>(*result))
                                              : errorAnswer(result.error()));
                        });
}

/// Answers with the JSON of the view that a job of the service ends with.
template <class View> void answerWith(Context& context, const Call& call, const std::function<JobId(Service&)>& start)
{
    context.monitor.ask(start, [call](Result<JobResult> result) {
        call.reply(result ? jsonAnswer(toJson(*std::get<std::shared_ptr<const View>>(*result)))
                          : errorAnswer(result.error()));
    });
}

void elements(Context& context, Call call)
{
    const Result<TensorRequest> tensor = tensorOf(context, call);
    if (!tensor)
        return call.reply(errorAnswer(tensor.error()));
    std::uint64_t window[4] = { 0, 0, 16, 16 };
    constexpr std::string_view Names[4] = { "row", "col", "rows", "cols" };
    for (std::size_t i = 0; i < 4; ++i) {
        const Result<std::optional<std::int64_t>> number =
            numberOf(call.request, Names[i], 0, std::int64_t { 1 } << 40);
        if (!number)
            return call.reply(errorAnswer(number.error()));
        if (*number)
            window[i] = static_cast<std::uint64_t>(**number);
    }
    answerWith<ElementsView>(context, call, [&](Service& service) {
        return service.elements(*tensor, window[0], window[1], window[2], window[3]);
    });
}

void statistics(Context& context, const Call& call)
{
    const Result<TensorRequest> tensor = tensorOf(context, call);
    if (!tensor)
        return call.reply(errorAnswer(tensor.error()));
    answerWith<StatisticsView>(context, call, [&](Service& service) { return service.statistics(*tensor); });
}

/// `least`: of steps.
Result<std::uint32_t> stepsOf(const Call& call, std::uint32_t least)
{
    constexpr std::int64_t Most = 50;
    DS_TRY(const std::optional<std::int64_t> steps, numberOf(call.request, "steps", least, Most));
    return steps ? static_cast<std::uint32_t>(*steps) : least;
}

void statisticsHistory(Context& context, const Call& call)
{
    const Result<TensorRequest> tensor = tensorOf(context, call);
    const Result<std::uint32_t> steps = stepsOf(call, 1);
    if (!tensor || !steps)
        return call.reply(errorAnswer(tensor ? steps.error() : tensor.error()));
    answerWith<StatisticsHistoryView>(context, call,
                                      [&](Service& service) { return service.statisticsHistory(*tensor, *steps); });
}

void statisticsCost(Context& context, const Call& call)
{
    const Result<TensorRequest> tensor = tensorOf(context, call);
    const Result<std::uint32_t> steps = stepsOf(call, 0);
    if (!tensor || !steps)
        return call.reply(errorAnswer(tensor ? steps.error() : tensor.error()));
    answerWith<StatisticsCostView>(context, call,
                                   [&](Service& service) { return service.statisticsCost(*tensor, *steps); });
}

HttpResponse stepAnswer(const RunSnapshot& snapshot, const SourceRequest& source, const StepDetailView& view)
{
    const std::string where = quoted(source.source.text() + "@" + addressOf(view.step));
    const std::string options = sourceOptions(source);
    return jsonAnswer(writtenText(
        StepSheetView { snapshot.revision,
                        { view.step, verifiedOf(snapshot.verified, view.step) },
                        view.tensors,
                        { fmt::format("deltascope show {}{}", where, options),
                          fmt::format("deltascope verify {} --level 3{}", where, options),
                          fmt::format("deltascope materialize {} -o step_{}{}", where, view.step.step, options) } }));
}

void showStep(Context& context, Call call)
{
    const Result<Context::Snapshot> snapshot = context.openRunOf(call);
    const Result<const StepView*> step = snapshot ? findStep(*(*snapshot)->run, call.parts[1])
                                                  : Result<const StepView*>(tl::unexpected(snapshot.error()));
    if (!step)
        return call.reply(errorAnswer(step.error()));
    const SourceRequest source = *context.monitor.sourceOf(call.parts.front());
    context.monitor.ask(
        [&](Service& service) {
            return service.showStep({ source, addressOf(**step) }, Depth::Headers);
        },
        [call, source, snapshot = *snapshot](Result<JobResult> result) {
            call.reply(result ? stepAnswer(*snapshot, source, *std::get<std::shared_ptr<const StepDetailView>>(*result))
                              : errorAnswer(result.error()));
        });
}

}

void addTensorRoutes(Routes& routes, Context& context)
{
    routes.add("GET", "runs/{}/steps/{}", Scope::Read, [&](Call call) { showStep(context, std::move(call)); });
    routes.add("GET", "runs/{}/steps/{}/tensors/{}/blocks", Scope::Read,
               [&](Call call) { blocks(context, std::move(call)); });
    routes.add("GET", "runs/{}/steps/{}/tensors/{}/elements", Scope::Read,
               [&](Call call) { elements(context, std::move(call)); });
    routes.add("GET", "runs/{}/steps/{}/tensors/{}/statistics", Scope::Read,
               [&](Call call) { statistics(context, call); });
    routes.add("GET", "runs/{}/steps/{}/tensors/{}/statistics/history", Scope::Read,
               [&](Call call) { statisticsHistory(context, call); });
    routes.add("GET", "runs/{}/steps/{}/tensors/{}/statistics/cost", Scope::Read,
               [&](Call call) { statisticsCost(context, call); });
}

} // namespace deltascope::server
