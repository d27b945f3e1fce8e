#include "deltascope/engine/parallel.h"
#include "deltascope/engine/path_state.h"

#include "replay_fixture.h"
#include "state/tensor_replay.h"
#include "support/backends.h"
#include "support/faulty_store.h"
#include "support/temp_dir.h"

#include <atomic>
#include <random>
#include <set>

// TensorReplay against a replay that is as simple as possible: whole tensors in memory, one version after another. The
// chains are made from random numbers and stored in the byte layouts of the trainers.

namespace deltascope {
namespace {

using namespace layout_test;
using namespace replay_test;
using test::FaultyStore;
using test::StoreOperation;
using test::TempDir;

Result<std::string> replayed(const PathState& path, const TensorInfo& tensor,
                             ReplayOptions options = { test::walkMeans() })
{
    TaskContext task;
    DS_TRY(TensorReplay replay, TensorReplay::open(path, tensor, std::move(options), task));
    std::string bytes;
    for (;;) {
        DS_TRY(const ByteSpan block, replay.next(task));
        if (block.empty())
            return bytes;
        bytes += asText(block);
    }
}

/// Keeps what it is told.
class Recorder final : public ReplayObserver {
public:
    void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts& counts) override
    {
        std::string& bytes = states[link];
        inOrder = inOrder && bytes.size() == begin;
        bytes += asText(state);
        sums[link] += counts;
    }
    std::map<std::size_t, std::string> states;
    std::map<std::size_t, PatchCounts> sums;
    bool inOrder = true;
};

/// Replays every tensor and compares it with the simple replay, with and without an observer.
void expectSound(History& history, const std::string& scratch)
{
    const auto path = history.path();
    ASSERT_TRUE(path) << path.error().text;
    ASSERT_EQ((*path)->tensors().size(), history.now().size());
    for (const TensorInfo& info : (*path)->tensors()) {
        const std::string& expected = history.now().at(info.name).data;
        ReplayOptions options { test::walkMeans(scratch) };
        const auto plain = replayed(**path, info, options);
        ASSERT_TRUE(plain) << info.name << ": " << plain.error().text;
        EXPECT_TRUE(*plain == expected) << info.name;
        Recorder recorder;
        options.observer = &recorder;
        const auto watched = replayed(**path, info, options);
        ASSERT_TRUE(watched) << info.name << ": " << watched.error().text;
        EXPECT_TRUE(*watched == expected) << info.name;
        EXPECT_TRUE(recorder.inOrder) << info.name;
        for (const auto& [link, state] : recorder.states) {
            const Model& truth = history.states()[link];
            EXPECT_TRUE(state == truth.at(info.name).data) << info.name << " behind link " << link;
            if (link == 0)
                continue;
            const std::uint64_t changed =
                countDifferent(*test::fastestBackend(), asBytes(history.states()[link - 1].at(info.name).data),
                               asBytes(state), info.dtype);
            EXPECT_EQ(recorder.sums[link].changed, changed) << info.name << " in link " << link;
        }
    }
}

/// Every width that TRL's format can carry, an empty tensor, a scalar and one of several blocks.
Model trlModel(std::mt19937_64& random)
{
    Model state;
    for (const TensorInfo& info :
         { tensor("bool", { 7 }, Dtype::Bool), tensor("fp8", { 33, 3 }, Dtype::F8E4M3), tensor("bf16", { 40, 50 }),
           tensor("f16", { 129 }, Dtype::F16), tensor("f32", { 64 }, Dtype::F32), tensor("i64", { 5, 5 }, Dtype::I64),
           tensor("f64", { 17 }, Dtype::F64), tensor("c64", { 9 }, Dtype::C64), tensor("empty", { 0, 3 }),
           tensor("scalar", {}, Dtype::F32), tensor("long", { 150'001 }), tensor("wide", { 40'000 }, Dtype::F64),
           tensor("gewicht.größe", { 11 }), tensor("", { 3 }) })
        state[info.name] = randomTensor(info, random);
    return state;
}

/// What slime's format can carry besides: elements that are no whole bytes.
Model slimeModel(std::mt19937_64& random)
{
    Model state;
    for (const TensorInfo& info :
         { tensor("f4", { 1000 }, Dtype::F4), tensor("f6", { 400'000 }, Dtype::F6E2M3),
           tensor("fp8", { 77 }, Dtype::F8E5M2), tensor("bf16", { 150'001 }), tensor("f32", { 10, 10 }, Dtype::F32),
           tensor("i64", { 3 }, Dtype::I64), tensor("empty", { 4, 0 }), tensor("scalar", {}, Dtype::BF16) })
        state[info.name] = randomTensor(info, random);
    return state;
}

TEST(TensorReplay, RandomTrlChainsEqualTheSimpleReplay)
{
    const TempDir scratch;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        History history("trl-v2");
        history.anchor(trlModel(random));
        const std::size_t versions = 2 + random() % 15;
        for (std::size_t i = 0; i < versions; ++i) {
            const std::uint64_t what = random() % 8;
            if (what == 0) {
                history.anchor(trlModel(random));
            } else if (what == 1) {
                Model some;
                for (const auto& [name, tensor] : history.now()) {
                    if (random() % 2 == 0)
                        some[name] = randomTensor(tensor.info, random);
                }
                if (some.empty())
                    some["bf16"] = randomTensor(history.now().at("bf16").info, random);
                history.anchor(some);
            } else {
                std::vector<Assignment> assignments;
                for (const auto& [name, tensor] : history.now()) {
                    if (random() % 3 != 0)
                        assignments.push_back(randomAssignment(tensor, random() % 60, random));
                }
                history.delta(assignments, what % 2 == 0);
            }
        }
        expectSound(history, scratch.path());
    }
}

TEST(TensorReplay, RandomSlimeChainsEqualTheSimpleReplay)
{
    const TempDir scratch;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        History history("slime-v2");
        history.base(slimeModel(random));
        const std::size_t versions = 1 + random() % 20; // more than streams may be open, sometimes
        for (std::size_t i = 0; i < versions; ++i) {
            Model next = history.now();
            for (auto& [name, tensor] : next) {
                for (std::uint64_t n = random() % 30; n > 0 && !tensor.data.empty(); --n)
                    tensor.data[random() % tensor.data.size()] ^= static_cast<char>(1U << (random() % 8));
            }
            history.slime(next, random() % 2 == 0);
        }
        expectSound(history, scratch.path());
    }
}

TEST(TensorReplay, ExactlyAsManyPatchesAsStreamsMayBeOpenNeedNoScratch)
{
    History history = longTrlChain(127); // and the anchor
    const auto path = history.path();
    ASSERT_TRUE(path);
    ReplayOptions options { test::walkMeans("/nonexistent") };
    const auto bytes = replayed(**path, (*path)->tensors()[0], options);
    ASSERT_TRUE(bytes) << bytes.error().text;
    EXPECT_TRUE(*bytes == history.now().at("w").data);
}

TEST(TensorReplay, MorePatchesThanStreamsMayBeOpenGoThroughScratchFiles)
{
    const TempDir scratch;
    for (const std::size_t links : { 128U, 129U, 256U, 300U }) {
        SCOPED_TRACE(links);
        History history = longTrlChain(links);
        expectSound(history, scratch.path());
    }
}

TEST(TensorReplay, MoreHeavyPatchesThanStreamsMayBeOpenGoThroughScratchFiles)
{
    const TempDir scratch;
    for (const std::size_t links : { 11U, 12U, 13U, 24U, 40U }) {
        SCOPED_TRACE(links);
        History history = longSlimeChain(links, tensor("w", { 150'001 }));
        expectSound(history, scratch.path());
    }
}

TEST(TensorReplay, LeavesNothingInTheScratchFolder)
{
    const TempDir scratch;
    History history = longTrlChain(300);
    expectSound(history, scratch.path());
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(TensorReplay, AScratchFolderThatIsNotThereIsAnError)
{
    History history = longTrlChain(200);
    const auto path = history.path();
    ASSERT_TRUE(path);
    ReplayOptions options { test::walkMeans("/nonexistent") };
    EXPECT_EQ(errorOf(replayed(**path, (*path)->tensors()[0], options)).code, Code::NotFound);
}

void expectSegments(History& history, std::uint64_t segment, const std::string& scratch)
{
    const auto path = history.path();
    ASSERT_TRUE(path) << path.error().text;
    const TensorInfo& info = (*path)->tensors()[0];
    const std::string& expected = history.now().at(info.name).data;
    ASSERT_GT(expected.size(), 2 * segment);
    for (const bool watched : { false, true }) {
        for (std::uint64_t begin = 0; begin < expected.size(); begin += segment) {
            Recorder recorder;
            ReplayOptions options { test::walkMeans(scratch) };
            options.observer = watched ? &recorder : nullptr;
            options.begin = begin;
            options.end = begin + segment;
            const auto bytes = replayed(**path, info, options);
            ASSERT_TRUE(bytes) << bytes.error().text;
            EXPECT_TRUE(*bytes == expected.substr(begin, segment)) << begin << (watched ? " watched" : "");
        }
    }
}

TEST(TensorReplaySegments, OfATrlTensorJoinToTheWhole)
{
    std::mt19937_64 random(1);
    History history("trl-v2");
    history.anchor({ { "w", randomTensor(tensor("w", { 1'300'007 }), random) } });
    for (int i = 0; i < 5; ++i)
        history.delta({ randomAssignment(history.now().at("w"), 500, random) }, i % 2 == 0);
    expectSegments(history, LeafBytes, {});
}

TEST(TensorReplaySegments, OfALongChainJoinToTheWhole)
{
    const TempDir scratch;
    std::mt19937_64 random(2);
    History history("trl-v2");
    history.anchor({ { "w", randomTensor(tensor("w", { 1'200'000 }), random) } });
    for (int i = 0; i < 140; ++i)
        history.delta({ randomAssignment(history.now().at("w"), 30, random) }, i % 2 == 0);
    expectSegments(history, LeafBytes, scratch.path());
}

TEST(TensorReplaySegments, OfCompressedPatchesJoinToTheWhole)
{
    const TempDir scratch;
    History history = longSlimeChain(15, tensor("w", { 1'200'000 }));
    expectSegments(history, LeafBytes, scratch.path());
}

TEST(TensorReplaySegments, OfElementsThatAreNoWholeBytesJoinToTheWhole)
{
    History history = longSlimeChain(3, tensor("w", { 9'000'000 }, Dtype::F6E3M2));
    expectSegments(history, 3 * LeafBytes, {});
}

TEST(TensorReplay, AnEmptyTensorIsOver)
{
    std::mt19937_64 random(1);
    History history("trl-v2");
    history.anchor({ { "none", randomTensor(tensor("none", { 0 }), random) } });
    history.delta({ Assignment { "none", {}, {} } }, true);
    const auto path = history.path();
    ASSERT_TRUE(path);
    EXPECT_EQ(*replayed(**path, (*path)->tensors()[0]), "");
}

TEST(TensorReplay, WithoutAnObserverNothingBeforeTheLastFullStateIsRead)
{
    std::mt19937_64 random(1);
    const TensorInfo info = tensor("w", { 100 });
    History history("trl-v2");
    history.anchor({ { "w", randomTensor(info, random) } });
    history.delta({ randomAssignment(history.now().at("w"), 5, random) }, false);
    history.anchor({ { "w", randomTensor(info, random) } });
    const auto faulty = std::make_shared<FaultyStore>(history.store());
    const auto path = history.path(faulty);
    ASSERT_TRUE(path);
    const std::uint64_t before = faulty->bytesRead();
    ASSERT_TRUE(replayed(**path, info));
    EXPECT_EQ(faulty->bytesRead() - before, info.bytes());
}

TEST(TensorReplay, AFullStateOfAnotherShapeStartsAnewAlsoWhenWatched)
{
    std::mt19937_64 random(1);
    History history("trl-v2");
    history.anchor({ { "w", randomTensor(tensor("w", { 100 }), random) } });
    history.delta({ randomAssignment(history.now().at("w"), 5, random) }, false);
    history.anchor({ { "w", randomTensor(tensor("w", { 64 }, Dtype::F32), random) } });
    history.delta({ randomAssignment(history.now().at("w"), 5, random) }, false);
    const auto path = history.path();
    ASSERT_TRUE(path);
    ASSERT_EQ((*path)->tensors()[0].dtype, Dtype::F32);
    Recorder recorder;
    ReplayOptions options { test::walkMeans() };
    options.observer = &recorder;
    const auto bytes = replayed(**path, (*path)->tensors()[0], options);
    ASSERT_TRUE(bytes) << bytes.error().text;
    EXPECT_TRUE(*bytes == history.now().at("w").data);
}

// --- errors ----------------------------------------------------------------------------------------------------------

/// A sound chain of three steps whose third is replaced by `file`.
History withThirdStep(const std::string& file)
{
    std::mt19937_64 random(3);
    History history("trl-v2");
    history.anchor({ { "w", randomTensor(tensor("w", { 100 }), random) } });
    for (int i = 0; i < 3; ++i)
        history.delta({ randomAssignment(history.now().at("w"), 5, random) }, false);
    history.put("deltas/step_000003.safetensors", file);
    return history;
}

std::string trlFile(const std::vector<FileTensor>& tensors)
{
    return safetensorsFile(tensors,
                           { { "format", "sparse_weight_patch" }, { "sparse", "True" }, { "encoding", "raw" } });
}

TEST(TensorReplayErrors, APositionBehindTheEndNamesStepObjectAndTensor)
{
    History history = withThirdStep(trlFile(
        { { tensor("w.idx", { 1 }, Dtype::I32), packed<std::uint32_t>({ 100 }) }, { tensor("w.val", { 1 }), "ab" } }));
    const auto path = history.path();
    ASSERT_TRUE(path);
    const Error error = errorOf(replayed(**path, (*path)->tensors()[0]));
    EXPECT_EQ(error.code, Code::Malformed);
    EXPECT_EQ(error.step, 3);
    EXPECT_EQ(error.where, "deltas/step_000003.safetensors");
    EXPECT_NE(error.text.find("w"), std::string::npos);
}

TEST(TensorReplayErrors, ValuesOfAnotherTypeNameTheStep)
{
    History history = withThirdStep(trlFile({ { tensor("w.idx", { 1 }, Dtype::I32), packed<std::uint32_t>({ 1 }) },
                                              { tensor("w.val", { 1 }, Dtype::F32), "abcd" } }));
    const auto path = history.path();
    ASSERT_TRUE(path);
    const Error error = errorOf(replayed(**path, (*path)->tensors()[0]));
    EXPECT_EQ(error.code, Code::BaseMismatch);
    EXPECT_EQ(error.step, 3);
}

TEST(TensorReplayErrors, ATensorThatNoStateHoldsIsABaseMismatchOfItsStep)
{
    History history = withThirdStep(trlFile({ { tensor("other.idx", { 1 }, Dtype::I32), packed<std::uint32_t>({ 1 }) },
                                              { tensor("other.val", { 1 }), "ab" } }));
    const Error error = errorOf(history.path());
    EXPECT_EQ(error.code, Code::BaseMismatch);
    EXPECT_EQ(error.step, 3);
    EXPECT_NE(error.text.find("other"), std::string::npos);
}

TEST(TensorReplayErrors, ABrokenHeaderNamesItsStep)
{
    History history = withThirdStep("too short");
    const Error error = errorOf(history.path());
    EXPECT_EQ(error.step, 3);
    EXPECT_EQ(error.where, "deltas/step_000003.safetensors");
}

TEST(TensorReplayErrors, AReadThatFailsNamesItsStep)
{
    History history = withThirdStep("unused");
    std::mt19937_64 random(4);
    history = History("trl-v2");
    history.anchor({ { "w", randomTensor(tensor("w", { 100 }), random) } });
    for (int i = 0; i < 3; ++i)
        history.delta({ randomAssignment(history.now().at("w"), 5, random) }, false);
    const auto faulty = std::make_shared<FaultyStore>(history.store());
    std::set<std::int64_t> named;
    for (std::uint64_t nth = 1;; ++nth) {
        const auto path = history.path(faulty);
        ASSERT_TRUE(path);
        faulty->failNth(StoreOperation::Read, nth, Error { Code::Io, "read: I/O error", {}, {}, {} });
        const auto bytes = replayed(**path, (*path)->tensors()[0]);
        faulty->clearFaults();
        if (bytes) {
            EXPECT_GT(nth, 4U);
            break;
        }
        EXPECT_EQ(bytes.error().code, Code::Io);
        ASSERT_TRUE(bytes.error().step) << nth;
        named.insert(*bytes.error().step);
    }
    EXPECT_EQ(named, (std::set<std::int64_t> { 1, 2, 3, 4 }));
}

TEST(TensorReplayErrors, ADamagedPatchInAStretchBeforeTheLastNamesItsStep)
{
    const TempDir scratch;
    History history = longTrlChain(200);
    history.put("deltas/step_000050.safetensors",
                trlFile({ { tensor("w.idx", { 1 }, Dtype::I32), packed<std::uint32_t>({ 4'000'000 }) },
                          { tensor("w.val", { 1 }), "ab" } }));
    const auto path = history.path();
    ASSERT_TRUE(path);
    ReplayOptions options { test::walkMeans(scratch.path()) };
    const Error error = errorOf(replayed(**path, (*path)->tensors()[0], options));
    EXPECT_EQ(error.code, Code::Malformed);
    EXPECT_EQ(error.step, 50);
}

TEST(TensorReplayErrors, LeftOverPositionsAreFoundAtTheEnd)
{
    // ascending and in range in the file, but behind the end of the tensor: 3 elements, position 99
    std::mt19937_64 random(1);
    History history("trl-v2");
    history.anchor({ { "w", randomTensor(tensor("w", { 3 }), random) } });
    history.delta({ randomAssignment(history.now().at("w"), 1, random) }, false);
    history.put("deltas/step_000002.safetensors",
                trlFile({ { tensor("w.idx", { 2 }, Dtype::I32), packed<std::uint32_t>({ 0, 99 }) },
                          { tensor("w.val", { 2 }), "abcd" } }));
    const auto path = history.path();
    ASSERT_TRUE(path);
    EXPECT_EQ(errorOf(replayed(**path, (*path)->tensors()[0])).code, Code::Malformed);
}

TEST(TensorReplayErrors, AnUnknownTensorIsABaseMismatch)
{
    History history = longTrlChain(1);
    const auto path = history.path();
    ASSERT_TRUE(path);
    EXPECT_EQ(errorOf(replayed(**path, tensor("nobody"))).code, Code::BaseMismatch);
}

TEST(TensorReplayErrors, AStoppedTaskIsCanceled)
{
    History history = longTrlChain(2);
    const auto path = history.path();
    ASSERT_TRUE(path);
    TaskContext task;
    auto replay = TensorReplay::open(**path, (*path)->tensors()[0], { test::walkMeans() }, task);
    ASSERT_TRUE(replay);
    ASSERT_TRUE(replay->next(task));
    task.requestStop();
    EXPECT_EQ(errorOf(replay->next(task)).code, Code::Canceled);
}

// --- chains ----------------------------------------------------------------------------------------------------------

TEST(PathState, HoldsEveryTensorOfTheStateByName)
{
    std::mt19937_64 random(1);
    History history("trl-v2");
    history.anchor(
        { { "b", randomTensor(tensor("b", { 2 }), random) }, { "a", randomTensor(tensor("a", { 3 }), random) } });
    history.anchor({ { "c", randomTensor(tensor("c", { 5 }), random) } });
    const auto path = history.path();
    ASSERT_TRUE(path);
    ASSERT_EQ((*path)->tensors().size(), 3U);
    EXPECT_EQ((*path)->tensors()[0].name, "a");
    EXPECT_EQ((*path)->tensors()[2].name, "c");
    EXPECT_EQ((*path)->stateBytes(), 20U);
    EXPECT_NE((*path)->find("b"), nullptr);
    EXPECT_EQ((*path)->find("bb"), nullptr);
}

TEST(PathState, KnowsWhichLinkIsAnExternalBase)
{
    History history = longSlimeChain(2, tensor("w", { 10 }));
    const auto path = history.path();
    ASSERT_TRUE(path);
    EXPECT_TRUE((*path)->onExternalBase());
    EXPECT_FALSE((*path)->versionOf(0));
    EXPECT_EQ((*path)->versionOf(2), 1U);
}

// --- parallel work ---------------------------------------------------------------------------------------------------

TEST(ForEachParallel, DoesEachPieceOnce)
{
    for (const unsigned threads : { 1U, 2U, 7U }) {
        std::vector<std::atomic<int>> done(100);
        TaskContext task;
        ASSERT_TRUE(forEachParallel(threads, done.size(), task, [&](std::size_t i) -> Result<void> {
            ++done[i];
            return {};
        }));
        EXPECT_TRUE(std::all_of(done.begin(), done.end(), [](const auto& count) { return count == 1; })) << threads;
    }
}

TEST(ForEachParallel, NothingToDoIsNoError)
{
    TaskContext task;
    EXPECT_TRUE(
        forEachParallel(4, 0, task, [](std::size_t) -> Result<void> { return fail(Code::Internal, "called"); }));
}

TEST(ForEachParallel, AnErrorStopsTheRestAndIsReturned)
{
    TaskContext task;
    std::atomic<std::size_t> calls = 0;
    const auto outcome = forEachParallel(2, 100'000, task, [&](std::size_t i) -> Result<void> {
        ++calls;
        return i == 3 ? Result<void>(fail(Code::Io, "the fourth")) : Result<void>();
    });
    EXPECT_EQ(errorOf(outcome).text, "the fourth");
    EXPECT_LT(calls, 100'000U);
}

TEST(ForEachParallel, AStoppedTaskDoesNothingMore)
{
    TaskContext task;
    task.requestStop();
    std::atomic<int> calls = 0;
    const auto outcome = forEachParallel(2, 100, task, [&](std::size_t) -> Result<void> {
        ++calls;
        return task.checkpoint();
    });
    EXPECT_EQ(errorOf(outcome).code, Code::Canceled);
    EXPECT_LE(calls, 2);
}

} // namespace
} // namespace deltascope
