#include "acts/roll_back_outcome.h"
#include "pages/live/replica_model.h"

#include <gtest/gtest.h>

// What the window says of a replica, by its heartbeat.

namespace deltascope::desktop {
namespace {

app::ReplicaView serving(std::int64_t step, std::optional<std::int64_t> behind = 0, std::string state = "serving")
{
    app::ReplicaView replica;
    replica.id = "r0";
    replica.step = step;
    replica.behind = behind;
    replica.state = std::move(state);
    return replica;
}

std::string words(const app::ReplicaView& replica) { return replicaText(replica).toStdString(); }

TEST(ReplicaWords, SayInSyncOnlyOfOneThatServesTheNewestStep)
{
    EXPECT_EQ(words(serving(9)), "● in sync");
    EXPECT_EQ(words(serving(7, 2)), "◔ behind");
    EXPECT_EQ(words(serving(9, 0, "fetching")), "● in sync, fetching");
    EXPECT_EQ(words(serving(9, std::nullopt)), "? step not known");
    EXPECT_EQ(words(serving(9, 0, "digest-mismatch")), "✕ refuses a step");
    EXPECT_EQ(words(serving(9, 0, "poisoned")), "✕ half-written weights");
    EXPECT_EQ(words(serving(9, std::nullopt, "stopped")), "○ stopped");
    app::ReplicaView late = serving(9);
    late.late = true;
    late.ageSeconds = 42;
    EXPECT_EQ(words(late), "○ no sign for 42 s");
    app::ReplicaView foreign = serving(9, std::nullopt);
    foreign.foreign = true;
    EXPECT_EQ(words(foreign), "✕ foreign: no step of this run");
}

TEST(ReplicaWords, SayLoadedOnlyOfOneThatRunsOnTheStep)
{
    const auto at8 = [](const app::ReplicaView& replica) { return loadedWords(replica, 8).toStdString(); };
    EXPECT_EQ(at8(serving(8)), "✓ has loaded it");
    EXPECT_EQ(at8(serving(7, 1)), "not yet");
    EXPECT_EQ(at8(serving(8, 0, "poisoned")), "half-written weights");
    EXPECT_EQ(at8(serving(8, std::nullopt, "stopped")), "stopped");
    app::ReplicaView late = serving(8);
    late.late = true;
    EXPECT_EQ(at8(late), "no contact");
    app::ReplicaView silent = serving(8);
    silent.step.reset();
    EXPECT_EQ(at8(silent), "not known");
    const std::vector<app::ReplicaView> replicas { serving(8), serving(8, 0, "poisoned"), late };
    EXPECT_EQ(loadedText(replicas, 8).toStdString(), "1 of 3 replicas serve step 8");
    EXPECT_EQ(loadedText({ serving(8) }, 8).toStdString(), "1 of 1 replica serves step 8");
}

} // namespace
} // namespace deltascope::desktop
