#pragma once

#include "deltascope/app/acts.h"
#include "deltascope/app/events.h"
#include "deltascope/base/address.h"
#include "deltascope/base/search_depth.h"
#include "deltascope/base/tensor_hashes.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

/// How long watch() waits for what.
struct WatchPeriods {
    std::chrono::milliseconds poll { 2'000 }; ///< to look again where nothing tells of a change
    std::chrono::milliseconds patience { 500 }; ///< to tell of a run again while it is replayed
    std::chrono::milliseconds silence { 10'000 }; ///< to tell of a run again in which nothing changes
};

struct Settings {
    std::string cacheFolder; ///< the catalog; created when needed
    std::string stateFolder; ///< records of first sight, journals of uploads; created when needed
    std::uint64_t bytesPerSecond = 0; ///< most that is moved from and to each object store; 0: no limit
    double requestsPerSecond = 0; ///< likewise of requests
    unsigned threads = 0; ///< 0, or more than the machine has: as many as it has
    std::uint32_t jobsAtOnce = 2;
    std::string backend; ///< force one by name; empty: the fastest of the processor
    std::string cudaModule; ///< file of the module for CUDA devices; need not exist
    bool cudaModuleNamed = false; ///< by the environment; then one that cannot be loaded is worth knowing
    std::optional<std::uint64_t> deviceMemory; ///< bytes of such a device; nothing: a tenth of what is free
    WatchPeriods watch;
    std::function<std::int64_t()> nowUs; ///< microseconds since 1970, from any thread; null: the system's clock
    std::string configFile = {}; ///< docs/configuration.md; need not exist; empty: none

    /// From DELTASCOPE_HOME, else the XDG folders, DELTASCOPE_DIFF_BACKEND and DELTASCOPE_CUDA_MODULE, else
    /// ../lib/deltascope from the program.
    static Settings fromEnvironment();
};

/// Which run is meant and how it is read.
struct SourceRequest {
    Address source;
    Address base; ///< folder of the external base checkpoint; empty: none
    std::string layout; ///< force a layout; empty: detect
    std::vector<std::string>
        logs; ///< files that processes of the run print into; openRun, showStep and watch read them
    /// Where one run of the trainer ends and the next begins: "auto" by evidence, "times", "one".
    std::string epochs { "auto" };
    /// Stores that hold the same objects and are read where the source lost or damaged them; those that the source
    /// offers and that were named before come of themselves.
    std::vector<Address> mirrors = {};
    /// How many components below the folder of a step weights are looked for, 1 to MostSearchDepth.
    std::size_t searchDepth = DefaultSearchDepth;

    /// The same for a folder below the source, as a key names it; mirrors hold it in the same place.
    SourceRequest below(const std::string& folder) const;
};

/// `SOURCE[@[EPOCH:]STEP]`, where STEP is a number, `latest`, `latest~3` or `anchor` (the newest one), or
/// `SOURCE@WORD`, where WORD is a ref of the run, or `pin/NAME`; the last @ separates.
struct VersionRequest {
    SourceRequest source;
    std::string version; ///< what stands behind the @; empty: the only or newest version
    /// For digest, diff, materialize and publish: read objects that were rewritten since they were first seen, this
    /// once.
    bool acceptRewritten = false;

    /// Splits an address. An @ that belongs to an existing path separates nothing.
    static VersionRequest parse(const std::string& address);
};

enum class Depth : std::uint8_t {
    Headers, ///< what names and headers tell; changed counts stay unknown where nothing was replayed yet
    Replayed, ///< replay what has no facts yet
    Progressive, ///< of watch(): first what headers tell, then replay, the newest chains first, and tell in between
};

struct LogRequest {
    SourceRequest source;
    Depth depth = Depth::Replayed;
    std::vector<std::string> tensors; ///< globs of the tensors that it is about (engine/tensor_globs.h); empty: all
    /// Of plain checkpoints: how many of the newest are compared with the one before each, which reads both. Nothing:
    /// as many as can be read in some seconds. With Depth::Headers none is.
    std::optional<std::uint32_t> compare;
};

struct VerifyRequest {
    SourceRequest source;
    std::string range; ///< "", "12", "0:12", "3..9"
    int level = 2;
    bool acceptRewritten = false;
    std::string until = {}; ///< a step: what was published behind it is not read; empty: the end of the run
};

struct MaterializeRequest {
    VersionRequest version;
    std::string destination;
    std::string below; ///< absolute path of a folder that `destination` lies in: missing folders on the way are made,
                       ///< and no link below it is followed; empty: any destination whose folder is there
    std::uint64_t shardBytes = 0; ///< 0: shards as in the anchor
    bool readBackFromDisk = false;
    bool acrossGap = false;
    bool forTraining = false; ///< also the trainer's own files of the step (optimizer, scheduler, random state)
    bool trained = false; ///< where the trainer's full form differs from what the deltas lead to: that one
    std::uint32_t part = 0;
    std::uint32_t parts = 1;
    bool commit = false;
};

/// What of two states is compared, and how.
struct DiffChoice {
    std::vector<std::string> tensors; ///< globs of names (engine/tensor_globs.h); empty: all
    /// "A=B": a prefix of names in the first state, and the one that stands for it in the second; empty: a difference
    /// of prefixes is looked for.
    std::string mapPrefix;
};

/// One tensor of a step, compared with another state.
struct TensorRequest {
    VersionRequest version;
    std::string against; ///< version in the same source; empty: what the step builds on, for an anchor the step before
    std::string tensor;
};

/// Publishes the step from `from` to `to` into a run, or all checkpoints of a folder as they come. Begins a run in an
/// empty or new folder.
struct PublishRequest {
    SourceRequest into; ///< its base: the external base of a run that goes on; its layout: the one to write
    VersionRequest from;
    VersionRequest to;
    std::string watchFolder; ///< instead of from and to: where a trainer drops checkpoints
    std::string encoding;
    std::string checksum;
    std::uint32_t anchorEvery = 10;
    bool anchorWhenCheaper = false;
    double restoresPerAnchor = 1;
    bool newEpoch = false; ///< begin another incarnation in the run instead of going on
    bool allowSuspect = false; ///< publish states whose values are suspect, too
    bool acceptRewritten = false; ///< of the run, as in VersionRequest
    std::string marker; ///< of watchFolder: a checkpoint is complete once it holds this file; empty: after quietSeconds
    double quietSeconds = 5;
    double settleSeconds = 600; ///< of watchFolder: what is not complete is left out once nothing changed for so long
    bool once = false; ///< of watchFolder: end when nothing is left
    /// The user vouches that nobody else publishes there, which a store without conditional puts cannot make sure.
    bool soleWriter = false;
    std::string mapPrefix; ///< "A=B": names that begin with A are published as beginning with B; empty: they stay

    PublishRequest() = default;
    PublishRequest(SourceRequest run, const PublishArgs& args); ///< one step
};

/// What a run costs. Nothing in a number: it is as the configuration says or assumed (prices), assumed (link,
/// restores), taken from publication times (steps), or no prediction is made (learning rate).
struct CostRequest {
    SourceRequest source;
    Depth depth = Depth::Replayed;
    std::optional<double> pricePerGb; ///< money per 10^9 bytes moved
    std::optional<double> linkGbps; ///< 10^9 bits per second
    std::optional<double> stepsPerDay;
    std::optional<double> restoresPerDay;
    std::optional<double> learningRate; ///< predicts the changed share from a sample of the weights, which is read
};

/// An act: first planned, then carried out as it was planned.
struct ActCall {
    SourceRequest source;
    ActRequest act;
    std::string planHash; ///< of the plan that is carried out; empty: plan alone
    std::string by; ///< who asks, for the journal, beside the user of this process; empty: that user alone
    std::string below = {}; ///< as MaterializeRequest::below
    std::shared_ptr<const ActPlan> planned = {}; ///< ActPlanView::exact of the plan that is carried out
};

/// A synthetic run that is trained, published and followed by the real engine.
struct DemoRequest {
    std::string folder; ///< empty: under the cache
    double rate = 1; ///< steps per second
    std::uint64_t seed = 1;
    double seconds = 0; ///< how long it stays live; 0: until it is canceled
    Address into; ///< where it publishes; empty: the folder "bucket" in `folder`
    bool soleWriter = false; ///< as in PublishRequest; what the demo makes itself is its own in any case
};

/// The only door to the engine: snapshots, jobs, events. Every face of the program is a client of this class and
/// computes nothing by itself. All methods may be called from any thread and return at once; work runs on the service's
/// own threads.
class Service {
public:
    virtual ~Service() = default;
    /// Opens catalog and records; a broken catalog is rebuilt, an unwritable one is done without.
    static Result<std::unique_ptr<Service>> create(const Settings& settings);

    // Jobs. Each ends with exactly one JobFinished.
    virtual JobId openRun(SourceRequest request, Depth depth) = 0; ///< RunView
    /// LogView: the run as openRun() has it, and what its steps changed in some tensors, or plain checkpoints in
    /// theirs.
    virtual JobId log(LogRequest request) = 0;
    virtual JobId showStep(VersionRequest request, Depth depth) = 0; ///< StepDetailView
    virtual JobId listObjects(SourceRequest request) = 0; ///< ListingView
    virtual JobId verify(VerifyRequest request) = 0; ///< VerifyView
    /// DigestView; also of one safetensors file.
    virtual JobId digest(VersionRequest request, bool acrossGap, TensorHashes hashes = TensorHashes::Xxh3AndSha256) = 0;
    /// DigestCheckView: compares a state, or one safetensors file, with the document that digest() gave elsewhere, in
    /// the file `path`.
    virtual JobId checkDigests(VersionRequest request, std::string path, bool acrossGap) = 0;
    virtual JobId diff(VersionRequest a, VersionRequest b, DiffChoice choice = {}) = 0; ///< DiffView
    virtual JobId blocks(TensorRequest request, std::uint32_t maxBlocks) = 0; ///< BlocksView
    /// ElementsView; `rows` x `cols` elements from (row, col), at most 4,096.
    virtual JobId elements(TensorRequest request, std::uint64_t row, std::uint64_t col, std::uint64_t rows,
                           std::uint64_t cols) = 0;
    /// StatisticsView. Reads what statisticsCost() says.
    virtual JobId statistics(TensorRequest request) = 0;
    /// StatisticsHistoryView of at most `steps` steps up to the one that is named, in its epoch.
    virtual JobId statisticsHistory(TensorRequest request, std::uint32_t steps) = 0;
    /// TensorFirstsView, over all steps of the epoch up to the one that is named. Reads the tensor once for each chain,
    /// up to the one that answers the last question.
    virtual JobId tensorFirsts(TensorRequest request) = 0;
    /// StatisticsCostView of statistics() for no steps, of tensorFirsts() for AllSteps, else of statisticsHistory();
    /// reads headers alone.
    static constexpr std::uint32_t AllSteps = UINT32_MAX;
    virtual JobId statisticsCost(TensorRequest request, std::uint32_t steps) = 0;
    virtual JobId readHeader(SourceRequest request, std::string key) = 0; ///< HeaderView, of a safetensors object
    virtual JobId materialize(MaterializeRequest request) = 0; ///< MaterializeView
    /// PublishView. With a watchFolder it goes on until it is canceled, and a Published event follows every version.
    virtual JobId publish(PublishRequest request) = 0;
    virtual JobId cost(CostRequest request) = 0; ///< CostView
    virtual JobId annotations(SourceRequest request) = 0; ///< AnnotationsView
    /// The view of the act: RollBackView, BranchView, PublishView, AnnotatedView, VerifyView, DiffView,
    /// MaterializeView; of the plan of one that ends with one of the last three a PlannedReadView.
    virtual JobId start(ActCall call) = 0;
    /// A DoctorView. `clean`: also removes from the source what writers of this machine that ended left half-written.
    virtual JobId doctor(std::optional<SourceRequest> source, bool clean = false) = 0;
    /// Makes the folder of a demo ready, removing an earlier one; what it returns says where the bucket will be.
    /// Errors: Exists.
    virtual Result<DemoView> prepareDemo(const DemoRequest& request) = 0;
    virtual JobId demo(DemoRequest request) = 0; ///< DemoView; needs prepareDemo
    /// Removes the files of a demo that has ended. Errors: Exists (it runs, or the folder holds something else), Io.
    virtual Result<void> removeDemo(const DemoRequest& request) = 0;
    /// Follows a source until it is canceled: a RunChanged first and after every change.
    virtual JobId watch(SourceRequest request, Depth depth) = 0;

    /// Changed elements of each tensor of a column, as the catalog knows them; nothing where it does not.
    virtual std::optional<std::vector<std::pair<std::string, std::uint64_t>>> countsOf(const HeatView& heat,
                                                                                       std::size_t column) const = 0;

    /// What changes are found with on this machine from now on: "avx2", …; empty: it is not known. Errors: those of a
    /// backend that was asked for and cannot be used (Usage, Unsupported, Io, NoSpace).
    virtual Result<std::string> backend() const = 0;
    /// What a backend did not do as it was asked to, each once: a device failed, and the processor did its work.
    virtual std::vector<Error> backendNotices() const { return {}; }
    /// What a device did since it was opened; nothing: none was.
    virtual std::optional<DeviceShareView> deviceShare() const { return std::nullopt; }
    /// Of all object stores that were opened, by address.
    virtual std::vector<StoreMeterView> meters() const = 0;

    virtual std::vector<JobView> jobs() const = 0;
    virtual std::optional<JobView> job(JobId id) const = 0;
    virtual void cancel(JobId id) = 0; ///< idempotent; what was written stays resumable
    virtual void pause(JobId id) = 0;
    virtual void resume(JobId id) = 0;

    /// `wake` is called when the feed turns non-empty, from any thread, without locks held; it must only wake.
    virtual std::unique_ptr<EventFeed> subscribe(std::function<void()> wake) = 0;
};

} // namespace deltascope::app
