#include "golden_copy.h"

// What happened to a source between two looks: overwritten steps, wiped prefixes.

namespace deltascope {
namespace {

using namespace layout_test;

std::size_t eventsOf(const deltascope::Run& run, Code code) { return countNotes(run.events, code); }

/// All bytes are on record.
void putOnRecord(GoldenRun& run)
{
    auto opened = run.open();
    ASSERT_TRUE(opened);
    ASSERT_TRUE(run.verify(*opened, 2));
}

TEST(NoticeChanges, JournalsAnOverwrittenStepOnce)
{
    GoldenRun run("trl-v2-gap");
    ASSERT_TRUE(run.open());
    EXPECT_TRUE(run.open()->events.empty());
    const std::string key = "deltas/step_000003.safetensors";
    run.flip(key, run.read(key).size() - 1);
    const auto after = run.open();
    ASSERT_EQ(after->events.size(), 1U);
    EXPECT_EQ(after->events.front().code, Code::Unproven) << "nobody has compared its bytes";
    EXPECT_EQ(after->events.front().where, key);
    EXPECT_EQ(after->events.front().step, 3);
    EXPECT_NE(after->events.front().text.find("identity"), std::string::npos);
    EXPECT_EQ(run.open()->events.size(), 1U);
}

TEST(NoticeChanges, CallsAnObjectOverwrittenWhoseSizeOnRecordIsAnotherOne)
{
    GoldenRun run("trl-v2-gap");
    putOnRecord(run);
    const std::string key = "deltas/step_000003.safetensors";
    run.write(key, run.read(key) + "more");
    EXPECT_EQ(eventsOf(*run.open(), Code::Rewritten), 1U);
}

TEST(NoticeChanges, SaysWhatAVerificationFoundOfAnObjectThatWasWrittenAgain)
{
    for (const bool isCopy : { true, false }) {
        GoldenRun run("trl-v2-gap");
        putOnRecord(run);
        const std::string key = "deltas/step_000003.safetensors";
        if (isCopy)
            run.write(key, run.read(key));
        else
            run.flip(key, run.read(key).size() - 1);
        auto before = run.open();
        EXPECT_EQ(eventsOf(*before, Code::Unproven), 1U);
        ASSERT_TRUE(run.verify(*before, 2));
        const auto after = run.open();
        EXPECT_EQ(after->events.size(), isCopy ? 0U : 1U);
        EXPECT_EQ(eventsOf(*after, Code::Rewritten), isCopy ? 0U : 1U);
    }
}

TEST(NoticeChanges, SaysNothingOfAnotherModeThatIsOnRecord)
{
    GoldenRun run("trl-v2-gap");
    putOnRecord(run);
    std::filesystem::permissions(run.file("deltas/step_000003.safetensors"), std::filesystem::perms::owner_read);
    Session without; // a cache that was emptied
    without.bench.records = run.session.bench.records;
    auto changed = without.open(localStore(run.bucket()));
    ASSERT_TRUE(changed);
    ASSERT_TRUE(verifyRun(without.bench, *changed, VerifyOptions(), without.task));
    EXPECT_TRUE(run.open()->events.empty());
}

TEST(NoticeChanges, TellsOfManyOverwrittenStepsAtOnce)
{
    GoldenRun run("trl-v2-gap");
    ASSERT_TRUE(run.open());
    for (int step = 2; step <= 9; ++step) {
        const std::string key = fmt::format("deltas/step_{:06}.safetensors", step);
        run.write(key, run.read(key));
    }
    const auto after = run.open();
    ASSERT_EQ(after->events.size(), 1U);
    EXPECT_NE(after->events.front().text.find("8 steps from 2 to 9"), std::string::npos) << after->events.front().text;
}

TEST(NoticeChanges, SuspectsTwoWritersOfAStepThatIsOverwrittenAgain)
{
    GoldenRun run("trl-v2-gap");
    ASSERT_TRUE(run.open());
    const std::string key = "deltas/step_000003.safetensors";
    for (const std::size_t expected : { 0U, 1U }) {
        run.write(key, run.read(key));
        EXPECT_EQ(eventsOf(*run.open(), Code::Fork), expected);
    }
}

TEST(NoticeChanges, SuspectsNobodyWhereOnePutIsSeenAtItsBeginningAndItsEnd)
{
    GoldenRun run("trl-v2-gap");
    ASSERT_TRUE(run.open());
    const std::string key = "deltas/step_000003.safetensors";
    const std::string bytes = run.read(key);
    for (const std::string& written : { std::string(), bytes.substr(0, 100), bytes }) {
        run.write(key, written);
        EXPECT_EQ(eventsOf(*run.open(), Code::Fork), 0U) << written.size();
    }
}

TEST(NoticeChanges, SaysNothingOfRetentionAndOfNewSteps)
{
    GoldenRun run("trl-v2-gap");
    const std::string newest = run.read("deltas/step_000015.safetensors");
    std::filesystem::remove(run.file("deltas/step_000015.safetensors"));
    ASSERT_TRUE(run.open());
    run.write("deltas/step_000015.safetensors", newest);
    for (int step = 2; step <= 9; ++step)
        std::filesystem::remove(run.file(fmt::format("deltas/step_{:06}.safetensors", step)));
    EXPECT_TRUE(run.open()->events.empty());
}

TEST(NoticeChanges, TellsARunThatWipedThePrefixFromAnEmptyOne)
{
    GoldenRun run("slime-v2-xor");
    ASSERT_TRUE(run.open());
    const std::string kept = run.file("weight_v000001");
    for (const auto& folder : std::filesystem::directory_iterator(run.bucket())) {
        if (folder.path() != kept)
            std::filesystem::remove_all(folder.path());
    }
    const auto begun = run.open();
    ASSERT_TRUE(begun);
    EXPECT_EQ(eventsOf(*begun, Code::ListSuspect), 1U);
    EXPECT_NE(begun->events.front().text.find("weight_v000009"), std::string::npos) << begun->events.front().text;
    EXPECT_EQ(eventsOf(*begun, Code::Vanished), 1U) << "what is left is as it was, so this is no new run";
    EXPECT_EQ(eventsOf(*run.open(), Code::ListSuspect), 1U); // told once
    std::filesystem::remove_all(kept);
    const auto empty = run.open();
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().code, Code::ListSuspect);
    EXPECT_FALSE(run.open());
    EXPECT_EQ(run.session.records->events(run.store->uri(), 10)->size(), 3U);
}

TEST(NoticeChanges, CallsAPrefixThatWasNeverSeenEmpty)
{
    GoldenRun run("slime-v2-xor");
    std::filesystem::remove_all(run.bucket());
    std::filesystem::create_directory(run.bucket());
    const auto opened = run.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::Layout);
}

} // namespace
} // namespace deltascope
