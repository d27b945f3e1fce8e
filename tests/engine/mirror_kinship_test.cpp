#include "support/any_task.h"
#include "trained_run.h"

// Mirrors of another run: they are said to be that, and nothing of them is mixed with the run (docs/formats/mirror.md).

namespace deltascope {
namespace {

using namespace layout_test;

/// A bucket with a folder that is named as its mirror.
class WithMirror : public Bucket {
public:
    void copyOf(const Bucket& other) const
    {
        const auto listing = listAll(*other.store, "", test::anyTask());
        ASSERT_TRUE(listing);
        for (const ObjectInfo& object : *listing) {
            const auto bytes = readWhole(*other.store, object.key, object.sizeBytes, test::anyTask());
            ASSERT_TRUE(bytes);
            session.folder.write("mirror/" + object.key, asText(*bytes));
        }
    }
    EngineRun analyzedWithMirror()
    {
        OpenOptions options;
        options.mirrors.emplace({ Address(session.folder.path("mirror")) });
        auto run = openRun(session.bench, store, options, session.task);
        EXPECT_TRUE(run) << run.error().text;
        const auto outcome = analyzeRun(session.bench, *run, {}, session.task);
        EXPECT_TRUE(outcome) << outcome.error().text;
        return std::move(*run);
    }
    static std::size_t strangers(const EngineRun& run)
    {
        return static_cast<std::size_t>(
            std::count_if(run.problems.begin(), run.problems.end(), [](const Error& problem) {
                return problem.code == Code::Mirror && problem.text.find("another run") != std::string::npos;
            }));
    }
};

TEST(MirrorOfAnotherRun, IsSaidToBeThatAndNothingOfItIsMixed)
{
    const Training old(12, 20);
    const Training training(6, 21); // from the same first state
    Bucket before;
    before.putRun(old, 12, { 1, 12 });
    WithMirror bucket;
    bucket.putRun(training, 6, { 1 });
    bucket.copyOf(before);
    const EngineRun run = bucket.analyzedWithMirror();
    EXPECT_EQ(WithMirror::strangers(run), 1U);
    EXPECT_EQ(run.latest()->step(), 6);
    EXPECT_EQ(run.find(8), nullptr);
    EXPECT_TRUE(bucket.holds(run, 6, training.states[6]));
    EXPECT_TRUE(step(run, 3).otherForms.empty());
    EXPECT_EQ(step(run, 1).otherForms.size(), 1U); // the first anchor is the same one
}

TEST(MirrorOfAnotherRun, CountsUpToWhereItParts)
{
    const Training old(12, 22);
    Training training(12, 22);
    for (std::size_t at = 5; at <= 6; ++at)
        training.changes[at] = training.changeOf(training.states[at - 1]);
    Bucket before;
    before.putRun(old, 12, { 1, 12 });
    WithMirror bucket;
    bucket.putRun(training, 6, { 1 });
    bucket.copyOf(before);
    bucket.remove(deltaKey(3)); // the mirror has it still
    const EngineRun run = bucket.analyzedWithMirror();
    EXPECT_EQ(WithMirror::strangers(run), 1U);
    EXPECT_EQ(run.latest()->step(), 6);
    EXPECT_TRUE(bucket.holds(run, 4, old.states[4]));
    EXPECT_EQ(step(run, 4).otherForms.size(), 1U);
    EXPECT_TRUE(step(run, 5).otherForms.empty());
}

TEST(MirrorOfAnotherRun, IsNoneThatHasTheTailOrSoundObjectsForDamagedOnes)
{
    const Training training(12, 23);
    Bucket whole;
    whole.putRun(training, 12, { 1, 12 });
    for (const std::string how : { "lost", "flipped", "cut" }) {
        WithMirror bucket;
        bucket.putRun(training, 9, { 1 });
        bucket.copyOf(whole);
        const auto bytes = readWhole(*bucket.store, deltaKey(9), 1 << 20, test::anyTask());
        ASSERT_TRUE(bytes);
        std::string last(asText(*bytes));
        if (how == "flipped")
            last[last.size() - 3] = static_cast<char>(last[last.size() - 3] ^ 4);
        else if (how == "cut")
            last.resize(last.size() - 40);
        bucket.put(deltaKey(9), 9, last);
        const EngineRun run = bucket.analyzedWithMirror();
        EXPECT_EQ(WithMirror::strangers(run), 0U) << how;
        EXPECT_EQ(run.latest()->step(), 12) << how;
        EXPECT_TRUE(bucket.holds(run, 12, training.states[12])) << how;
    }
}

} // namespace
} // namespace deltascope
