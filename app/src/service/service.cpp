#include "deltascope/app/service.h"

#include "acts/act.h"
#include "address.h"
#include "affordable_reads.h"
#include "annotation_jobs.h"
#include "configuration.h"
#include "demo/demo.h"
#include "demo/demo_bucket.h"
#include "diff_jobs.h"
#include "digest_jobs.h"
#include "doctor.h"
#include "job_runner.h"
#include "log_jobs.h"
#include "materialize_jobs.h"
#include "opening.h"
#include "publishing.h"
#include "state_tensors.h"
#include "statistics_jobs.h"
#include "tensor_firsts.h"
#include "tensor_jobs.h"
#include "verify_jobs.h"
#include "view/make_views.h"
#include "watching.h"

#include "deltascope/engine/cost.h"
#include "deltascope/engine/device_backend.h"
#include "deltascope/engine/logs.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/rewritten_parts.h"
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

class EngineService final : public Service {
public:
    EngineService(const Settings& settings, std::unique_ptr<Catalog> catalog, std::unique_ptr<Records> records)
        : m_catalog(std::move(catalog))
        , m_records(std::move(records))
        , m_disk(makeFileSystem())
        , m_settings(settings)
        , m_runner(m_bus, settings.jobsAtOnce, [this] { m_device->releaseIdle(); })
    {
        m_bench.layouts = builtinLayouts();
        m_bench.catalog = m_catalog.get();
        m_bench.records = m_records.get();
        m_bench.disk = m_disk.get();
        const Backends processor = Backends::builtin();
        m_processor = *processor.choose("");
        m_device = DeviceBackend::make([file = settings.cudaModule] { return loadDeviceModule(file); }, m_processor,
                                       settings.deviceMemory);
        m_bench.backends = processor.with(m_device);
        m_bench.forcedBackend = settings.backend;
        StoresOptions stores;
        stores.cacheFolder = settings.cacheFolder + "/blocks";
        stores.stateFolder = settings.stateFolder + "/uploads";
        stores.bytesPerSecond = settings.bytesPerSecond;
        stores.requestsPerSecond = settings.requestsPerSecond;
        m_bench.stores = std::make_shared<Stores>(std::move(stores));
        const unsigned machine = std::max(1U, std::thread::hardware_concurrency());
        m_bench.threads = settings.threads > 0 ? std::min(settings.threads, machine) : machine;
        m_bench.nowUs = settings.nowUs ? settings.nowUs : systemNowUs;
        m_bench.shadowFolder = settings.stateFolder + "/beside";
    }

    JobId openRun(SourceRequest request, Depth depth) override
    {
        return start("open " + request.source.text(),
                     [this, request, depth](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(Run run, openRequested(m_bench, request, task));
                         if (depth == Depth::Replayed) {
                             AnalyzeOptions options;
                             options.standAloneBytes = affordableBytes(run);
                             DS_CHECK(analyzeRun(m_bench, run, options, task));
                         }
                         DS_TRY(RunView view, viewOf(run, request, task));
                         return ended(std::move(view));
                     });
    }

    JobId log(LogRequest request) override
    {
        return start("log " + request.source.source.text(),
                     [this, request](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(Run run, openRequested(m_bench, request.source, task));
                         DS_TRY(LogView view, changesOf(m_bench, run, request, task));
                         DS_TRY(view.run, viewOf(run, request.source, task));
                         addChanges(view);
                         return ended(std::move(view));
                     });
    }

    JobId showStep(VersionRequest request, Depth depth) override
    {
        return start("show " + request.source.source.text(),
                     [this, request, depth](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(Run run, openRequested(m_bench, request.source, task));
                         DS_TRY(const Version* version, findVersion(m_bench, run, request.version, task));
                         const auto at = static_cast<std::size_t>(version - run.versions.data());
                         std::vector<TensorCount> counts;
                         if (m_catalog && version->facts) {
                             if (auto known =
                                     m_catalog->counts(catalogKey(run), version->objects.name, chainKeys(run)[at]))
                                 counts = std::move(*known);
                         }
                         const bool isKnown = !run.countsOnItsBase(*version) || explains(run, *version, counts);
                         if (depth == Depth::Replayed && !isKnown) {
                             AnalyzeOptions options;
                             options.range = { at, at };
                             options.again = true;
                             options.standAloneBytes = affordableBytes(run);
                             options.onCounts = [&](std::size_t replayed, const std::vector<TensorCount>& changed) {
                                 if (replayed == at)
                                     counts = changed;
                             };
                             DS_CHECK(analyzeRun(m_bench, run, options, task));
                         }
                         TensorList tensors = std::make_shared<const std::vector<TensorInfo>>();
                         std::vector<Error> doubts = doubtsOfChoice(run);
                         if (Result<Plan> plan = planFor(run, *version)) {
                             for (Error& change : changedSinceSeen(m_bench, run, *plan))
                                 doubts.push_back(std::move(change));
                             DS_TRY(tensors, tensorsOf(run, *version, std::move(*plan), doubts, task));
                         }
                         DS_TRY(const Trace trace, TraceReader().read(*run.store, run.beside, task));
                         DS_TRY(const Annotations annotations, annotationsOf(m_bench, run, task));
                         LogReader logs(request.source.logs, m_bench.nowUs);
                         DS_CHECK(readAll(logs, task));
                         const SeenChanges changes = seenChanges(run, changedSinceSeen(m_bench, run));
                         const bool isMiscounted = changes.miscounted.contains(at);
                         if (isMiscounted)
                             counts.clear();
                         StepDetailView view = makeStepDetailView(run, *version, *tensors, counts);
                         if (isMiscounted)
                             forgetCounts(view.step);
                         if (anyRewritten(run))
                             WaysAround(run, changes).show(view.step, at);
                         view.chosen = choiceText(run, *version, request.version);
                         view.step.refs = wordsOf(run, *version, annotations);
                         for (const Error& doubt : doubts)
                             view.step.problems.push_back(problemView(doubt));
                         addPause(view.step, pausesOf(run, trace, logs.spans()));
                         addLogProblems(view.step.problems, logs);
                         return ended(std::move(view));
                     });
    }

    JobId listObjects(SourceRequest request) override
    {
        return start("list " + request.source.text(), [this, request](JobId, TaskContext& task) -> Result<JobResult> {
            DS_TRY(const std::shared_ptr<ObjectStore> store, m_bench.stores->open(request.source));
            DS_TRY(const std::vector<ObjectInfo> listing, listAll(*store, "", task));
            const Result<Run> run = openRequested(m_bench, request, task);
            if (!run && run.error().code != Code::Layout)
                return fail(run.error());
            return ended(makeListingView(store->uri(), listing, run ? &*run : nullptr));
        });
    }

    JobId verify(VerifyRequest request) override
    {
        return start("verify " + request.source.source.text(),
                     [this, request](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(VerifyView view, verifyOf(m_bench, request, {}, task));
                         return ended(std::move(view));
                     });
    }

    JobId digest(VersionRequest request, bool acrossGap, TensorHashes hashes) override
    {
        return start("digest " + request.source.source.text(),
                     [this, request, acrossGap, hashes](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(DigestView view, digestOf(m_bench, request, acrossGap, hashes, task));
                         return ended(std::move(view));
                     });
    }

    JobId checkDigests(VersionRequest request, std::string path, bool acrossGap) override
    {
        return start("digest " + request.source.source.text(),
                     [this, request, path, acrossGap](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(DigestCheckView view, checkDigestsOf(m_bench, request, path, acrossGap, task));
                         return ended(std::move(view));
                     });
    }

    JobId diff(VersionRequest a, VersionRequest b, DiffChoice choice) override
    {
        return start(fmt::format("diff {} {}", a.source.source.text(), b.source.source.text()),
                     [this, a, b, choice](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(DiffView view, diffOf(m_bench, { a, b, choice }, {}, task));
                         return ended(std::move(view));
                     });
    }

    JobId blocks(TensorRequest request, std::uint32_t maxBlocks) override
    {
        return start("blocks of " + request.tensor,
                     [this, request, maxBlocks](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(BlocksView view, blocksOf(m_bench, request, maxBlocks, task));
                         return ended(std::move(view));
                     });
    }

    JobId elements(TensorRequest request, std::uint64_t row, std::uint64_t col, std::uint64_t rows,
                   std::uint64_t cols) override
    {
        const Window window { row, col, rows, cols };
        return start("elements of " + request.tensor,
                     [this, request, window](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(ElementsView view, elementsOf(m_bench, request, window, task));
                         return ended(std::move(view));
                     });
    }

    JobId statistics(TensorRequest request) override
    {
        return start("statistics of " + request.tensor, [this, request](JobId, TaskContext& task) -> Result<JobResult> {
            const Clock::time_point began = Clock::now();
            DS_TRY(StatisticsView view, statisticsOf(m_bench, request, task));
            view.seconds = secondsSince(began);
            return ended(std::move(view));
        });
    }

    JobId statisticsHistory(TensorRequest request, std::uint32_t steps) override
    {
        return start("statistics of " + request.tensor,
                     [this, request, steps](JobId, TaskContext& task) -> Result<JobResult> {
                         const Clock::time_point began = Clock::now();
                         DS_TRY(StatisticsHistoryView view, statisticsHistoryOf(m_bench, request, steps, task));
                         view.seconds = secondsSince(began);
                         return ended(std::move(view));
                     });
    }

    JobId tensorFirsts(TensorRequest request) override
    {
        return start("firsts of " + request.tensor, [this, request](JobId, TaskContext& task) -> Result<JobResult> {
            const Clock::time_point began = Clock::now();
            DS_TRY(TensorFirstsView view, tensorFirstsOf(m_bench, request, task));
            view.seconds = secondsSince(began);
            return ended(std::move(view));
        });
    }

    JobId statisticsCost(TensorRequest request, std::uint32_t steps) override
    {
        return start("cost of statistics of " + request.tensor,
                     [this, request, steps](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(StatisticsCostView view, statisticsCostOf(m_bench, request, steps, task));
                         return ended(std::move(view));
                     });
    }

    JobId readHeader(SourceRequest request, std::string key) override
    {
        return start("header of " + key, [this, request, key](JobId, TaskContext& task) -> Result<JobResult> {
            DS_TRY(const std::shared_ptr<ObjectStore> store, m_bench.stores->open(request.source));
            DS_TRY(const ObjectInfo object, store->stat(key, task));
            DS_TRY(const SafetensorsHeader header, SafetensorsHeader::read(*store, object, task));
            return ended(makeHeaderView(key, header));
        });
    }

    std::optional<std::vector<std::pair<std::string, std::uint64_t>>> countsOf(const HeatView& heat,
                                                                               std::size_t column) const override
    {
        if (!m_catalog || !heat.columns[column].codes)
            return std::nullopt;
        const HeatColumnView& wanted = heat.columns[column];
        auto known = m_catalog->counts(heat.catalogKey, wanted.name, wanted.chainKey);
        if (!known)
            return std::nullopt;
        std::vector<std::pair<std::string, std::uint64_t>> counts;
        counts.reserve(known->size());
        for (TensorCount& count : *known)
            counts.emplace_back(std::move(count.name), count.changed);
        return counts;
    }

    JobId materialize(MaterializeRequest request) override
    {
        return start("materialize " + request.version.source.source.text(),
                     [this, request](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(MaterializeView view, rebuildOf(m_bench, request, {}, task));
                         return ended(std::move(view));
                     });
    }

    JobId publish(PublishRequest request) override
    {
        const std::string title = "publish into " + request.into.source.text();
        if (!request.watchFolder.empty())
            return m_runner.start(
                title, JobRunner::Life::Long, [this, request](JobId id, TaskContext& task) -> Result<JobResult> {
                    const Address watched(request.watchFolder);
                    if (watched.isWithin(request.into.source) || request.into.source.isWithin(watched))
                        return fail(Code::Usage, "the run and the folder of checkpoints must not lie in each other",
                                    request.watchFolder);
                    const auto tell = [&](const PublishView& view) {
                        m_bus.publish(Published { id, std::make_shared<const PublishView>(view) });
                    };
                    DS_TRY(PublishView view, publishFolder(m_bench, request, tell, task));
                    return ended(std::move(view));
                });
        return start(title, [this, request](JobId, TaskContext& task) -> Result<JobResult> {
            DS_TRY(PublishView view, publishOnce(m_bench, request, {}, task));
            return ended(std::move(view));
        });
    }

    JobId annotations(SourceRequest request) override
    {
        return start("list annotations of " + request.source.text(),
                     [this, request](JobId, TaskContext& task) -> Result<JobResult> {
                         DS_TRY(AnnotationsView view, listAnnotations(m_bench, request, task));
                         return ended(std::move(view));
                     });
    }

    JobId start(ActCall call) override
    {
        return m_runner.start(
            fmt::format("{} {}", call.act.kind, call.source.source.text()),
            call.planHash.empty() ? JobRunner::Life::Plan : JobRunner::Life::Short,
            [this, call](JobId, TaskContext& task) -> Result<JobResult> { return runAct(m_bench, call, task); });
    }

    JobId cost(CostRequest request) override
    {
        return start("cost " + request.source.source.text(),
                     [this, request](JobId, TaskContext& task) -> Result<JobResult> {
                         CostOptions options { request.pricePerGb, request.linkGbps, request.stepsPerDay,
                                               request.restoresPerDay, request.learningRate };
                         DS_CHECK(options.check());
                         DS_TRY(const Configuration configuration, readConfiguration(m_settings.configFile));
                         DS_TRY(Run run, openRequested(m_bench, request.source, task));
                         const StorePrices prices = configuration.pricesOf(run.store->uri());
                         if (!options.pricePerGb)
                             options.pricePerGb = prices.perGb;
                         options.pricePerThousandRequests = prices.perThousandRequests;
                         if (request.depth == Depth::Replayed)
                             DS_CHECK(analyzeRun(m_bench, run, {}, task));
                         std::optional<ChangePrediction> prediction;
                         if (options.learningRate) {
                             DS_TRY(const std::vector<WeightScale> scales, sampleWeightScales(m_bench, run, task));
                             prediction = predictChanges(scales, *options.learningRate);
                         }
                         CostView view = makeCostView(run, adviseCost(run, options), prediction);
                         for (const Error& change : changedSinceSeen(m_bench, run))
                             view.problems.push_back(problemView(change));
                         return ended(std::move(view));
                     });
    }

    JobId doctor(std::optional<SourceRequest> source, bool clean) override
    {
        return start("doctor", [this, source, clean](JobId, TaskContext& task) -> Result<JobResult> {
            return ended(examine(m_settings, m_bench, *m_device, source, clean, task));
        });
    }

    Result<DemoView> prepareDemo(const DemoRequest& request) override
    {
        const std::string folder = demoFolder(request);
        DS_CHECK(prepareDemoFolder(*m_disk, folder));
        const Address bucket = demoBucket(request, folder);
        TaskContext task;
        DS_CHECK(prepareDemoBucket(m_bench, request, bucket, task));
        return DemoView { folder, bucket.text(), 0 };
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

    Result<void> removeDemo(const DemoRequest& request) override
    {
        return removeDemoFolder(*m_disk, demoFolder(request));
    }

    JobId watch(SourceRequest request, Depth depth) override
    {
        return m_runner.start(
            "watch " + request.source.text(), JobRunner::Life::Long,
            [this, request, depth](JobId id, TaskContext& task) -> Result<JobResult> {
                const auto tell = [&](std::shared_ptr<const RunView> run, std::shared_ptr<const HeatView> heat) {
                    m_bus.publish(RunChanged { id, std::move(run), std::move(heat) });
                };
                DS_CHECK(watchRun(m_bench, request, depth, m_settings.watch, m_stateTensors, m_revision, tell, task));
                return fail(Code::Canceled, "stopped on request");
            });
    }

    /// Errors: Usage (no backend has the name that was asked for). Whether this machine runs it is for who uses it.
    Result<void> expectBackend() const
    {
        const auto& all = m_bench.backends.all();
        const bool isKnown = m_bench.forcedBackend.empty()
            || std::any_of(all.begin(), all.end(),
                           [&](const auto& backend) { return backend->name() == m_bench.forcedBackend; });
        return isKnown ? Result<void>() : fail(m_bench.chooseBackend().error());
    }

    Result<std::string> backend() const override
    {
        DS_TRY(const auto backend, m_bench.chooseBackend());
        const std::optional<DeviceShareView> share = deviceShare();
        return share && share->isLost ? share->processor : std::string(backend->name());
    }

    std::vector<Error> backendNotices() const override { return m_device->notices(); }
    std::optional<DeviceShareView> deviceShare() const override
    {
        const bool isMeant = m_bench.forcedBackend == m_device->name();
        const std::optional<DeviceShare> share = isMeant ? m_device->share() : std::nullopt;
        if (!share)
            return std::nullopt;
        return DeviceShareView { share->byDevice, share->byProcessor, std::string(m_device->name()),
                                 std::string(m_processor->name()), share->isLost };
    }

    std::vector<StoreMeterView> meters() const override { return meterViews(*m_bench.stores); }

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

    /// The tensors of a state. None where its bytes contradict the records: then the reason is one of the doubts.
    Result<TensorList> tensorsOf(const Run& run, const Version& version, Plan plan, std::vector<Error>& doubts,
                                 TaskContext& task)
    {
        Result<TensorList> list = m_stateTensors.of(m_bench, run, version, std::move(plan), task);
        if (list || (list.error().code != Code::Digest && list.error().code != Code::Rewritten))
            return list;
        doubts.push_back(std::move(list.error()));
        return std::make_shared<const std::vector<TensorInfo>>();
    }

    Result<RunView> viewOf(const Run& run, const SourceRequest& request, TaskContext& task)
    {
        DS_TRY(const Trace trace, TraceReader().read(*run.store, run.beside, task));
        DS_TRY(const Annotations annotations, annotationsOf(m_bench, run, task));
        LogReader logs(request.logs, m_bench.nowUs);
        DS_CHECK(readAll(logs, task));
        RunView view = runViewOf(run, seenChanges(run, changedSinceSeen(m_bench, run)), annotations, trace, logs,
                                 ++m_revision, m_bench.nowUs());
        view.meter = meterOf(*m_bench.stores, view.source);
        return view;
    }

    JobId start(std::string title, JobRunner::Work work)
    {
        return m_runner.start(std::move(title), JobRunner::Life::Short, std::move(work));
    }

    std::unique_ptr<Catalog> m_catalog;
    std::unique_ptr<Records> m_records;
    std::unique_ptr<FileSystem> m_disk;
    StateTensors m_stateTensors;
    Settings m_settings;
    std::shared_ptr<const Backend> m_processor; ///< what does the work of a device that fails
    std::shared_ptr<const DeviceBackend> m_device;
    Workbench m_bench;
    std::atomic<std::uint64_t> m_revision = 0;
    EventBus m_bus;
    JobRunner m_runner; ///< last: its threads use everything above
};

/// Whether `file` is what a full disk leaves of new records: an empty file.
bool leftByFullDisk(const Error& why, const std::string& file)
{
    std::error_code failed;
    return why.code == Code::NoSpace && std::filesystem::file_size(file, failed) == 0 && !failed;
}

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
    const std::string recordsFile = settings.stateFolder + "/records.sqlite";
    std::unique_ptr<Records> records;
    if (Result<std::unique_ptr<Records>> opened = Records::open(recordsFile))
        records = std::move(*opened);
    else if (std::filesystem::exists(recordsFile, ignored) && !leftByFullDisk(opened.error(), recordsFile))
        // they were there once: doing without them in silence would forget
        records = unusableRecords(std::move(opened.error()));
    auto service = std::make_unique<EngineService>(settings, std::move(catalog), std::move(records));
    DS_CHECK(service->expectBackend());
    return std::unique_ptr<Service>(std::move(service));
}

} // namespace deltascope::app
