#include "deltascope/engine/walk.h"

#include "golden_copy.h"
#include "state/rounded_state.h"
#include "state_fixture.h"
#include "support/backends.h"

#include "deltascope/engine/publish_step.h"

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

// Walks over states: every block of every slice once, two states side by side, and what is compared on the way.

namespace deltascope {
namespace {

using namespace layout_test;

std::string noiseOf(std::uint64_t bytes, unsigned seed)
{
    std::string data(bytes, '\0');
    for (char& byte : data) {
        seed = seed * 1664525U + 1013904223U;
        byte = static_cast<char>(seed >> 24);
    }
    return data;
}

/// The bytes that a walk shows of each of its slices.
std::vector<std::string> bytesOf(StateWalk& walk, unsigned threads)
{
    TaskContext task;
    std::vector<std::string> shown(walk.size());
    const auto copy = [&](std::size_t slice, SliceReader& reader) {
        return forEachBlock(reader, task, [&](ByteSpan block) { shown[slice] += asText(block); });
    };
    const auto outcome = walkTensors(walk, threads, task, copy);
    EXPECT_TRUE(outcome) << outcome.error().text;
    return shown;
}

TEST(Walk, ShowsEveryElementOfItsSlicesOnce)
{
    const std::string wide = noiseOf(3 * 128 * 1024 + 40, 1);
    const std::string narrow = noiseOf(130, 2);
    const FileState state = stateOf({ { tensor("narrow", { 65 }), narrow },
                                      { tensor("none", { 0 }), "" },
                                      { tensor("wide", { wide.size() / 4 }, Dtype::F32), wide } });
    constexpr std::uint64_t Block = 128 * 1024 / 4;
    const std::vector<TensorSlice> slices = {
        { 2, Block, 2 * Block }, { 0 }, { 1 }, { 2, 3 * Block }, { 2, 0, Block + 1 }
    };
    for (const unsigned threads : { InOrder, 1U, 3U }) {
        const auto walk = state.walk(slices, { test::walkMeans() });
        ASSERT_TRUE(walk);
        EXPECT_EQ((*walk)->tensor(0).name, "wide");
        const std::vector<std::string> expected = { wide.substr(4 * Block, 4 * Block), narrow, "",
                                                    wide.substr(12 * Block), wide.substr(0, 4 * (Block + 1)) };
        EXPECT_EQ(bytesOf(**walk, threads), expected) << threads;
    }
}

TEST(Walk, InOrderIsOneSliceAfterAnother)
{
    TaskContext task;
    const FileState state =
        stateOf({ { tensor("a", { 1 }), "12" }, { tensor("b", { 2 }), "3456" }, { tensor("c", { 1 }), "78" } });
    const auto walk = state.walk(largestFirst(state), { test::walkMeans() });
    ASSERT_TRUE(walk);
    std::string names;
    const auto note = [&](std::size_t slice, SliceReader& reader) {
        names += (*walk)->tensor(slice).name;
        return forEachBlock(reader, task, [](ByteSpan) {});
    };
    EXPECT_TRUE(walkTensors(**walk, InOrder, task, note));
    EXPECT_EQ(names, "bac");
}

TEST(Walk, TheErrorOfAWorkEndsIt)
{
    TaskContext task;
    const FileState state = stateOf({ { tensor("a", { 1 }), "12" }, { tensor("b", { 1 }), "34" } });
    const auto walk = state.walk(allTensors(state), { test::walkMeans() });
    ASSERT_TRUE(walk);
    std::atomic<int> begun = 0;
    const auto refuse = [&](std::size_t, SliceReader& reader) {
        ++begun;
        return forEachBlock(reader, task, [](ByteSpan) -> Result<void> { return fail(Code::NoSpace, "full"); });
    };
    const auto outcome = walkTensors(**walk, InOrder, task, refuse);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::NoSpace);
    EXPECT_EQ(begun, 1);
}

/// F32 numbers that BF16 holds, and the same as BF16.
std::array<std::string, 2> sameNumbers(std::size_t count)
{
    const std::string narrow = noiseOf(2 * count, 7);
    std::string wide(4 * count, '\0');
    std::string quiet = narrow;
    for (std::size_t i = 0; i < count; ++i) {
        quiet[2 * i + 1] = static_cast<char>(quiet[2 * i + 1] & 0x3f); // no NaN
        std::memcpy(&wide[4 * i + 2], &quiet[2 * i], 2);
    }
    return { wide, quiet };
}

TEST(Walk, PairsHaveEquallyManyElements)
{
    TaskContext task;
    constexpr std::size_t Count = 100'000; // more than a block of each
    const std::array<std::string, 2> numbers = sameNumbers(Count);
    const std::string& wide = numbers[0];
    const std::string& narrow = numbers[1];
    const FileState a = stateOf(tensor("w", { Count }, Dtype::F32), wide);
    const FileState b = stateOf(tensor("w", { Count }, Dtype::BF16), narrow);
    const auto rounding = rounded(a, { { 0, Dtype::BF16 } });
    EXPECT_EQ(rounding->tensors()[0].dtype, Dtype::BF16);
    EXPECT_EQ(rounding->stateBytes(), b.stateBytes());
    for (const State* left : { static_cast<const State*>(rounding.get()), static_cast<const State*>(&a) }) {
        const auto walkA = left->walk(allTensors(*left), { test::walkMeans() });
        const auto walkB = b.walk(allTensors(b), { test::walkMeans() });
        ASSERT_TRUE(walkA && walkB);
        const std::size_t width = left == &a ? 4 : 2;
        std::size_t elements = 0;
        const auto compare = [&](std::size_t, PairReader& reader) {
            return forEachPair(reader, task, [&](ByteSpan x, ByteSpan y) {
                EXPECT_EQ(x.size() / width, y.size() / 2);
                EXPECT_EQ(asText(x), (width == 4 ? wide : narrow).substr(elements * width, x.size()));
                EXPECT_EQ(asText(y), narrow.substr(elements * 2, y.size()));
                elements += y.size() / 2;
            });
        };
        EXPECT_TRUE(walkPairs(**walkA, **walkB, 1, task, compare));
        EXPECT_EQ(elements, Count);
    }
}

TEST(Walk, ASideWithFewerElementsIsAnError)
{
    TaskContext task;
    const FileState a = stateOf(tensor("w", { 3 }), "123456");
    const FileState b = stateOf(tensor("w", { 2 }), "1234");
    const auto walkA = a.walk(allTensors(a), { test::walkMeans() });
    const auto walkB = b.walk(allTensors(b), { test::walkMeans() });
    ASSERT_TRUE(walkA && walkB);
    const auto compare = [&](std::size_t, PairReader& reader) {
        return forEachPair(reader, task, [](ByteSpan, ByteSpan) {});
    };
    const auto outcome = walkPairs(**walkA, **walkB, 1, task, compare);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Internal);
}

TEST(RoundedState, HasTheDigestOfACheckpointThatIsStoredSo)
{
    TaskContext task;
    const auto [wide, narrow] = sameNumbers(70'000);
    const FileState stored =
        stateOf({ { tensor("kept", { 3 }), "abcdef" }, { tensor("w", { 70'000 }, Dtype::F32), wide } });
    const FileState expected = stateOf({ { tensor("kept", { 3 }), "abcdef" }, { tensor("w", { 70'000 }), narrow } });
    const auto digest = digestState(bench(), *rounded(stored, { { 1, Dtype::BF16 } }), task);
    const auto wanted = digestState(bench(), expected, task);
    ASSERT_TRUE(digest && wanted);
    EXPECT_EQ(digest->root.strong, wanted->root.strong);
    EXPECT_EQ(digest->tensors[1].tensor, wanted->tensors[1].tensor);
}

/// Publishes the step from `from` to `to` of a run of the published layout into an empty one.
Result<std::vector<PublishedVersion>> publishAgain(const GoldenCopy& golden, std::int64_t from, std::int64_t to)
{
    TaskContext task;
    OpenOptions how;
    how.base = golden.base;
    DS_TRY(const Run run, openRun(bench(), golden.store, how, task));
    std::map<std::int64_t, PathPtr> paths;
    const auto stateAt = [&](std::int64_t step) -> Result<StepState> {
        DS_TRY(const Plan plan, planFor(run, *run.find(step)));
        DS_TRY(paths[step], openPath(run, plan, {}, task));
        const State* const state = paths[step].get();
        StepState named = StepState::of({ run, *run.find(step), plan });
        named.open = [state](TaskContext&) -> Result<const State*> { return state; };
        return named;
    };
    DS_TRY(StepState before, stateAt(from));
    DS_TRY(StepState after, stateAt(to));
    PublishOptions options;
    options.layout = "trl-v2";
    return publishStep(bench(), std::make_shared<MemoryStore>(), {}, { "run", std::move(before), std::move(after) },
                       options, {}, task);
}

TEST(PublishOfStates, AStateThatFailsItsPublishersDigestIsNotPublishedAgain)
{
    const GoldenCopy golden("slime-v2-badchecksum"); // of a tensor of step 3
    const auto asTarget = publishAgain(golden, 2, 3);
    ASSERT_FALSE(asTarget);
    EXPECT_EQ(asTarget.error().code, Code::Digest) << asTarget.error().text;
    EXPECT_EQ(asTarget.error().step, 3);
    const auto asBase = publishAgain(golden, 3, 2);
    ASSERT_FALSE(asBase);
    EXPECT_EQ(asBase.error().code, Code::Digest) << asBase.error().text;
}

TEST(PublishOfStates, AStateWithSoundDigestsIsPublishedAgain)
{
    const auto published = publishAgain(GoldenCopy("slime-v2-badchecksum"), 1, 2);
    EXPECT_TRUE(published) << published.error().text;
}

}
} // namespace deltascope
