#include "golden_copy.h"
#include "publish_fixture.h"
#include "replay_fixture.h"
#include "run_steps.h"
#include "state/tensor_replay.h"
#include "support/device.h"
#include "support/fake_driver.h"
#include "support/faulty_store.h"
#include "support/sanitizer.h"
#include "support/slice.h"
#include "support/test_name.h"

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

// What the device does for publish, replay, verify and diff has the bits of the scalar backend.

namespace deltascope {
namespace {

using namespace layout_test;

/// A trainer whose model takes more than two slots of a device.
struct LargeModel : Publishing {
    LargeModel(const std::string& layout, const std::string& backend)
        : Publishing(layout)
    {
        bench.backends = Backends::builtin().with(device);
        bench.forcedBackend = backend;
        bench.threads = 2;
        if (base.base) {
            EXPECT_TRUE(putText(*base.base, "model.safetensors", file(0)));
        }
        for (std::int64_t step = 1; step <= Steps; ++step)
            EXPECT_TRUE(putText(*checkpoints, keyOf(step), file(step)));
    }

    static constexpr std::int64_t Steps = 5;
    static constexpr std::size_t Elements = std::size_t { 5 } << 20;

    /// Every step changes one element in about a thousand, some of them again.
    static std::string file(std::int64_t step)
    {
        static const std::string first = noise(Elements * 2, 7);
        std::string bytes = first;
        for (std::int64_t now = 1; now <= step; ++now) {
            for (std::size_t at = static_cast<std::size_t>(now % 3); at < Elements; at += 997)
                bytes[at * 2] = static_cast<char>(bytes[at * 2] ^ (1 + now));
        }
        return safetensorsFile({ { tensor("a", { Elements / 1024, 1024 }), std::move(bytes) },
                                 { tensor("b", { 300 }), noise(600, step) } });
    }

    /// Each run has an id of its own, which does not count.
    std::map<std::string, std::string> objects()
    {
        const std::string id = factOf(1, fact::Run);
        std::map<std::string, std::string> all;
        for (const std::string& key : keys()) {
            std::string& bytes = all[key] = readObject(*run, key);
            for (auto at = bytes.find(id); at != std::string::npos; at = bytes.find(id))
                bytes.erase(at, id.size());
        }
        return all;
    }
    /// Changes a digit of a digest that the publisher recorded of a step, wherever it is recorded.
    void damageDigest(std::int64_t step)
    {
        const VersionIndex index = indexOf(step);
        const bool ofTensor = !index.tensors.front().digest.empty();
        const std::string digest(ofTensor ? index.tensors.front().digest.view() : index.fact(fact::Root));
        ASSERT_FALSE(digest.empty());
        std::size_t found = 0;
        for (const std::string& key : keys()) {
            std::string bytes = readObject(*run, key);
            const auto at = bytes.find(digest);
            if (at == std::string::npos)
                continue;
            bytes[at] = bytes[at] == '0' ? '1' : '0';
            EXPECT_TRUE(putText(*run, key, bytes));
            ++found;
        }
        EXPECT_GT(found, 0U);
    }
    DiffReport diff(std::int64_t from, std::int64_t to)
    {
        const Run now = view();
        const auto a = pathOf(now, from);
        const auto b = pathOf(now, to);
        EXPECT_TRUE(a && b);
        const auto report = diffStates(bench, **a, **b, std::nullopt, task);
        EXPECT_TRUE(report) << report.error().text;
        return report.value_or(DiffReport());
    }

    std::shared_ptr<const DeviceBackend> device = test::deviceBackend();
};

class DevicePipeline : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { test::plan({}); }
    void TearDown() override { test::plan({}); }
};

INSTANTIATE_TEST_SUITE_P(Layouts, DevicePipeline, testing::Values("trl-v2", "slime-v2"),
                         [](const auto& info) { return std::string(info.param, 3); });

TEST_P(DevicePipeline, PublishesReplaysAndComparesWithTheBitsOfTheProcessor)
{
    LargeModel expected(GetParam(), "scalar");
    LargeModel model(GetParam(), "cuda");
    expected.publishAll(1, LargeModel::Steps);
    model.publishAll(1, LargeModel::Steps);
    EXPECT_TRUE(model.objects() == expected.objects());
    EXPECT_GT(model.device->share()->byDevice, 3 * LargeModel::Elements * 2);

    const std::uint64_t published = model.device->share()->byDevice;
    EXPECT_EQ(*model.rootOfStep(LargeModel::Steps), model.rootOfCheckpoint(LargeModel::Steps));
    EXPECT_GE(model.device->share()->byDevice - published, LargeModel::Elements * 2);

    const DiffReport diff = model.diff(2, 5);
    const DiffReport same = expected.diff(2, 5);
    EXPECT_EQ(diff.elementsDifferent(), same.elementsDifferent());
    EXPECT_EQ(diff.relativeNorm, same.relativeNorm);
    ASSERT_EQ(diff.tensors.size(), same.tensors.size());
    ASSERT_FALSE(diff.tensors.empty());
    EXPECT_EQ(diff.tensors[0].maxUlp, same.tensors[0].maxUlp);
    EXPECT_EQ(diff.tensors[0].maxAbs, same.tensors[0].maxAbs);
    EXPECT_TRUE(model.device->notices().empty());
    EXPECT_FALSE(expected.device->share()) << "nobody asked for it";
}

// --- what looks on ---------------------------------------------------------------------------------------------------

/// Keeps what it is shown, in order, as text.
class ShownLog final : public ReplayObserver {
public:
    void onPiece(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchPiece& piece) override
    {
        std::string text =
            fmt::format("piece of {} at {} on {}, kind {}", link, begin, toHex(xxh3(state)), piece.index());
        const auto add = [&](ByteSpan bytes) { text += fmt::format(" {} {}", bytes.size(), toHex(xxh3(bytes))); };
        std::visit(
            [&](const auto& one) {
                if constexpr (requires { one.elements; })
                    add(std::as_bytes(one.elements));
                if constexpr (requires { one.positions; })
                    add(std::as_bytes(one.positions));
                if constexpr (requires { one.bits; })
                    add(one.bits);
                if constexpr (requires { one.values; })
                    add(one.values);
                if constexpr (requires { one.bytes; })
                    add(one.bytes);
            },
            piece);
        lines.push_back(std::move(text));
    }
    void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts& counts) override
    {
        lines.push_back(fmt::format("block of {} at {}: {} of {}, {} {} {} {} {} {}", link, begin, toHex(xxh3(state)),
                                    state.size(), counts.assigned, counts.noops, counts.nanNoops, counts.changed,
                                    counts.zeroSigns, counts.sameLowByte));
    }

    std::vector<std::string> lines;
};

/// The whole of a tensor.
constexpr std::pair<std::uint64_t, std::uint64_t> AllBytes { 0, UINT64_MAX };

/// A replay of the only tensor of a chain: what an observer was shown, and how it ended.
struct ShownReplay {
    ShownReplay(const PathState& path, std::shared_ptr<const Backend> backend, const std::string& scratch,
                std::pair<std::uint64_t, std::uint64_t> slice = AllBytes)
    {
        ReplayOptions options { WalkMeans(1, scratch, std::move(backend)) };
        options.observer = &log;
        std::tie(options.begin, options.end) = slice;
        TaskContext task;
        auto replay = TensorReplay::open(path, path.tensors()[0], std::move(options), task);
        Result<ByteSpan> block = replay ? replay->next(task) : fail(replay.error());
        for (; block && !block->empty(); block = replay->next(task))
            blocks.push_back(xxh3(*block));
        if (!block)
            error = block.error();
    }
    bool operator==(const ShownReplay& other) const
    {
        return log.lines == other.log.lines && blocks == other.blocks && error == other.error;
    }

    ShownLog log;
    std::vector<Digest128> blocks;
    std::optional<Error> error;
};

/// Lets calls of the driver fail while a device is used, each `stride`-th beginning where the slice says, and expects a
/// notice of it and nothing else.
void failCalls(std::size_t stride, const std::function<void(const std::shared_ptr<const DeviceBackend>&)>& work)
{
    std::vector<std::size_t> trials { 0 };
    std::size_t failed = 0;
    for (std::size_t trial = 0; trial < trials.size(); ++trial) {
        const std::uint64_t call = trials[trial];
        test::FakeDriverPlan plan;
        plan.failAtCall = call; // 0: none, and the calls are counted
        plan.failWith = call % 3 == 0 ? cuda::OutOfMemory : 700;
        test::plan(plan);
        const test::FakeDriverCounts before = test::counts();
        {
            const auto device = test::deviceBackend();
            if (!device->isSupportedHere())
                continue;
            work(device);
            SCOPED_TRACE(testing::Message() << "call " << call << " " << test::counts().failed);
            const std::size_t notices = device->notices().size();
            if (call == 0) {
                for (const std::size_t other : test::chosenTrials(test::counts().calls, stride))
                    trials.push_back(other + 1);
            }
            const bool hasFailed = !test::counts().failed.empty(); // threads may make fewer calls this time
            EXPECT_LE(notices, hasFailed ? 1U : 0U);
            EXPECT_GE(notices, hasFailed && plan.failWith != cuda::OutOfMemory ? 1U : 0U);
            failed += notices;
        }
        EXPECT_EQ(test::counts().buffers, before.buffers);
        EXPECT_EQ(test::counts().streams, before.streams);
    }
    EXPECT_GT(failed, 0U);
}

class WatchedReplay : public testing::Test {
protected:
    void SetUp() override { test::plan({}); }
    void TearDown() override { test::plan({}); }

    /// What the device did of it; the processor's backend is the scalar one.
    DeviceShare expectSame(replay_test::History& history, std::pair<std::uint64_t, std::uint64_t> slice = AllBytes)
    {
        const auto path = history.path();
        EXPECT_TRUE(path);
        const ShownReplay expected(**path, m_scalar, m_scratch.path(), slice);
        const auto device = test::deviceBackend();
        EXPECT_TRUE(ShownReplay(**path, device, m_scratch.path(), slice) == expected);
        EXPECT_FALSE(expected.log.lines.empty());
        return device->share().value_or(DeviceShare());
    }

    std::shared_ptr<const Backend> m_scalar = Backends::builtin().all().front();
    test::TempDir m_scratch;
};

constexpr std::uint64_t ChainBytes = 2 * 150'001; ///< of the tensor of a chain below: three blocks

TEST_F(WatchedReplay, ShowsWhatTheProcessorShowsInItsOrder)
{
    replay_test::History trl = replay_test::longTrlChain(10);
    DeviceShare share = expectSame(trl);
    EXPECT_EQ(share.byDevice, ChainBytes);
    EXPECT_EQ(share.byProcessor, 0U);
    std::mt19937_64 random(1);
    trl.anchor({ { "w", replay_test::randomTensor(trl.now().at("w").info, random) } });
    trl.delta({ replay_test::randomAssignment(trl.now().at("w"), 20, random) }, true);
    EXPECT_EQ(expectSame(trl).byDevice, ChainBytes) << "an anchor on the way";
    EXPECT_EQ(expectSame(trl, { 128 * 1024, 256 * 1024 }).byDevice, 128U * 1024);

    // Every third delta overwrites bytes.
    replay_test::History slime = replay_test::longSlimeChain(10, tensor("w", { 150'001 }));
    share = expectSame(slime);
    EXPECT_EQ(share.byDevice, ChainBytes);
    EXPECT_EQ(share.byProcessor, 0U);

    // A xor mask of many elements: pieces of whole blocks.
    replay_test::History dense("slime-v2");
    dense.base({ { "w", replay_test::randomTensor(tensor("w", { 150'001 }), random) } });
    for (int i = 0; i < 4; ++i)
        dense.slime({ { "w", replay_test::randomTensor(tensor("w", { 150'001 }), random) } }, false);
    EXPECT_EQ(expectSame(dense).byDevice, ChainBytes);
}

/// The first stretch is the processor's; of the second one a slot holds the states of the last block, which is short.
TEST_F(WatchedReplay, OfAStretchBehindAnotherShowsTheSame)
{
    replay_test::History history = replay_test::longTrlChain(128 + 72);
    const DeviceShare share = expectSame(history);
    EXPECT_EQ(share.byDevice, ChainBytes - 2 * 128 * 1024);
    EXPECT_EQ(share.byProcessor, 2U * 128 * 1024);
}

TEST_F(WatchedReplay, EndsInTheSameErrorBehindTheSameBlocks)
{
    replay_test::History history = replay_test::longTrlChain(5);
    history.put("deltas/step_000004.safetensors",
                safetensorsFile({ { tensor("w.idx", { 3 }, Dtype::I32),
                                    replay_test::packed<std::uint32_t>({ 1, 70'000, 4'000'000 }) },
                                  { tensor("w.val", { 3 }), "abcdef" } },
                                { { "format", "sparse_weight_patch" }, { "sparse", "True" }, { "encoding", "raw" } }));
    expectSame(history);
    EXPECT_TRUE(ShownReplay(**history.path(), m_scalar, {}).error);

    history = replay_test::longTrlChain(5);
    const auto faulty = std::make_shared<test::FaultyStore>(history.store());
    const auto path = history.path(faulty);
    ASSERT_TRUE(path);
    std::size_t failed = 0;
    for (std::uint64_t nth = 1;; ++nth) {
        const auto shown = [&](std::shared_ptr<const Backend> backend) {
            faulty->clearFaults();
            faulty->failNth(test::StoreOperation::Read, nth, Error { Code::Io, "read: I/O error", {}, {}, {} });
            return ShownReplay(**path, std::move(backend), {});
        };
        const ShownReplay expected = shown(m_scalar);
        EXPECT_TRUE(shown(test::deviceBackend()) == expected) << nth;
        if (!expected.error)
            break;
        failed += expected.log.lines.empty() ? 0 : 1;
    }
    EXPECT_GT(failed, 0U) << "behind the first block";
}

TEST_F(WatchedReplay, ShowsTheSameWhicheverCallOfTheDriverFails)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    replay_test::History history = replay_test::longTrlChain(20); // a slot holds one block of it
    const auto path = history.path();
    ASSERT_TRUE(path);
    const ShownReplay expected(**path, m_scalar, {});
    failCalls(test::UnderSanitizer ? 8 : 1, [&](const std::shared_ptr<const DeviceBackend>& device) {
        EXPECT_TRUE(ShownReplay(**path, device, {}) == expected);
    });
}

TEST_F(WatchedReplay, AStoppedTaskIsCanceled)
{
    replay_test::History history = replay_test::longTrlChain(2);
    const auto path = history.path();
    ASSERT_TRUE(path);
    ShownLog log;
    ReplayOptions options { WalkMeans(1, {}, test::deviceBackend()) };
    options.observer = &log;
    TaskContext task;
    auto replay = TensorReplay::open(**path, (*path)->tensors()[0], std::move(options), task);
    ASSERT_TRUE(replay);
    ASSERT_TRUE(replay->next(task)); // all that follows has been read
    task.requestStop();
    const Result<ByteSpan> stopped = replay->next(task);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, Code::Canceled);
}

// --- verify ----------------------------------------------------------------------------------------------------------

/// What a verification says of a step, and what the replay has shown of it.
struct StepSeen {
    std::string word;
    std::uint32_t digestsChecked = 0;
    std::optional<Coverage> coverage;
    std::string root;
    std::vector<Error> problems;
    std::optional<StepVerdict::Health> health;
    std::vector<std::uint64_t> counts;
    std::vector<SuspectTensor> suspects;
    std::vector<std::string> digests; ///< the first that failed
    bool operator==(const StepSeen&) const = default;
};

struct Verified {
    std::vector<StepSeen> steps;
    std::vector<Error> problems;
    std::optional<Error> error;
    std::vector<std::string> roots; ///< of digestState(), by step; or why there is none
    bool operator==(const Verified&) const = default;

    const StepSeen* firstDamaged() const
    {
        const auto at =
            std::find_if(steps.begin(), steps.end(), [](const StepSeen& step) { return step.word == "damaged"; });
        return at == steps.end() ? nullptr : &*at;
    }
};

StepSeen seen(const deltascope::Run& run, const StepVerdict& step)
{
    StepSeen out { std::string(word(step.verdict)),
                   step.digestsChecked,
                   step.coverage,
                   step.root,
                   step.problems,
                   step.health,
                   {},
                   {},
                   {} };
    if (const std::optional<VersionFacts>& facts = run.versions[step.version].facts) {
        out.counts = { facts->changedElements, facts->changedVsPrevious.value_or(UINT64_MAX),
                       facts->zeroSigns,       facts->sameLowByte,
                       facts->assigned,        facts->noops,
                       facts->digestsFailed };
        out.suspects = facts->suspectTensors;
        out.digests = { facts->firstFailedTensor, facts->expectedDigest, facts->actualDigest, facts->actualRoot };
    }
    return out;
}

/// `rootOf`: also the root of this step.
Verified verified(const Backends& backends, const std::string& backend, std::shared_ptr<ObjectStore> store,
                  std::shared_ptr<ObjectStore> base, int level, std::optional<std::int64_t> rootOf = {})
{
    Session session;
    session.bench.threads = 1; // calls of a driver come in one order
    session.bench.backends = backends;
    session.bench.forcedBackend = backend;
    Verified out;
    auto run = session.open(std::move(store), std::move(base));
    EXPECT_TRUE(run) << run.error().text;
    VerifyOptions options;
    options.level = level;
    const auto report = verifyRun(session.bench, *run, options, session.task);
    if (!report) {
        out.error = report.error();
        return out;
    }
    out.problems = report->problems;
    for (const StepVerdict& step : report->steps)
        out.steps.push_back(seen(*run, step));
    for (const Version& version : run->versions) {
        if (rootOf && *rootOf != version.step())
            continue;
        const auto digest = [&]() -> Result<std::string> {
            DS_TRY(const Plan plan, planFor(*run, version));
            DS_TRY(const PathPtr path, openPath(*run, plan, { 1 }, session.task));
            DS_TRY(const CheckpointDigest made, digestState(session.bench, *path, session.task));
            return toHex(made.root.fast);
        }();
        out.roots.push_back(digest ? *digest : digest.error().text);
    }
    return out;
}

struct GoldenVerify {
    const char* bucket;
    bool isDamaged;
};

class DeviceVerify : public testing::TestWithParam<GoldenVerify> {
protected:
    void SetUp() override { test::plan({}); }
    void TearDown() override { test::plan({}); }
};

INSTANTIATE_TEST_SUITE_P(
    Buckets, DeviceVerify,
    testing::Values(GoldenVerify { "slime-v2-xor", false }, GoldenVerify { "slime-v2-overwrite", false },
                    GoldenVerify { "trl-v2-gap", false }, GoldenVerify { "slime-v1-indices", false },
                    GoldenVerify { "trl-v1.0", false }, GoldenVerify { "grail", false },
                    GoldenVerify { "slime-v2-badchecksum", true }, GoldenVerify { "trl-v1.0-badhash", true },
                    GoldenVerify { "grail-badhash", true }, GoldenVerify { "trl-v2-truncated", true }),
    [](const auto& info) { return test::testName(info.param.bucket); });

TEST_P(DeviceVerify, SaysWhatTheProcessorSays)
{
    const GoldenCopy golden(GetParam().bucket);
    for (const int level : { 2, 3, 4 }) {
        SCOPED_TRACE(level);
        const auto device = test::deviceBackend();
        const Backends backends = Backends::builtin().with(device);
        const Verified expected = verified(backends, "scalar", golden.store, golden.base, level);
        EXPECT_FALSE(device->share());
        EXPECT_FALSE(expected.steps.empty());
        EXPECT_TRUE(verified(backends, "cuda", golden.store, golden.base, level) == expected);
        EXPECT_TRUE(device->notices().empty());
        if (level >= 3) {
            EXPECT_EQ(expected.firstDamaged() != nullptr, GetParam().isDamaged);
            EXPECT_TRUE(GetParam().isDamaged || device->share()->byDevice > 0);
        }
    }
}

TEST_P(DeviceVerify, SaysTheSameWhereACallOfTheDriverFails)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    const GoldenCopy golden(GetParam().bucket);
    const Verified expected = verified(Backends::builtin(), "scalar", golden.store, golden.base, 3, 3);
    failCalls(test::UnderSanitizer ? 97 : 23, [&](const std::shared_ptr<const DeviceBackend>& device) {
        EXPECT_TRUE(verified(Backends::builtin().with(device), "cuda", golden.store, golden.base, 3, 3) == expected);
    });
}

TEST_P(DevicePipeline, VerifiesWithTheWordsOfTheProcessor)
{
    LargeModel model(GetParam(), "scalar");
    model.publishAll(1, LargeModel::Steps);
    const Backends backends = Backends::builtin().with(model.device);
    const auto base = model.base.base;
    for (const bool isDamaged : { false, true }) {
        SCOPED_TRACE(isDamaged);
        if (isDamaged)
            model.damageDigest(3);
        const std::uint64_t before = isDamaged ? model.device->share()->byDevice : 0;
        const Verified expected = verified(backends, "scalar", model.run, base, 3, LargeModel::Steps);
        EXPECT_TRUE(verified(backends, "cuda", model.run, base, 3, LargeModel::Steps) == expected);
        EXPECT_GE(model.device->share()->byDevice - before, LargeModel::Elements * 2);
        ASSERT_EQ(expected.steps.size(), static_cast<std::size_t>(LargeModel::Steps));
        EXPECT_EQ(expected.firstDamaged() == &expected.steps[2], isDamaged);
    }
}

/// Whichever call of the driver fails, the objects are the same. A slice tries three of them, two under TSan.
TEST_P(DevicePipeline, ADeviceThatFailsOnTheWayChangesNothing)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    LargeModel expected(GetParam(), "scalar");
    expected.publishAll(1, 2);
    const auto objects = expected.objects();
    std::size_t failures = 0;
    const auto publishFailing = [&](std::uint64_t call) -> std::uint64_t {
        test::FakeDriverPlan plan;
        plan.failAtCall = call; // 0: none, and the calls are counted
        plan.failWith = 700;
        test::plan(plan);
        LargeModel model(GetParam(), "cuda");
        if (!model.device->isSupportedHere())
            return 0;
        model.publishAll(1, 2);
        EXPECT_TRUE(model.objects() == objects) << call;
        EXPECT_EQ(*model.rootOfStep(2), model.rootOfCheckpoint(2)) << call;
        // Threads share the work in another way each time, so that the last calls may not be made again.
        const bool hasFailed = !test::counts().failed.empty();
        EXPECT_EQ(model.device->notices().size(), hasFailed ? 1U : 0U) << call;
        failures += hasFailed ? 1 : 0;
        return test::counts().calls;
    };
    const auto calls = static_cast<std::size_t>(publishFailing(0));
    ASSERT_GT(calls, 100U);
    for (const std::size_t call : test::chosenTrials(calls, calls / (test::UnderThreadSanitizer ? 2 : 3)))
        publishFailing(call + 1);
    EXPECT_GT(failures, 0U);
}

} // namespace
} // namespace deltascope
