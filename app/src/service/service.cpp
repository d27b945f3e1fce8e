#include "deltascope/app/service.h"

#include "address.h"
#include "demo/demo.h"
#include "doctor.h"
#include "job_runner.h"
#include "publishing.h"
#include "view/make_views.h"

#include "deltascope/engine/cost.h"
#include "deltascope/engine/logs.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/trace.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

namespace deltascope::app {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::int64_t systemNowUs()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

template <class View> Result<JobResult> ended(View view)
{
    return JobResult(std::make_shared<const View>(std::move(view)));
}

/// A state that can be replayed: a version of a run, or a file on its own.
struct OpenState {
    std::optional<Run> run;
    const Version* version = nullptr; ///< in `run`; null for a file
    Plan plan;
    std::unique_ptr<Chain> chain;
};

bool isSafetensorsFile(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

bool isInside(const std::string& path, const std::string& folder)
{
    std::error_code ignored;
    const std::filesystem::path inner = std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored);
    const std::filesystem::path outer = std::filesystem::weakly_canonical(std::filesystem::absolute(folder), ignored);
    const auto stop = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
    return stop.first == outer.end();
}

class EngineService final : public Service {
public:
    EngineService(const Settings& settings, std::unique_ptr<Catalog> catalog, std::unique_ptr<Records> records)
        : m_catalog(std::move(catalog))
        , m_records(std::move(records))
        , m_disk(makeFileSystem())
        , m_settings(settings)
        , m_runner(m_bus, settings.jobsAtOnce)
    {
        m_bench.layouts = builtinLayouts();
        m_bench.catalog = m_catalog.get();
        m_bench.records = m_records.get();
        m_bench.disk = m_disk.get();
        const unsigned machine = std::max(1U, std::thread::hardware_concurrency());
        m_bench.threads = settings.threads > 0 ? std::min(settings.threads, machine) : machine;
        m_bench.nowUs = systemNowUs;
    }

    JobId openRun(SourceRequest request, Depth depth) override
    {
        return start("open " + request.source, [this, request, depth](JobId, TaskContext& task) -> Result<JobResult> {
            DS_TRY(Run run, open(request, task));
            if (depth == Depth::Replayed)
                DS_CHECK(analyzeRun(m_bench, run, {}, task));
            DS_TRY(const Trace trace, TraceReader().read(*run.store, task));
            LogReader logs(request.logs, m_bench.nowUs);
            DS_CHECK(readAll(logs, task));
            return ended(viewOf(run, trace, logs));
        });
    }

    JobId showStep(VersionRequest request, Depth depth) override
    {
        return start(
            "show " + request.source.source, [this, request, depth](JobId, TaskContext& task) -> Result<JobResult> {
                DS_TRY(Run run, open(request.source, task));
                DS_TRY(const Version* version, resolveVersion(run, request.version));
                const auto at = static_cast<std::size_t>(version - run.versions.data());
                std::vector<TensorCount> counts;
                if (m_catalog && version->facts) {
                    if (auto known = m_catalog->counts(catalogKey(run), version->objects.name, chainKeys(run)[at]))
                        counts = std::move(*known);
                }
                if (depth == Depth::Replayed && !explains(*version, counts)) {
                    AnalyzeOptions options;
                    options.range = { at, at };
                    options.again = true;
                    options.onCounts = [&](std::size_t replayed, const std::vector<TensorCount>& changed) {
                        if (replayed == at)
                            counts = changed;
                    };
                    DS_CHECK(analyzeRun(m_bench, run, options, task));
                }
                std::vector<TensorInfo> tensors;
                if (const Result<Plan> plan = planFor(run, *version)) {
                    DS_TRY(const Chain chain, Chain::open(run, *plan, task));
                    tensors = chain.tensors();
                }
                DS_TRY(const Trace trace, TraceReader().read(*run.store, task));
                LogReader logs(request.source.logs, m_bench.nowUs);
                DS_CHECK(readAll(logs, task));
                StepDetailView view = makeStepDetailView(run, *version, tensors, counts);
                addPause(view.step, pausesOf(run, trace, logs.spans()));
                addProblems(view.step.problems, logs);
                return ended(std::move(view));
            });
    }

    JobId listObjects(SourceRequest request) override
    {
        return start("list " + request.source, [this, request](JobId, TaskContext& task) -> Result<JobResult> {
            DS_TRY(const std::unique_ptr<ObjectStore> store, openStore(request.source));
            DS_TRY(const std::vector<ObjectInfo> listing, listAll(*store, "", task));
            ListingView view;
            view.source = store->uri();
            std::map<std::string, std::pair<std::int64_t, std::string>> versions;
            if (const Result<Run> run = open(request, task)) {
                view.layout = run->layout->word();
                for (const Version& version : run->versions) {
                    for (const ObjectInfo& object : version.objects.objects)
                        versions[object.key] = { version.step(), std::string(word(version.kind)) };
                }
            } else if (run.error().code != Code::Layout) {
                return fail(run.error());
            }
            for (const ObjectInfo& object : listing) {
                ListingEntryView entry;
                entry.object = ObjectView { object.key, object.sizeBytes, object.modifiedUs };
                if (const auto at = versions.find(object.key); at != versions.end()) {
                    entry.step = at->second.first;
                    entry.kind = at->second.second;
                }
                view.objects.push_back(std::move(entry));
            }
            return ended(std::move(view));
        });
    }

    JobId verify(VerifyRequest request) override
    {
        return start("verify " + request.source.source, [this, request](JobId, TaskContext& task) -> Result<JobResult> {
            const Clock::time_point began = Clock::now();
            DS_TRY(Run run, open(request.source, task));
            VerifyOptions options;
            options.level = request.level;
            options.acceptRewritten = request.acceptRewritten;
            DS_TRY(options.range, resolveRange(run, request.range));
            DS_TRY(const VerifyReport report, verifyRun(m_bench, run, options, task));
            VerifyView view = makeVerifyView(run, report);
            view.seconds = secondsSince(began);
            return ended(std::move(view));
        });
    }

    JobId digest(VersionRequest request, bool acrossGap) override
    {
        return start("digest " + request.source.source,
                     [this, request, acrossGap](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(const OpenState state, openState(request, acrossGap, task));
                         DS_TRY(const CheckpointDigest digest, digestState(m_bench, *state.chain, task));
                         if (digest.noopsSeen && !acrossGap)
                             DS_CHECK(judge(state, task));
                         return ended(makeDigestView(digest));
                     });
    }

    JobId diff(VersionRequest a, VersionRequest b) override
    {
        return start(fmt::format("diff {} {}", a.source.source, b.source.source),
                     [this, a, b](JobId, TaskContext& task) -> Result<JobResult> {
                         const Clock::time_point began = Clock::now();
                         DS_TRY(const OpenState left, openState(a, false, task));
                         DS_TRY(const OpenState right, openState(b, false, task));
                         DS_TRY(const DiffReport report,
                                diffStates(m_bench, *left.chain, *right.chain, linkOfAInB(left, right), task));
                         if (report.noopsSeen) {
                             DS_CHECK(judge(left, task));
                             DS_CHECK(judge(right, task));
                         }
                         DiffView view = makeDiffView(report);
                         view.seconds = secondsSince(began);
                         return ended(std::move(view));
                     });
    }

    JobId materialize(MaterializeRequest request) override
    {
        return start("materialize " + request.version.source.source,
                     [this, request](JobId, TaskContext& task) -> Result<JobResult> {
                         const Clock::time_point began = Clock::now();
                         if (isInside(request.destination, request.version.source.source))
                             return fail(
                                 Code::Usage,
                                 "the destination lies inside the source, where it would be taken for part of the run",
                                 request.destination, "choose a destination outside of the source");
                         DS_TRY(Run run, open(request.version.source, task));
                         DS_TRY(const Version* version, resolveVersion(run, request.version.version));
                         DS_CHECK(compareForms(run, *version, task));
                         const StateChoice wanted = request.trained ? StateChoice::Trained : StateChoice::Served;
                         DS_TRY(const Plan plan, planFor(run, *version, { request.acrossGap, wanted }));
                         MaterializeOptions options;
                         options.destination = request.destination;
                         options.shardBytes = request.shardBytes;
                         options.readBackFromDisk = request.readBackFromDisk;
                         options.acrossGap = request.acrossGap;
                         options.part = request.part;
                         options.parts = request.parts;
                         options.commit = request.commit;
                         options.toolVersion = DELTASCOPE_VERSION;
                         DS_TRY(const MaterializeReport report,
                                deltascope::materialize(m_bench, run, *version, plan, options, task));
                         MaterializeView view = makeMaterializeView(*version, report);
                         view.seconds = secondsSince(began);
                         return ended(std::move(view));
                     });
    }

    JobId publish(PublishRequest request) override
    {
        const std::string title = "publish into " + request.into.source;
        if (!request.watchFolder.empty())
            return m_runner.start(
                title, JobRunner::Life::Long, [this, request](JobId id, TaskContext& task) -> Result<JobResult> {
                    if (isInside(request.watchFolder, request.into.source)
                        || isInside(request.into.source, request.watchFolder))
                        return fail(Code::Usage, "the run and the folder of checkpoints must not lie in each other",
                                    request.watchFolder);
                    const auto tell = [&](const PublishView& view) {
                        m_bus.publish(Published { id, std::make_shared<const PublishView>(view) });
                    };
                    DS_TRY(PublishView view, publishFolder(m_bench, request, m_settings.diffBackend, tell, task));
                    return ended(std::move(view));
                });
        return start(title, [this, request](JobId, TaskContext& task) -> Result<JobResult> {
            const Clock::time_point began = Clock::now();
            DS_TRY(const OpenState from, openState(request.from, false, task));
            DS_TRY(const OpenState to, openState(request.to, false, task));
            DS_TRY(PublishView view,
                   publishOnce(m_bench, request, m_settings.diffBackend, *from.chain, *to.chain, task));
            view.seconds = secondsSince(began);
            return ended(std::move(view));
        });
    }

    JobId cost(CostRequest request) override
    {
        return start("cost " + request.source.source, [this, request](JobId, TaskContext& task) -> Result<JobResult> {
            const CostOptions options { request.pricePerGb, request.linkGbps, request.stepsPerDay,
                                        request.restoresPerDay, request.learningRate };
            DS_CHECK(options.check());
            DS_TRY(Run run, open(request.source, task));
            if (request.depth == Depth::Replayed)
                DS_CHECK(analyzeRun(m_bench, run, {}, task));
            std::optional<ChangePrediction> prediction;
            if (options.learningRate) {
                DS_TRY(const std::vector<WeightScale> scales, sampleWeightScales(m_bench, run, task));
                prediction = predictChanges(scales, *options.learningRate);
            }
            return ended(makeCostView(run, adviseCost(run, options), prediction));
        });
    }

    JobId doctor(std::optional<SourceRequest> source) override
    {
        return start("doctor", [this, source](JobId, TaskContext& task) -> Result<JobResult> {
            return ended(examine(m_settings, m_bench, source, task));
        });
    }

    Result<DemoView> prepareDemo(const DemoRequest& request) override
    {
        const std::string folder = demoFolder(request);
        DS_CHECK(prepareDemoFolder(*m_disk, folder));
        return DemoView { folder, folder + "/bucket", 0 };
    }

    JobId demo(DemoRequest request) override
    {
        return m_runner.start(
            "demo", JobRunner::Life::Long, [this, request](JobId, TaskContext& task) -> Result<JobResult> {
                const auto makeBench = [this] {
                    Workbench bench = m_bench; // actors of the demo share nothing with the one who looks on
                    bench.catalog = nullptr;
                    bench.records = nullptr;
                    return bench;
                };
                DS_TRY(DemoView view, runDemo(request, demoFolder(request), makeBench, task));
                return ended(std::move(view));
            });
    }

    JobId watch(SourceRequest request, Depth depth) override
    {
        return m_runner.start(
            "watch " + request.source, JobRunner::Life::Long,
            [this, request, depth](JobId id, TaskContext& task) { return watchLoop(id, request, depth, task); });
    }

    std::vector<JobView> jobs() const override { return m_runner.jobs(); }
    std::optional<JobView> job(JobId id) const override { return m_runner.job(id); }
    void cancel(JobId id) override { m_runner.cancel(id); }
    void pause(JobId id) override { m_runner.pause(id); }
    void resume(JobId id) override { m_runner.resume(id); }
    std::unique_ptr<EventFeed> subscribe(std::function<void()> wake) override
    {
        return m_bus.subscribe(std::move(wake));
    }

private:
    std::string demoFolder(const DemoRequest& request) const
    {
        return request.folder.empty() ? m_settings.cacheFolder + "/demo"
                                      : std::filesystem::absolute(request.folder).string();
    }

    JobId start(std::string title, JobRunner::Work work)
    {
        return m_runner.start(std::move(title), JobRunner::Life::Short, std::move(work));
    }

    Result<Run> open(const SourceRequest& request, TaskContext& task)
    {
        DS_TRY(std::shared_ptr<ObjectStore> store, openStore(request.source));
        OpenOptions options;
        options.layout = request.layout;
        if (!request.base.empty()) {
            DS_TRY(options.base, openStore(request.base));
        }
        return deltascope::openRun(m_bench, std::move(store), options, task);
    }

    /// Everything that stands in the logs now.
    static Result<void> readAll(LogReader& logs, TaskContext& task)
    {
        for (bool more = true; more;) {
            DS_TRY(more, logs.read(task));
        }
        return {};
    }

    static void addProblems(std::vector<ProblemView>& problems, const LogReader& logs)
    {
        for (const Error& problem : logs.problems())
            problems.push_back(problemView(problem));
    }

    RunView viewOf(const Run& run, const Trace& trace, const LogReader& logs)
    {
        RunView view = makeRunView(run);
        const std::vector<Span> logged = logs.spans();
        addTrace(view, trace, logged, m_bench.nowUs());
        const Pauses pauses = pausesOf(run, trace, logged);
        for (EpochView& epoch : view.epochs) {
            for (StepView& step : epoch.steps)
                addPause(step, pauses);
        }
        addProblems(view.problems, logs);
        view.revision = ++m_revision;
        return view;
    }

    /// A version with two forms may have two states; which one is meant can only be told once they were compared.
    Result<void> compareForms(Run& run, const Version& version, TaskContext& task)
    {
        if (!version.objects.fullForm || version.facts)
            return {};
        AnalyzeOptions options;
        const auto at = static_cast<std::size_t>(&version - run.versions.data());
        options.range = { at, at };
        return analyzeRun(m_bench, run, options, task);
    }

    Result<OpenState> openState(const VersionRequest& request, bool acrossGap, TaskContext& task)
    {
        OpenState state;
        if (request.version.empty() && isSafetensorsFile(request.source.source)) {
            const std::filesystem::path path(request.source.source);
            const std::string folder = path.parent_path().empty() ? "." : path.parent_path().string();
            DS_TRY(const std::shared_ptr<ObjectStore> store, openLocalStore(folder));
            DS_TRY(Chain chain, openSingleFile(m_bench, store, path.filename().string()));
            state.chain = std::make_unique<Chain>(std::move(chain));
            return state;
        }
        DS_TRY(state.run, open(request.source, task));
        DS_TRY(state.version, resolveVersion(*state.run, request.version));
        DS_TRY(state.plan, planFor(*state.run, *state.version, { acrossGap, StateChoice::Served }));
        DS_TRY(Chain chain, Chain::open(*state.run, state.plan, task));
        state.chain = std::make_unique<Chain>(std::move(chain));
        return state;
    }

    /// No-ops were met: are they this writer's habit, or is something missing?
    Result<void> judge(const OpenState& state, TaskContext& task)
    {
        if (!state.version || state.version->facts)
            return {};
        return judgeChain(m_bench, *state.run, *state.version, task);
    }

    /// The link of B's chain whose state is A, if B builds on A.
    static std::optional<std::size_t> linkOfAInB(const OpenState& a, const OpenState& b)
    {
        if (!a.version || !b.version)
            return std::nullopt;
        const auto& links = b.chain->links();
        for (std::size_t i = 0; i < links.size(); ++i) {
            if (links[i]->store->uri() == a.run->store->uri()
                && links[i]->objects.identity() == a.version->objects.identity())
                return i;
        }
        return std::nullopt;
    }

    Result<JobResult> watchLoop(JobId id, const SourceRequest& request, Depth depth, TaskContext& task)
    {
        constexpr auto Poll = std::chrono::seconds(2);
        DS_TRY(const std::unique_ptr<ObjectStore> store, openStore(request.source));
        DS_TRY(const std::unique_ptr<StoreWatch> changes,
               store->watch()); // before the first look, so that nothing is missed
        std::shared_ptr<const RunView> last;
        std::string seen;
        TraceReader reader;
        LogReader logs(request.logs, m_bench.nowUs);
        for (;;) {
            DS_TRY(const bool moreLogged, logs.read(task));
            Result<Run> run = open(request, task);
            if (run && depth == Depth::Replayed)
                DS_CHECK(analyzeRun(m_bench, *run, {}, task));
            // A source whose first version is still on its way has no layout yet; one that was wiped may come back.
            if (!run && run.error().code != Code::Layout && run.error().code != Code::ListSuspect)
                return fail(std::move(run.error()));
            if (!run && last && run.error().code == Code::ListSuspect && seen != run.error().text) {
                RunView wiped = *last;
                wiped.events.push_back(problemView(run.error()));
                seen = run.error().text;
                m_bus.publish(RunChanged { id, std::make_shared<const RunView>(std::move(wiped)) });
            }
            std::string now;
            for (std::size_t i = 0; run && i < run->versions.size(); ++i)
                now += fmt::format("{}{}{}\n", run->versions[i].objects.identity(), word(run->versions[i].state),
                                   run->versions[i].obstacle.has_value());
            Trace trace;
            if (run) {
                DS_TRY(trace, reader.read(*store, task));
            }
            for (const Heartbeat& replica : trace.replicas)
                now += fmt::format("{}{}{}{}\n", replica.id, replica.state, replica.step, replica.tUs);
            now += fmt::format("{} {}", trace.spans.size(), logs.revision());
            if (run && (!last || now != seen)) {
                seen = std::move(now);
                last = std::make_shared<const RunView>(viewOf(*run, trace, logs));
                m_bus.publish(RunChanged { id, last });
            }
            DS_CHECK(changes->wait(moreLogged ? std::chrono::seconds(0) : Poll, task).map([](bool) {}));
        }
    }

    std::unique_ptr<Catalog> m_catalog;
    std::unique_ptr<Records> m_records;
    std::unique_ptr<FileSystem> m_disk;
    Settings m_settings;
    Workbench m_bench;
    std::atomic<std::uint64_t> m_revision = 0;
    EventBus m_bus;
    JobRunner m_runner; ///< last: its threads use everything above
};

}

Result<std::unique_ptr<Service>> Service::create(const Settings& settings)
{
    DS_CHECK(hashSelfTest());
    std::error_code ignored;
    std::filesystem::create_directories(settings.cacheFolder, ignored);
    std::filesystem::create_directories(settings.stateFolder, ignored);
    // Both help and neither is needed: a read-only home must not stop the work. doctor tells what is missing.
    std::unique_ptr<Catalog> catalog;
    if (Result<std::unique_ptr<Catalog>> opened = Catalog::open(settings.cacheFolder + "/catalog.sqlite"))
        catalog = std::move(*opened);
    std::unique_ptr<Records> records;
    if (Result<std::unique_ptr<Records>> opened = Records::open(settings.stateFolder + "/records.sqlite"))
        records = std::move(*opened);
    return std::unique_ptr<Service>(std::make_unique<EngineService>(settings, std::move(catalog), std::move(records)));
}

} // namespace deltascope::app
