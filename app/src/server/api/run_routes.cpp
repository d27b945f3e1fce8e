#include "context.h"

#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/json.h"
#include "deltascope/app/view/timeline_view.h"
#include "view/io/text_writer.h"
#include "view/step_page_description.h"

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope::server {

using namespace app;

namespace {

constexpr std::int64_t MostPerPage = 1000;

struct StepRange {
    std::int64_t from = 0;
    std::int64_t to = INT64_MAX;
};

Result<StepRange> rangeOf(const HttpRequest& request)
{
    DS_TRY(const std::optional<std::int64_t> from, numberOf(request, "from"));
    DS_TRY(const std::optional<std::int64_t> to, numberOf(request, "to"));
    return StepRange { from.value_or(0), to.value_or(INT64_MAX) };
}

HttpResponse listRuns(Context& context)
{
    std::vector<RunSummaryView> views;
    std::uint64_t revision = 0;
    for (auto& snapshot : context.monitor.runs()) {
        revision += snapshot->revision;
        views.push_back(makeRunSummary(std::move(snapshot)));
    }
    return jsonAnswer(toJson(views, revision));
}

/// Steps behind a cursor "EPOCH:STEP", at most `limit`.
Result<HttpResponse> listSteps(Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.openRunOf(call));
    DS_TRY(const StepRange range, rangeOf(call.request));
    DS_TRY(const std::optional<std::int64_t> limit, numberOf(call.request, "limit", 1, MostPerPage));
    std::optional<int> epoch;
    if (call.request.query.contains("epoch")) {
        DS_TRY(epoch, epochOf(call.request, *snapshot->run));
    }
    std::pair<std::int64_t, std::int64_t> after { -1, -1 };
    if (const std::string cursor = textOf(call.request, "cursor"); !cursor.empty()) {
        const std::size_t colon = std::min(cursor.find(':'), cursor.size() - 1);
        DS_TRY(after.first, parseNumber(cursor.substr(0, colon), "a cursor"));
        DS_TRY(after.second, parseNumber(cursor.substr(colon + 1), "a cursor"));
    }
    StepPageView page { snapshot->revision, {}, {}, {} };
    const auto most = static_cast<std::size_t>(limit.value_or(MostPerPage));
    for (const EpochView& view : snapshot->run->epochs) {
        page.epochs.push_back(view.epoch);
        for (const StepView& step : view.steps) {
            const bool wanted = page.nextCursor.empty() && (!epoch || view.epoch == *epoch) && step.step >= range.from
                && step.step <= range.to && std::pair<std::int64_t, std::int64_t>(view.epoch, step.step) > after;
            if (!wanted)
                continue;
            if (page.steps.size() < most)
                page.steps.push_back({ step, verifiedOf(snapshot->verified, step) });
            else
                page.nextCursor = fmt::format("{}:{}", page.steps.back().step.epoch, page.steps.back().step.step);
        }
    }
    return jsonAnswer(writtenText(page), context.etag(snapshot->revision));
}

Result<HttpResponse> series(Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.openRunOf(call));
    DS_TRY(const StepRange range, rangeOf(call.request));
    DS_TRY(const std::optional<std::int64_t> pixels, numberOf(call.request, "px", 0, 10'000));
    SeriesRange wanted;
    DS_TRY(wanted.epoch, epochOf(call.request, *snapshot->run));
    wanted.from = range.from;
    wanted.to = range.to;
    wanted.pixels = static_cast<std::uint32_t>(pixels.value_or(1200));
    std::vector<std::string> names;
    const std::string list = textOf(call.request, "names");
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        names.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    const std::vector<std::string_view>& known = seriesNames();
    const auto isKnown = [&](const std::string& name) {
        return std::find(known.begin(), known.end(), name) != known.end();
    };
    if (std::none_of(names.begin(), names.end(), isKnown)) // of another version's, some may be new to this one
        return fail(Code::Usage,
                    fmt::format("names: {} names no series; there are {}", list.empty() ? "an empty list" : list,
                                fmt::join(known, ", ")));
    const bool needsTimeline = std::find(names.begin(), names.end(), "sync_ms") != names.end();
    const TimelineView timeline =
        needsTimeline ? makeTimelineView(*snapshot->run, wanted.epoch, range.from, range.to) : TimelineView();
    SeriesView view = makeSeries(*snapshot->run, timeline, names, wanted);
    view.revision = snapshot->revision;
    return jsonAnswer(toJson(view), context.etag(snapshot->revision));
}

Result<TimelineView> timelineOf(const Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.openRunOf(call));
    DS_TRY(const StepRange range, rangeOf(call.request));
    DS_TRY(const int epoch, epochOf(call.request, *snapshot->run));
    TimelineView view = makeTimelineView(*snapshot->run, epoch, range.from, range.to);
    view.revision = snapshot->revision;
    return view;
}

Result<HttpResponse> replicas(Context& context, const Call& call)
{
    DS_TRY(const Context::Snapshot snapshot, context.openRunOf(call));
    std::string list;
    for (const ReplicaHistoryView& view : makeReplicaHistory(*snapshot->run, Context::nowUs()))
        list += (list.empty() ? "" : ",") + toJson(view);
    return jsonAnswer(fmt::format(R"({{"rev":{},"replicas":[{}]}})", snapshot->revision, list));
}

/// A key that went out as a cursor in hex: keys are bytes, JSON is text.
Result<std::string> keyOf(const std::string& cursor)
{
    std::string key;
    for (std::size_t i = 0; i < cursor.size(); i += 2) {
        unsigned char byte = 0;
        const std::string_view digits = std::string_view(cursor).substr(i, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2)
            return fail(Code::Usage, "a cursor is one of the answer before");
        key += static_cast<char>(byte);
    }
    return key;
}

void listObjects(Context& context, Call call)
{
    const Result<Context::Snapshot> snapshot = context.openRunOf(call);
    if (!snapshot)
        return call.reply(errorAnswer(snapshot.error()));
    const Result<std::optional<std::int64_t>> limit = numberOf(call.request, "limit", 1, MostPerPage);
    const Result<std::string> after = keyOf(textOf(call.request, "cursor"));
    if (!limit || !after)
        return call.reply(errorAnswer(limit ? after.error() : limit.error()));
    const SourceRequest source = *context.monitor.sourceOf(call.parts.front());
    const auto answer = [call, snapshot = *snapshot, after = *after,
                         limit = limit->value_or(MostPerPage)](Result<JobResult> result) {
        if (!result)
            return call.reply(errorAnswer(result.error()));
        const auto& listing = *std::get<std::shared_ptr<const ListingView>>(*result);
        ListingPage page = makeListingPage(listing, *snapshot->run, textOf(call.request, "prefix"), after,
                                           static_cast<std::size_t>(limit));
        page.nextCursor = toHex(asBytes(page.nextCursor));
        call.reply(jsonAnswer(toJson(page)));
    };
    context.monitor.ask([source](Service& service) { return service.listObjects(source); }, answer);
}

/// Answers with what a job on the run's source ends with, a `View`.
template <class View> void answerWith(Context& context, Call call, std::function<JobId(Service&, SourceRequest)> start)
{
    const Result<Context::Snapshot> snapshot = context.openRunOf(call);
    if (!snapshot)
        return call.reply(errorAnswer(snapshot.error()));
    const SourceRequest source = *context.monitor.sourceOf(call.parts.front());
    context.monitor.ask([&](Service& service) { return start(service, source); },
                        [call](Result<JobResult> result) {
                            call.reply(result ? jsonAnswer(toJson(*std::get<std::shared_ptr<const View>>(*result)))
                                              : errorAnswer(result.error()));
                        });
}

void listAll(Context& context, Call call)
{
    answerWith<ListingView>(context, std::move(call),
                            [](Service& service, SourceRequest source) { return service.listObjects(source); });
}

void listAnnotations(Context& context, Call call)
{
    answerWith<AnnotationsView>(context, std::move(call),
                                [](Service& service, SourceRequest source) { return service.annotations(source); });
}

void readHeader(Context& context, Call call)
{
    const std::string key = textOf(call.request, "key");
    if (key.empty())
        return call.reply(errorAnswer(Error { Code::Usage, "key is missing: it names the object", {}, {}, {} }));
    answerWith<HeaderView>(context, std::move(call),
                           [key](Service& service, SourceRequest source) { return service.readHeader(source, key); });
}

}

void addRunRoutes(Routes& routes, Context& context)
{
    const auto get = [&](std::string_view pattern, auto handler) {
        routes.add("GET", pattern, Scope::Read,
                   answering([&context, handler](const Call& call) { return handler(context, call); }));
    };
    get("runs", [](Context& c, const Call&) -> Result<HttpResponse> { return listRuns(c); });
    get("runs/{}", [](Context& c, const Call& call) -> Result<HttpResponse> {
        DS_TRY(Context::Snapshot snapshot, c.snapshotOf(call));
        return jsonAnswer(detailToJson(makeRunSummary(std::move(snapshot)), Context::nowUs()));
    });
    get("runs/{}/steps", listSteps);
    get("runs/{}/series", series);
    get("runs/{}/replicas", replicas);
    get("runs/{}/lineage", [](Context& c, const Call& call) -> Result<HttpResponse> {
        DS_TRY(Context::Snapshot snapshot, c.openRunOf(call));
        const std::string etag = c.etag(snapshot->revision);
        return jsonAnswer(toJson(makeLineage(std::move(snapshot))), etag);
    });
    get("runs/{}/timeline", [](Context& c, const Call& call) -> Result<HttpResponse> {
        DS_TRY(const TimelineView view, timelineOf(c, call));
        return jsonAnswer(toJson(view), c.etag(view.revision));
    });
    get("runs/{}/timeline.trace.json", [](Context& c, const Call& call) -> Result<HttpResponse> {
        DS_TRY(const TimelineView view, timelineOf(c, call));
        HttpResponse answer = jsonAnswer(chromeTrace(view));
        answer.headers.emplace_back("Content-Disposition", "attachment; filename=\"syncs.trace.json\"");
        return answer;
    });
    routes.add("GET", "runs/{}/objects", Scope::Read, [&](Call call) { listObjects(context, std::move(call)); });
    routes.add("GET", "runs/{}/objects/all", Scope::Read, [&](Call call) { listAll(context, std::move(call)); });
    routes.add("GET", "runs/{}/annotations", Scope::Read,
               [&](Call call) { listAnnotations(context, std::move(call)); });
    routes.add("GET", "runs/{}/objects/header", Scope::Read, [&](Call call) { readHeader(context, std::move(call)); });
}

} // namespace deltascope::server
