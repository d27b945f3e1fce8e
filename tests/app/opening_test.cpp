#include "service/opening.h"

#include "engine/golden_copy.h"
#include "support/counting_store.h"

#include <gtest/gtest.h>

// What the tensors of a state are, and what is read to tell it.

namespace deltascope::app {
namespace {

using layout_test::GoldenCopy;
using layout_test::Session;
using Read = test::CountingStore::Read;

class TensorsOf : public testing::Test {
protected:
    /// Keys of deltas among what is read for the tensors of each step; the tensors are those of the whole chain.
    std::size_t deltasRead(const deltascope::Run& run)
    {
        std::size_t found = 0;
        for (const Version& version : run.versions) {
            const auto plan = planFor(run, version);
            EXPECT_TRUE(plan);
            const std::size_t before = store->reads().size();
            const auto tensors = tensorsOf(run, version, *plan, session.task);
            const std::vector<Read> reads = store->reads();
            found += static_cast<std::size_t>(
                std::count_if(reads.begin() + static_cast<std::ptrdiff_t>(before), reads.end(),
                              [](const Read& read) { return read.key.starts_with("deltas/"); }));
            const auto chain = Chain::open(run, *plan, session.task);
            EXPECT_TRUE(chain && tensors && chain->tensors() == *tensors) << version.step();
        }
        return found;
    }

    GoldenCopy golden { "trl-v2-partial-anchor" };
    std::shared_ptr<test::CountingStore> store = std::make_shared<test::CountingStore>(golden.store);
    Session session;
};

TEST_F(TensorsOf, WhatWasReplayedNeedsNoHeadersOfDeltas) { EXPECT_EQ(deltasRead(session.analyzed(store)), 0U); }

TEST_F(TensorsOf, WhatWasNotReplayedIsReadWhole)
{
    const auto run = session.open(store);
    ASSERT_TRUE(run);
    EXPECT_GT(deltasRead(*run), run->versions.size());
}

} // namespace
} // namespace deltascope::app
