#include "demo/demo.h"

#include "deltascope/engine/beside_keys.h"
#include "demo/demo_bucket.h"
#include "demo/demo_model.h"
#include "demo/demo_replica.h"

#include "deltascope/base/threads.h"
#include "deltascope/engine/publish.h"
#include "deltascope/engine/safetensors.h"
#include "deltascope/engine/walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view Mark = "deltascope-demo";
constexpr int Backfill = 60; ///< steps that are published at full speed before the run turns live
constexpr int Replicas = 3;
constexpr std::size_t MostVersions = 400;
constexpr std::uint64_t MostBytes = 600'000'000;
constexpr std::size_t MostSpanObjects = 200;

/// When what happens, in steps after the run turned live: seconds at the usual rate.
constexpr double RateDrops = 15;
constexpr double ReplicaStalls = 25;
constexpr double StallSteps = 12;
constexpr double ByteFlips = 40;
constexpr double RewardCollapses = 70;
constexpr double WaitsForOperator = 120; ///< behind the collapse, while nobody rolls the run back
constexpr double Reconsiders = 30; ///< behind a roll back, while it may be undone

/// The trainer and the replicas of a real run have machines of their own: here they must not take the processor from
/// the one who looks on. This thread and those that it starts get less of it when others want it, too.
void standBack()
{
    constexpr int Niceness = 5;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), Niceness); // on Linux that of a thread
}

class Demo {
public:
    Demo(const DemoRequest& request, std::string folder, const std::function<Workbench()>& makeBench)
        : m_request(request)
        , m_folder(std::move(folder))
        , m_bench(makeBench())
        , m_makeBench(makeBench)
        , m_model(request.seed)
    {
    }

    Result<DemoView> run(TaskContext& task)
    {
        const Address bucket = demoBucket(m_request, m_folder);
        DS_TRY(m_bucket, openDemoBucket(m_bench, bucket));
        DS_TRY(m_trainer, openLocalStore(m_folder + "/trainer"));
        DS_CHECK(openPublisher(task));
        DS_CHECK(saveCheckpoint(task));
        for (int i = 0; i < Backfill; ++i)
            DS_CHECK(trainAndPublish(0.005 + 0.007 * std::exp(-i / 25.0), task));
        standBack();
        m_liveUs = m_beganLiveUs = m_bench.nowUs();
        const Result<void> outcome = caught([&]() -> Result<void> {
            DS_CHECK(startReplicas());
            return live(task);
        });
        for (TaskContext& replica : m_tasks)
            replica.requestStop();
        m_threads.clear();
        if (!outcome && outcome.error().code != Code::Canceled)
            return fail(outcome.error());
        return DemoView { m_folder, bucket.text(), m_head };
    }

private:
    double liveSteps() const { return liveSeconds() * m_request.rate; }
    double liveSeconds() const { return static_cast<double>(m_bench.nowUs() - m_liveUs) / 1e6; }

    /// Whether the demo has been live for as long as it was asked to be.
    bool isOver() const
    {
        return m_request.seconds > 0 && static_cast<double>(m_bench.nowUs() - m_beganLiveUs) / 1e6 >= m_request.seconds;
    }

    Result<void> openPublisher(TaskContext& task)
    {
        PublishOptions options;
        options.layout = "trl-v2";
        DS_TRY(Publisher publisher, Publisher::open(m_bench, m_bucket, {}, options, task));
        m_publisher.emplace(std::move(publisher));
        return {};
    }

    Result<void> saveCheckpoint(TaskContext& task)
    {
        ++m_trained;
        const MemoryPayload source(m_model.file());
        DS_TRY([[maybe_unused]] const ObjectInfo put,
               m_trainer->put(nameOf(m_trained) + "/model.safetensors", source, PutMode::Replace, task));
        std::error_code ignored;
        fs::remove_all(fmt::format("{}/trainer/{}", m_folder, nameOf(m_trained - 2)), ignored);
        return {};
    }

    static std::string nameOf(std::int64_t number) { return fmt::format("checkpoint-{}", number); }

    Result<PathPtr> openCheckpoint(std::int64_t number, TaskContext& task)
    {
        OpenOptions plain;
        plain.layout = "hf";
        DS_TRY(const Run run, openRun(m_bench, m_trainer, plain, task));
        const Version* version = run.find(number);
        if (!version)
            return fail(Code::NotFound, "the checkpoint that was just saved is gone", nameOf(number));
        DS_TRY(const Plan plan, planFor(run, *version));
        return openForFacts(m_bench, run, plan, task);
    }

    Result<void> trainAndPublish(double fraction, TaskContext& task)
    {
        if (!m_publisher->headStep())
            DS_CHECK(publishNewest(nullptr, task));
        m_model.train(fraction);
        DS_CHECK(saveCheckpoint(task));
        DS_TRY(const PathPtr from, openCheckpoint(m_trained - 1, task));
        return publishNewest(from.get(), task);
    }

    Result<void> publishNewest(const State* from, TaskContext& task)
    {
        DS_TRY(const PathPtr to, openCheckpoint(m_trained, task));
        const std::unique_lock closed(
            m_gate); // so that replicas meet the flipped byte, not the sound version before it
        DS_TRY(const PublishedVersion version, m_publisher->publish(from, *to, nameOf(m_trained), task));
        m_head = version.step;
        if (m_flipNext && !version.anchor && flipByte(version, task))
            m_flipNext = false;
        return {};
    }

    /// One training step per period, and the script.
    Result<void> live(TaskContext& task)
    {
        const double period = 1.0 / m_request.rate;
        for (std::int64_t n = 1;; ++n) {
            while (!isOver() && liveSeconds() < static_cast<double>(n) * period) {
                DS_CHECK(task.checkpoint());
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
            if (isOver()) // also where steps take longer than their period, so that nothing is waited for
                return {};
            DS_CHECK(playScript(task));
            const double drift = 1.0 + 0.15 * std::sin(static_cast<double>(n) / 20.0);
            DS_CHECK(trainAndPublish((liveSteps() >= RateDrops ? 0.0025 : 0.0055) * drift, task));
            DS_CHECK(prune(task));
        }
    }

    Result<void> playScript(TaskContext& task)
    {
        const double now = liveSteps();
        const auto due = [&](int incident, double at) {
            if (m_played > incident || now < at)
                return false;
            m_played = incident + 1;
            return true;
        };
        if (due(0, RateDrops))
            return tell("learning rate 1e-6 -> 5e-7", task);
        if (due(1, ReplicaStalls))
            m_replicas[1]->stallUntil(m_bench.nowUs() + static_cast<std::int64_t>(StallSteps / m_request.rate * 1e6));
        if (due(2, ByteFlips))
            m_flipNext = true;
        if (due(3, RewardCollapses))
            return waitForOperator(task);
        return {};
    }

    double stepsSince(std::int64_t us) const
    {
        return static_cast<double>(m_bench.nowUs() - us) / 1e6 * m_request.rate;
    }

    /// The reward has collapsed: the trainer stops and gives its lease back, so that an operator can roll the run back.
    /// Once that state has been the newest one for a while, the trainer loads it and goes on from it; without a roll
    /// back it goes on as it was.
    Result<void> waitForOperator(TaskContext& task)
    {
        DS_CHECK(tell("reward collapses: 0.61 -> 0.08; the trainer stops until the run is rolled back", task));
        m_publisher.reset();
        const std::int64_t stoppedUs = m_bench.nowUs();
        std::optional<std::int64_t> restored;
        std::int64_t seenUs = stoppedUs;
        while (stepsSince(seenUs) < (restored ? Reconsiders : WaitsForOperator) && !isOver()) {
            DS_CHECK(task.checkpoint());
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            DS_TRY(const std::optional<std::int64_t> now, restoringStep(task));
            if (now != restored)
                seenUs = m_bench.nowUs();
            restored = now;
        }
        if (restored)
            DS_CHECK(loadNewest(task));
        m_liveUs += m_bench.nowUs() - stoppedUs; // the script stood still
        DS_CHECK(openPublisher(task));
        return tell(restored ? fmt::format("the trainer has loaded step {} and goes on", m_head)
                             : std::string("nobody rolled back; the trainer goes on"),
                    task);
    }

    /// The newest step if it restores another state than the trainer has.
    Result<std::optional<std::int64_t>> restoringStep(TaskContext& task)
    {
        DS_TRY(const Run run, openRun(m_bench, m_bucket, {}, task));
        const Version* const newest = run.versions.empty() ? nullptr : &run.versions.back();
        const bool restores = newest && newest->step() > m_head && newest->summary && newest->summary->restores
            && newest->summary->restores != m_head;
        return restores ? std::optional(newest->step()) : std::nullopt;
    }

    Result<void> loadNewest(TaskContext& task)
    {
        DS_TRY(const Run run, openRun(m_bench, m_bucket, {}, task));
        const Version& newest = run.versions.back();
        DS_TRY(const Plan plan, planFor(run, newest));
        DS_TRY(const PathPtr state, openForFacts(m_bench, run, plan, task));
        DS_TRY(WalkMeans means, m_bench.means());
        DS_TRY(const std::unique_ptr<StateWalk> walk, state->walk(allTensors(*state), { std::move(means) }));
        const auto load = [&](std::size_t slice, SliceReader& reader) {
            MutableByteSpan data = m_model.dataOf(walk->tensor(slice).name);
            return forEachBlock(reader, task, [&](ByteSpan block) {
                std::copy(block.begin(), block.end(), data.begin());
                data = data.subspan(block.size());
            });
        };
        DS_CHECK(walkTensors(*walk, InOrder, task, load));
        m_head = newest.step();
        return saveCheckpoint(task);
    }

    Result<void> tell(const std::string& text, TaskContext& task)
    {
        m_publisher->note(m_publisher->headStep().value_or(-1), text);
        return m_publisher->keepAlive(task);
    }

    /// What a faulty disk does: one bit of one value of a delta turns over.
    bool flipByte(const PublishedVersion& version, TaskContext& task)
    {
        const ObjectInfo& object = version.objects.back();
        const Result<SafetensorsHeader> header = SafetensorsHeader::read(*m_bucket, object, task);
        if (!header)
            return false;
        const auto values =
            std::find_if(header->tensors().begin(), header->tensors().end(), [](const StoredTensor& tensor) {
                return tensor.info.name.ends_with(".val") && tensor.bytes > 0;
            });
        if (values == header->tensors().end())
            return false;
        std::vector<std::byte> bytes(object.sizeBytes);
        if (!m_bucket->read(object, 0, bytes, task))
            return false;
        bytes[values->begin] ^= std::byte { 0x10 };
        const MemoryPayload damaged(bytes);
        return m_bucket->put(object.key, damaged, PutMode::Replace, task).has_value();
    }

    Result<void> startReplicas()
    {
        for (int i = 0; i < Replicas; ++i) {
            const std::string id = fmt::format("r{}", i + 1);
            const std::string folder = m_folder + "/replicas/" + id;
            std::error_code ignored;
            fs::create_directories(folder, ignored);
            Workbench bench = m_makeBench();
            bench.threads = 1;
            m_replicas.push_back(std::make_unique<DemoReplica>(
                id, bench, DemoReplica::Places { m_bucket, folder, m_gate },
                m_request.seed + 100 + static_cast<std::uint64_t>(i), m_tasks[static_cast<std::size_t>(i)]));
        }
        for (std::size_t i = 0; i < Replicas; ++i) {
            DS_TRY(std::jthread thread, startThread([this, i] { m_replicas[i]->run(m_tasks[i]); }));
            m_threads.push_back(std::move(thread));
        }
        return {};
    }

    /// Keeps the bucket small: without its oldest chains, and without old spans. Whole chains only, so nothing that
    /// stays needs what goes.
    Result<void> prune(TaskContext& task)
    {
        DS_TRY(std::vector<ObjectInfo> listing, listAll(*m_bucket, "", task));
        std::uint64_t bytes = 0;
        for (const ObjectInfo& object : listing)
            bytes += object.sizeBytes;
        std::vector<std::string> spans;
        for (const ObjectInfo& object : listing) {
            if (object.key.starts_with(beside::Spans))
                spans.push_back(object.key);
        }
        std::erase_if(listing, [](const ObjectInfo& object) { return object.key.starts_with("."); });
        if (listing.size() <= MostVersions && bytes <= MostBytes)
            return {};
        std::vector<std::string> anchors;
        for (const ObjectInfo& object : listing) {
            if (object.key.starts_with("anchors/"))
                anchors.push_back(object.key.substr(object.key.find('/')));
        }
        if (anchors.size() < 3)
            return {};
        std::vector<std::string> removed;
        for (const ObjectInfo& object : listing) {
            if (object.key.substr(object.key.find('/')) < anchors[1])
                removed.push_back(object.key);
        }
        // Deltas first and the newest of them, the anchor last: what is left can be rebuilt at every moment.
        std::sort(removed.begin(), removed.end(), std::greater<>());
        const std::size_t versions = removed.size();
        for (const std::string& key : spansBehind(spans))
            removed.push_back(key);
        DS_CHECK(removeFromDemo(*m_bucket, removed, task));
        return tell(fmt::format("pruned {} versions of the oldest chain: the demo keeps {} versions or {} MB", versions,
                                MostVersions, MostBytes / 1'000'000),
                    task);
    }

    /// Of each actor, what is older than its newest objects. `spans`: keys in byte order.
    static std::vector<std::string> spansBehind(const std::vector<std::string>& spans)
    {
        std::vector<std::string> behind;
        for (std::size_t i = 0; i + MostSpanObjects < spans.size(); ++i) {
            const std::string& later = spans[i + MostSpanObjects];
            if (later.substr(0, later.rfind('/')) == spans[i].substr(0, spans[i].rfind('/')))
                behind.push_back(spans[i]);
        }
        return behind;
    }

    const DemoRequest& m_request;
    std::string m_folder;
    Workbench m_bench;
    const std::function<Workbench()>& m_makeBench;
    DemoModel m_model;
    std::shared_ptr<ObjectStore> m_bucket;
    std::shared_ptr<ObjectStore> m_trainer;
    std::optional<Publisher> m_publisher; ///< none while the trainer stands still
    std::int64_t m_head = 0; ///< newest step
    std::int64_t m_trained = 0; ///< number of the newest checkpoint
    std::int64_t m_liveUs = 0; ///< when the script began, without the time in which it stood still
    std::int64_t m_beganLiveUs = 0;
    int m_played = 0; ///< incidents so far
    bool m_flipNext = false;
    std::shared_mutex m_gate;
    std::array<TaskContext, Replicas> m_tasks;
    std::vector<std::unique_ptr<DemoReplica>> m_replicas;
    std::vector<std::jthread> m_threads; ///< last: they use everything above
};

Result<std::unique_ptr<FolderLock>> lockDemo(FileSystem& disk, const std::string& folder)
{
    Result<std::unique_ptr<FolderLock>> lock = disk.lock(folder);
    if (!lock && lock.error().code == Code::Exists)
        return fail(Code::Exists, "a demo runs in this folder already", folder,
                    "end it, or name another folder with --dir");
    return lock;
}

/// Errors: Exists, if something else is in the folder.
Result<void> expectDemo(const std::string& folder)
{
    std::error_code failed;
    const bool marked = fs::exists(fs::path(folder) / Mark, failed);
    if (!marked && fs::exists(folder, failed) && !fs::is_empty(folder, failed))
        return fail(Code::Exists, "the folder for the demo holds something else", folder,
                    "name a new or empty folder with --dir");
    return {};
}

}

Result<void> prepareDemoFolder(FileSystem& disk, const std::string& folder)
{
    std::error_code failed;
    DS_CHECK(expectDemo(folder));
    if (fs::create_directories(folder, failed); failed)
        return fail(Code::Io, failed.message(), folder);
    DS_TRY([[maybe_unused]] const std::unique_ptr<FolderLock> lock, lockDemo(disk, folder));
    for (const char* part : { "bucket", "trainer", "replicas" }) {
        fs::remove_all(fs::path(folder) / part, failed);
        if (fs::create_directories(fs::path(folder) / part, failed); failed)
            return fail(Code::Io, failed.message(), folder);
    }
    std::ofstream(fs::path(folder) / Mark)
        << "Made by deltascope demo; removed and made anew when a demo starts here.\n";
    return {};
}

Result<void> removeDemoFolder(FileSystem& disk, const std::string& folder)
{
    DS_CHECK(expectDemo(folder));
    if (!fs::exists(folder))
        return {};
    DS_TRY([[maybe_unused]] const std::unique_ptr<FolderLock> lock, lockDemo(disk, folder));
    std::error_code failed;
    if (fs::remove_all(folder, failed); failed)
        return fail(Code::Io, failed.message(), folder);
    return {};
}

Result<DemoView> runDemo(const DemoRequest& request, const std::string& folder,
                         const std::function<Workbench()>& makeBench, TaskContext& task)
{
    Workbench bench = makeBench();
    DS_TRY([[maybe_unused]] const std::unique_ptr<FolderLock> lock, lockDemo(*bench.disk, folder));
    return Demo(request, folder, makeBench).run(task);
}

} // namespace deltascope::app
