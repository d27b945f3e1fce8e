#include "remote_service.h"

#include "read_views.h"
#include "view/heat_description.h"
#include "view/newest_restorable.h"
#include "view/run_description.h"
#include "view/statistics_description.h"
#include "view/step_address.h"
#include "view/tensor_description.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr unsigned JobsAtOnce = 4; ///< they only wait

/// A view in the form in which jobs end.
template <class View> Result<JobResult> asResult(Result<View> view)
{
    if (!view)
        return fail(std::move(view.error()));
    return JobResult(std::make_shared<const View>(std::move(*view)));
}

Wire::Stopped stoppedBy(const TaskContext& task)
{
    return [&task] { return task.stopRequested(); };
}

Error notOffered(const char* what)
{
    return { Code::Unsupported,
             fmt::format("a server does not offer to {}", what),
             {},
             {},
             "run the command on the machine of the server" };
}

}

std::optional<RemoteCounts::Counts> RemoteCounts::of(const HeatView& heat, std::size_t column)
{
    constexpr std::size_t AtOnce = 64;
    constexpr std::size_t Kept = 2'048;
    const HeatColumnView& wanted = heat.columns.at(column);
    const std::lock_guard lock(m_mutex);
    if (const Column* found = known(heat.catalogKey, wanted.chainKey))
        return found->counts;
    const auto [first, last] = heat.columnsOf(wanted.epoch);
    const std::size_t begin = (column - first) / AtOnce * AtOnce;
    const Result<std::string> answer = m_wire.get("runs/" + pathPart(heat.catalogKey) + "/heat/counts",
                                                  { { "epoch", std::to_string(wanted.epoch) },
                                                    { "from", std::to_string(begin) },
                                                    { "to", std::to_string(std::min(begin + AtOnce, last - first)) } });
    if (!answer)
        return std::nullopt;
    Result<HeatCountsView> view = readJson(*answer, readAs<HeatCountsView>);
    if (!view)
        return std::nullopt;
    for (ColumnCountsView& read : view->columns) {
        if (read.changed && !known(heat.catalogKey, read.chainKey)) // what is not known yet may be soon
            m_columns.push_front({ heat.catalogKey, std::move(read.chainKey), std::move(read.changed) });
    }
    if (m_columns.size() > Kept)
        m_columns.resize(Kept);
    const Column* found = known(heat.catalogKey, wanted.chainKey);
    return found ? found->counts : std::nullopt;
}

const RemoteCounts::Column* RemoteCounts::known(const std::string& run, const std::string& chain) const
{
    const auto found = std::find_if(m_columns.begin(), m_columns.end(),
                                    [&](const Column& column) { return column.chain == chain && column.run == run; });
    return found == m_columns.end() ? nullptr : &*found;
}

RemoteService::RemoteService(Wire& wire, const RemoteRuns& runs, const CapabilitiesView& about)
    : m_wire(wire)
    , m_runs(runs)
    , m_about(about)
    , m_counts(wire)
    , m_runner(m_bus, JobsAtOnce)
{
}

JobId RemoteService::start(std::string title, JobRunner::Work work)
{
    return m_runner.start(std::move(title), JobRunner::Life::Short, std::move(work));
}

JobId RemoteService::refuse(const char* what)
{
    return start(what, [what](JobId, TaskContext&) -> Result<JobResult> { return fail(notOffered(what)); });
}

Result<RemoteRuns::Snapshot> RemoteService::runOf(const SourceRequest& request) const
{
    DS_TRY(RemoteRuns::Snapshot run, m_runs.ofSource(request.source.text(), request.base.text()));
    if (run->run)
        return run;
    if (run->error)
        return fail(parseCode(run->error->code).value_or(Code::Io), run->error->text, run->error->where,
                    run->error->remedy);
    return fail(Code::Transient, "the run is still being opened", run->name, "try again in a moment");
}

Result<RemoteService::Place> RemoteService::placeOf(const TensorRequest& request) const
{
    DS_TRY(const RemoteRuns::Snapshot run, runOf(request.version.source));
    if (!run->heat)
        return fail(Code::Transient, "nothing was replayed yet", run->name, "try again in a moment");
    const std::vector<TensorRowView>& rows = run->heat->rows;
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const TensorRowView& one) { return one.name == request.tensor; });
    if (row == rows.end())
        return fail(Code::NotFound, "the run has no such tensor", request.tensor);
    Place place;
    place.path = fmt::format("runs/{}/steps/{}/tensors/{}/", pathPart(run->id), pathPart(request.version.version),
                             row - rows.begin());
    if (!request.against.empty())
        place.query["a"] = request.against;
    return place;
}

JobId RemoteService::openRun(SourceRequest request, Depth)
{
    return start("open", [this, request = std::move(request)](JobId, TaskContext&) -> Result<JobResult> {
        DS_TRY(const RemoteRuns::Snapshot run, runOf(request));
        return JobResult(run->run);
    });
}

JobId RemoteService::showStep(VersionRequest request, Depth)
{
    return start("show", [this, request = std::move(request)](JobId, TaskContext& task) -> Result<JobResult> {
        DS_TRY(const RemoteRuns::Snapshot run, runOf(request.source));
        std::string step = request.version;
        if (step.empty() || step == "latest") {
            const StepView* latest = newestRestorable(*run->run);
            if (!latest)
                return fail(Code::NotFound, "the run has no step that can be rebuilt", run->name);
            step = std::to_string(latest->step);
        }
        DS_TRY(const std::string answer,
               m_wire.get("runs/" + pathPart(run->id) + "/steps/" + pathPart(step), {}, stoppedBy(task)));
        return asResult(readJson(answer, readStepDetail));
    });
}

JobId RemoteService::listObjects(SourceRequest request)
{
    return start("list", [this, request = std::move(request)](JobId, TaskContext& task) -> Result<JobResult> {
        DS_TRY(const RemoteRuns::Snapshot run, runOf(request));
        DS_TRY(const std::string answer, m_wire.get("runs/" + pathPart(run->id) + "/objects/all", {}, stoppedBy(task)));
        return asResult(readJson(answer, readAs<ListingView>));
    });
}

template <class View>
JobId RemoteService::askOf(std::string title, TensorRequest request, std::string what, WireQuery query,
                           View (*readView)(const json&))
{
    return start(std::move(title),
                 [this, request = std::move(request), what = std::move(what), query = std::move(query),
                  readView](JobId, TaskContext& task) -> Result<JobResult> {
                     DS_TRY(const Place place, placeOf(request));
                     WireQuery all = place.query;
                     all.insert(query.begin(), query.end());
                     DS_TRY(const std::string answer, m_wire.get(place.path + what, all, stoppedBy(task)));
                     return asResult(readJson(answer, readView));
                 });
}

JobId RemoteService::elements(TensorRequest request, std::uint64_t row, std::uint64_t col, std::uint64_t rows,
                              std::uint64_t cols)
{
    return askOf<ElementsView>("elements", std::move(request), "elements",
                               { { "row", std::to_string(row) },
                                 { "col", std::to_string(col) },
                                 { "rows", std::to_string(rows) },
                                 { "cols", std::to_string(cols) } },
                               readAs<ElementsView>);
}

JobId RemoteService::blocks(TensorRequest request, std::uint32_t maxBlocks)
{
    return start("blocks",
                 [this, request = std::move(request), maxBlocks](JobId, TaskContext& task) -> Result<JobResult> {
                     DS_TRY(Place place, placeOf(request));
                     place.query["n"] = std::to_string(maxBlocks);
                     DS_TRY(const std::string answer, m_wire.get(place.path + "blocks", place.query, stoppedBy(task)));
                     return asResult(readBlocks(answer));
                 });
}

JobId RemoteService::readHeader(SourceRequest request, std::string key)
{
    return start(
        "header",
        [this, request = std::move(request), key = std::move(key)](JobId, TaskContext& task) -> Result<JobResult> {
            DS_TRY(const RemoteRuns::Snapshot run, runOf(request));
            DS_TRY(const std::string answer,
                   m_wire.get("runs/" + pathPart(run->id) + "/objects/header", { { "key", key } }, stoppedBy(task)));
            return asResult(readJson(answer, readAs<HeaderView>));
        });
}

JobId RemoteService::statistics(TensorRequest request)
{
    return askOf<StatisticsView>("values", std::move(request), "statistics", {}, readAs<StatisticsView>);
}

JobId RemoteService::statisticsHistory(TensorRequest request, std::uint32_t steps)
{
    return askOf<StatisticsHistoryView>("values over steps", std::move(request), "statistics/history",
                                        { { "steps", std::to_string(steps) } }, readAs<StatisticsHistoryView>);
}

JobId RemoteService::statisticsCost(TensorRequest request, std::uint32_t steps)
{
    return askOf<StatisticsCostView>("cost of values", std::move(request), "statistics/cost",
                                     { { "steps", std::to_string(steps) } }, readAs<StatisticsCostView>);
}

JobId RemoteService::log(LogRequest) { return refuse("tell what steps changed in some tensors"); }
JobId RemoteService::tensorFirsts(TensorRequest) { return refuse("look through all steps"); }
JobId RemoteService::verify(VerifyRequest) { return refuse("verify without a plan"); }
JobId RemoteService::digest(VersionRequest, bool, TensorHashes) { return refuse("hash a step"); }
JobId RemoteService::checkDigests(VersionRequest, std::string, bool) { return refuse("hash a step"); }
JobId RemoteService::diff(VersionRequest, VersionRequest, DiffChoice) { return refuse("compare without a plan"); }
JobId RemoteService::materialize(MaterializeRequest) { return refuse("materialize without a plan"); }
JobId RemoteService::publish(PublishRequest) { return refuse("publish"); }
JobId RemoteService::cost(CostRequest) { return refuse("tell costs"); }
JobId RemoteService::annotations(SourceRequest request)
{
    return start("annotations", [this, request = std::move(request)](JobId, TaskContext& task) -> Result<JobResult> {
        DS_TRY(const RemoteRuns::Snapshot run, runOf(request));
        DS_TRY(const std::string answer, m_wire.get("runs/" + pathPart(run->id) + "/annotations", {}, stoppedBy(task)));
        return asResult(readJson(answer, readAs<AnnotationsView>));
    });
}
JobId RemoteService::start(ActCall) { return refuse("act without a plan"); }
JobId RemoteService::doctor(std::optional<SourceRequest>, bool) { return refuse("look at its machine"); }
JobId RemoteService::demo(DemoRequest) { return refuse("start a demo"); }
JobId RemoteService::watch(SourceRequest, Depth) { return refuse("watch another source"); }

Result<DemoView> RemoteService::prepareDemo(const DemoRequest&) { return fail(notOffered("start a demo")); }
Result<void> RemoteService::removeDemo(const DemoRequest&) { return fail(notOffered("remove a demo")); }

std::optional<std::vector<std::pair<std::string, std::uint64_t>>> RemoteService::countsOf(const HeatView& heat,
                                                                                          std::size_t column) const
{
    return m_counts.of(heat, column);
}

Result<std::string> RemoteService::backend() const
{
    return m_about.backends.empty() ? std::string() : m_about.backends.front();
}

} // namespace deltascope::app
