#include "deltascope/engine/operations.h"

#include "golden_copy.h"
#include "run_steps.h"
#include "support/faulty_store.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <sys/stat.h>

// Where one run of a trainer ends and the next begins (docs/decisions/0009): what is believed of times, and what else
// decides.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;
using test::StoreOperation;

using EngineRun = deltascope::Run;

std::string keyOf(int step, bool full)
{
    return fmt::format("{}/step_{:06}.safetensors", full ? "anchors" : "deltas", step);
}

/// A golden run whose objects were written one after another, ten seconds apart.
class DatedRun : public GoldenRun {
public:
    explicit DatedRun(const std::string& name)
        : GoldenRun(name)
    {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(bucket())) {
            if (entry.is_regular_file())
                date(entry.path(), 1'000'000 + 10 * std::stoll(entry.path().stem().string().substr(5)));
        }
    }
    /// Writes an object again with the bytes that it has, an hour later.
    void copyOntoItself(const std::string& key) const
    {
        write(key, read(key));
        date(file(key), 1'003'600);
    }
    void removeFrom(int first) const
    {
        for (int step = first; step < first + 20; ++step) {
            std::filesystem::remove(file(keyOf(step, false)));
            std::filesystem::remove(file(keyOf(step, true)));
        }
    }
    EngineRun opened(EpochChoice epochs = EpochChoice::Auto)
    {
        OpenOptions options;
        options.epochs = epochs;
        auto run = openRun(session.bench, localStore(bucket()), options, session.task);
        EXPECT_TRUE(run) << run.error().text;
        return std::move(*run);
    }

private:
    static void date(const std::filesystem::path& path, std::int64_t seconds)
    {
        const timespec at[2] = { { seconds, 0 }, { seconds, 0 } };
        EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), at, 0), 0);
    }
};

TEST(EpochEvidence, AStepCopiedOntoItselfBeginsNothing)
{
    DatedRun golden("trl-v2-gap");
    golden.copyOntoItself(keyOf(1, true));
    const EngineRun run = golden.opened();
    EXPECT_EQ(run.epochs(), 1);
    EXPECT_EQ(run.latest()->step(), 15);
    EXPECT_EQ(run.newerThanLatest(), nullptr);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_TRUE(run.problems.empty());
}

TEST(EpochEvidence, OnRequestTimesAloneDecide)
{
    DatedRun golden("trl-v2-gap");
    golden.copyOntoItself(keyOf(1, true));
    const EngineRun run = golden.opened(EpochChoice::Times);
    EXPECT_EQ(run.epochs(), 2);
    EXPECT_EQ(run.latest()->step(), 1);
    ASSERT_NE(run.newerThanLatest(), nullptr);
    EXPECT_EQ(run.newerThanLatest()->step(), 15);
}

TEST(EpochEvidence, OnRequestAllIsOneRun)
{
    DatedRun golden("trl-v2-restart");
    EXPECT_EQ(golden.opened(EpochChoice::One).epochs(), 1);
}

TEST(EpochEvidence, ARestartStaysOneBecauseTheOldTailDoesNotFit)
{
    GoldenRun golden("trl-v2-restart"); // with the times that it has
    const auto run = golden.open();
    ASSERT_TRUE(run);
    EXPECT_EQ(run->epochs(), 2);
    EXPECT_EQ(obstructed(*run), Steps({ 7, 8, 9 }));
    EXPECT_EQ(run->latest()->step(), 6);
    EXPECT_EQ(run->newerThanLatest()->step(), 13);
}

TEST(EpochEvidence, AnAnswerIsKeptInTheRecords)
{
    DatedRun golden("trl-v2-gap");
    golden.copyOntoItself(keyOf(1, true));
    EXPECT_EQ(golden.opened().epochs(), 1);
    golden.session.catalog.reset(); // a cache: the answer must not depend on it
    golden.session.bench.catalog = nullptr;
    const auto counting = std::make_shared<FaultyStore>(localStore(golden.bucket()));
    const auto first = openRun(golden.session.bench, counting, {}, golden.session.task);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->epochs(), 1);
    const auto headers = counting->calls(StoreOperation::Read);
    OpenOptions times;
    times.epochs = EpochChoice::Times;
    ASSERT_TRUE(openRun(golden.session.bench, counting, times, golden.session.task));
    EXPECT_EQ(counting->calls(StoreOperation::Read), 2 * headers); // no payload was read for it
}

TEST(EpochEvidence, ACopyInDescendingOrderIsOneRun)
{
    DatedRun golden("trl-v2-raw");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(golden.bucket())) {
        if (!entry.is_regular_file())
            continue;
        const std::int64_t at = 2'000'000 - 10 * std::stoll(entry.path().stem().string().substr(5));
        const timespec times[2] = { { at, 0 }, { at, 0 } };
        ASSERT_EQ(::utimensat(AT_FDCWD, entry.path().c_str(), times, 0), 0);
    }
    const EngineRun run = golden.opened();
    EXPECT_EQ(run.epochs(), 1);
    EXPECT_TRUE(obstructed(run).empty());
}

TEST(EpochEvidence, WhereNothingDecidesTheBreakStaysUnlessTheBytesAreThoseOfFirstSight)
{
    // the first deltas of a writer that makes no-ops: no habit is known, so the replay tells nothing
    {
        DatedRun golden("trl-v2-drift-bf16");
        golden.removeFrom(6);
        golden.copyOntoItself(keyOf(1, true));
        EXPECT_EQ(golden.opened().epochs(), 2);
    }
    DatedRun golden("trl-v2-drift-bf16");
    golden.removeFrom(6);
    EngineRun run = golden.opened();
    ASSERT_TRUE(golden.verify(run, 2)); // remembers what it reads
    golden.copyOntoItself(keyOf(1, true));
    EXPECT_EQ(golden.opened().epochs(), 1);
}

/// A run of one tensor of 64 elements in memory.
class SmallRun {
public:
    SmallRun& anchor(int step, std::uint16_t first, std::int64_t second)
    {
        std::vector<std::uint16_t> words(64);
        std::iota(words.begin(), words.end(), first);
        return put(step, true, { { tensor("w", { 64 }), textOf(words) } }, second);
    }
    /// Assigns `value` to two elements.
    SmallRun& delta(int step, std::uint32_t at, std::uint16_t value, std::int64_t second)
    {
        return put(step, false,
                   { { tensor("w.idx", { 2 }, Dtype::I32), textOf(std::vector<std::uint32_t> { at, at + 1 }) },
                     { tensor("w.val", { 2 }), textOf(std::vector<std::uint16_t> { value, value }) } },
                   second);
    }
    EngineRun opened()
    {
        session.openRecords();
        auto run = session.open(store);
        EXPECT_TRUE(run) << run.error().text;
        return std::move(*run);
    }

    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    Session session;

private:
    template <class Item> static std::string textOf(const std::vector<Item>& items)
    {
        return std::string(asText(std::as_bytes(std::span(items))));
    }
    SmallRun& put(int step, bool full, const std::vector<FileTensor>& tensors, std::int64_t second)
    {
        const std::string key = keyOf(step, full);
        EXPECT_TRUE(putText(*store, key,
                            safetensorsFile(tensors,
                                            { { "format", "sparse_weight_patch" },
                                              { "sparse", full ? "False" : "True" },
                                              { "encoding", "raw" } })));
        EXPECT_TRUE(store->setModified(key, test::Begin + second * test::Second));
        return *this;
    }
};

TEST(EpochEvidence, CompleteAnchorsOfAnOlderRunStayBehindARestart)
{
    SmallRun
        small; // steps 1 to 3 were overwritten by a run from other weights, with complete anchors at 4 and 5 behind
    small.anchor(1, 1000, 500).delta(2, 0, 7, 510).delta(3, 4, 7, 520).anchor(4, 2000, 40).anchor(5, 2001, 50);
    const EngineRun run = small.opened();
    ASSERT_EQ(run.epochs(), 2);
    for (const std::int64_t number : { 4, 5 }) {
        ASSERT_NE(run.find(number, 0), nullptr);
        EXPECT_TRUE(planFor(run, *run.find(number, 0)));
    }
    EXPECT_EQ(run.latest()->step(), 3);
    EXPECT_EQ(run.newerThanLatest()->step(), 5);
}

TEST(EpochEvidence, AnAnchorAsFarAsAStepOfTrainingBelongsToTheRun)
{
    SmallRun small; // the same bytes as one run writes them, but 1 to 3 were copied later
    small.anchor(1, 1000, 500).delta(2, 0, 7, 510).delta(3, 4, 7, 520);
    std::vector<std::uint16_t> words(64);
    std::iota(words.begin(), words.end(), std::uint16_t { 1000 });
    words[0] = words[1] = words[4] = words[5] = 7;
    words[9] = 7;
    const std::string key = keyOf(4, true);
    ASSERT_TRUE(putText(
        *small.store, key,
        safetensorsFile({ { tensor("w", { 64 }), std::string(asText(std::as_bytes(std::span(words)))) } },
                        { { "format", "sparse_weight_patch" }, { "sparse", "False" }, { "encoding", "raw" } })));
    ASSERT_TRUE(small.store->setModified(key, test::Begin + 40 * test::Second));
    EXPECT_EQ(small.opened().epochs(), 1);
}

TEST(EpochEvidence, WithoutALimitAnAnchorStaysBehindTheBreak)
{
    SmallRun small;
    small.anchor(1, 1000, 500).delta(2, 0, 7, 510).anchor(3, 1001, 40);
    EXPECT_EQ(small.opened().epochs(), 2);
}

} // namespace
} // namespace deltascope
