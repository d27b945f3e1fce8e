#include "service/state_tensors.h"

#include "engine/golden_copy.h"
#include "support/counting_store.h"

#include <gtest/gtest.h>

// What the tensors of a state are, and what is read to tell it.

namespace deltascope::app {
namespace {

using layout_test::GoldenCopy;
using layout_test::Session;
using Read = test::CountingStore::Read;

class StateTensorsTest : public testing::Test {
protected:
    /// Reads of the tensors of each step, in order. The tensors are those of the whole chain.
    std::vector<Read> readsOf(const deltascope::Run& run)
    {
        std::vector<Read> found;
        for (const Version& version : run.versions) {
            const auto plan = planFor(run, version);
            EXPECT_TRUE(plan);
            const std::size_t before = store->reads().size();
            const auto list = tensors.of(session.bench, run, version, *plan, session.task);
            const std::vector<Read> reads = store->reads();
            found.insert(found.end(), reads.begin() + static_cast<std::ptrdiff_t>(before), reads.end());
            const auto path = openPath(run, *plan, { 2 }, session.task);
            EXPECT_TRUE(path && list && (*path)->copyOfTensors() == **list) << version.step();
        }
        return found;
    }
    static std::size_t below(const std::vector<Read>& reads, const char* folder)
    {
        return static_cast<std::size_t>(std::count_if(
            reads.begin(), reads.end(), [folder](const Read& read) { return read.key.starts_with(folder); }));
    }

    GoldenCopy golden { "trl-v2-partial-anchor" };
    std::shared_ptr<test::CountingStore> store = std::make_shared<test::CountingStore>(golden.store);
    Session session;
    StateTensors tensors;
};

TEST_F(StateTensorsTest, WhatWasReplayedNeedsNoHeadersOfDeltas)
{
    const auto reads = readsOf(session.analyzed(store));
    EXPECT_EQ(below(reads, "deltas/"), 0U);
    EXPECT_GT(below(reads, "anchors/"), 0U);
}

TEST_F(StateTensorsTest, WhatStepsHaveInCommonIsReadOnce)
{
    const auto run = session.analyzed(store);
    const std::size_t first = readsOf(run).size();
    EXPECT_LE(first, 2 * run.versions.size()) << "not once for each step";
    StateTensors fresh;
    const auto plan = planFor(run, run.versions.back());
    const std::size_t before = store->reads().size();
    ASSERT_TRUE(fresh.of(session.bench, run, run.versions.back(), *plan, session.task));
    const std::size_t once = store->reads().size();
    EXPECT_GT(once, before);
    ASSERT_TRUE(fresh.of(session.bench, run, run.versions.back(), *plan, session.task));
    EXPECT_EQ(store->reads().size(), once);
}

TEST_F(StateTensorsTest, WhatBecameAnotherObjectIsReadAgain)
{
    auto run = session.analyzed(store);
    const auto plan = planFor(run, run.versions.back());
    ASSERT_TRUE(tensors.of(session.bench, run, run.versions.back(), *plan, session.task));
    const std::size_t once = store->reads().size();
    for (const PlanLink& link : plan->links)
        run.versions[link.version].objects.objects.front().identity += "'";
    static_cast<void>(tensors.of(session.bench, run, run.versions.back(), *plan, session.task));
    EXPECT_GT(store->reads().size(), once);
}

TEST_F(StateTensorsTest, WhatWasNotReplayedIsReadWhole)
{
    const auto run = session.open(store);
    ASSERT_TRUE(run);
    EXPECT_GT(below(readsOf(*run), "deltas/"), run->versions.size());
}

} // namespace
} // namespace deltascope::app
