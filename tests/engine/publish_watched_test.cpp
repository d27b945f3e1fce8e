#include "deltascope/engine/trace.h"

#include "publish_fixture.h"
#include "support/any_task.h"
#include "support/faulty_store.h"
#include "support/temp_dir.h"

// publishWatched: what happens to checkpoints that come, go and change while others are published.

namespace deltascope {
namespace {

using namespace layout_test;

struct Told {
    std::vector<std::int64_t> steps;
    std::vector<std::string> origins;
    std::vector<std::string> skipped;
    std::vector<std::string> reasons; ///< of those
    std::vector<std::string> waits;
};

Result<void> follow(Publishing& p, std::shared_ptr<ObjectStore> checkpoints, Told& told, FollowOptions options = {})
{
    DS_TRY(Publisher publisher, p.open());
    options.once = true;
    options.onVersion = [&](const PublishedVersion& version) {
        told.steps.push_back(version.step);
        told.origins.push_back(version.origin);
    };
    options.onSkipped = [&](const std::vector<std::string>& names, const std::string& why) {
        EXPECT_FALSE(why.empty());
        told.skipped.insert(told.skipped.end(), names.begin(), names.end());
        told.reasons.push_back(why);
    };
    options.onWaiting = [&](const std::string& text) { told.waits.push_back(text); };
    return publishWatched(p.bench, std::move(checkpoints), publisher, options, p.task);
}

using Names = std::vector<std::string>;

TEST(PublishWatched, ABacklogIsPublishedInOrder)
{
    Publishing p;
    for (const std::int64_t step : { 10, 2, 30, 9 })
        p.drop(step);
    Told told;
    ASSERT_TRUE(follow(p, p.checkpoints, told));
    EXPECT_EQ(told.origins, (Names { "checkpoint-2", "checkpoint-9", "checkpoint-10", "checkpoint-30" }));
    EXPECT_TRUE(told.skipped.empty());
    Told again;
    ASSERT_TRUE(follow(p, p.checkpoints, again));
    EXPECT_TRUE(again.origins.empty()); // nothing is published twice
    p.drop(31);
    ASSERT_TRUE(follow(p, p.checkpoints, again));
    EXPECT_EQ(again.origins, Names { "checkpoint-31" });
    EXPECT_EQ(p.rootOfStep(5).value_or("none"), p.rootOfCheckpoint(31));
}

TEST(PublishWatched, AStoreThatDoesNotAnswerIsWaitedFor)
{
    for (const bool isOfRun : { true, false }) {
        Publishing p;
        p.drop(1);
        std::shared_ptr<ObjectStore> run = p.run;
        std::shared_ptr<ObjectStore> checkpoints = p.checkpoints;
        std::shared_ptr<ObjectStore>& cutOff = isOfRun ? run : checkpoints;
        const auto faulty = std::make_shared<test::FaultyStore>(cutOff);
        cutOff = faulty;
        Result<Publisher> publisher = Publisher::open(p.bench, run, p.base, p.options, p.task);
        ASSERT_TRUE(publisher) << publisher.error().text;
        Names origins;
        Names waits;
        FollowOptions options;
        options.onVersion = [&](const PublishedVersion& version) {
            origins.push_back(version.origin);
            if (origins.size() == 1)
                faulty->failNth(test::StoreOperation::List, 1, Error { Code::Transient, "no answer", {}, {}, {} },
                                test::Repeat::Forever);
            else
                p.task.requestStop();
        };
        options.onWaiting = [&](const std::string& text) {
            waits.push_back(text);
            faulty->clearFaults();
            p.drop(2);
        };
        const Result<void> outcome = publishWatched(p.bench, checkpoints, *publisher, options, p.task);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code, Code::Canceled) << outcome.error().text;
        EXPECT_EQ(origins, (Names { "checkpoint-1", "checkpoint-2" }));
        ASSERT_FALSE(waits.empty());
        EXPECT_NE(waits[0].find("no answer"), std::string::npos) << waits[0];
    }
}

TEST(PublishWatched, OnlyTheNewestOfThoseThatCameMeanwhile)
{
    Publishing p;
    p.drop(1);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    bool dropped = false;
    hooked->onRead = [&](std::string_view, std::uint64_t) {
        if (std::exchange(dropped, true))
            return;
        for (const std::int64_t step : { 2, 3, 4, 5 })
            p.drop(step);
    };
    Told told;
    ASSERT_TRUE(follow(p, hooked, told));
    EXPECT_EQ(told.origins, (Names { "checkpoint-1", "checkpoint-5" }));
    EXPECT_EQ(told.skipped, (Names { "checkpoint-2", "checkpoint-3", "checkpoint-4" }));
    EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(5));
    Told again;
    EXPECT_TRUE(follow(p, p.checkpoints, again)); // step 5 holds their changes
    EXPECT_TRUE(again.skipped.empty());
    const auto trace = TraceReader().read(*p.run, p.task);
    ASSERT_TRUE(trace);
    EXPECT_TRUE(std::any_of(trace->spans.begin(), trace->spans.end(), [](const Span& span) {
        return span.phase == "note" && span.note.find("checkpoint-3") != std::string::npos;
    }));
}

TEST(PublishWatched, ACheckpointThatIsDeletedWhileItIsPublishedFromIsReplayed)
{
    Publishing p;
    p.drop(1);
    Told told;
    ASSERT_TRUE(follow(p, p.checkpoints, told));
    p.drop(2);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    hooked->onRead = [&](std::string_view key, std::uint64_t offset) {
        if (key == Publishing::keyOf(1) && p.checkpoints->stat(key, test::anyTask()) && Publishing::isPayload(offset)) {
            ASSERT_TRUE(p.checkpoints->remove(key));
        }
    };
    const Result<void> outcome = follow(p, hooked, told);
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_FALSE(p.checkpoints->stat(Publishing::keyOf(1), test::anyTask()));
    EXPECT_EQ(told.origins, (Names { "checkpoint-1", "checkpoint-2" }));
    EXPECT_TRUE(told.skipped.empty());
    EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(2));
}

TEST(PublishWatched, ACheckpointThatVanishesIsPassedOver)
{
    Publishing p;
    p.drop(1);
    p.drop(2);
    p.drop(3);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    hooked->onRead = [&](std::string_view key, std::uint64_t offset) {
        if (key == Publishing::keyOf(2) && p.checkpoints->stat(key, test::anyTask()) && Publishing::isPayload(offset)) {
            ASSERT_TRUE(p.checkpoints->remove(key));
        }
    };
    Told told;
    const Result<void> outcome = follow(p, hooked, told);
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_FALSE(p.checkpoints->stat(Publishing::keyOf(2), test::anyTask()));
    EXPECT_EQ(told.origins, (Names { "checkpoint-1", "checkpoint-3" }));
    EXPECT_EQ(told.skipped, Names { "checkpoint-2" });
    EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(3));
}

/// Published a checkpoint that its trainer removed since.
struct EmptiedFolder : Publishing {
    EmptiedFolder()
    {
        auto opened = Catalog::open(folder.path("catalog.sqlite"));
        EXPECT_TRUE(opened);
        catalog = std::move(*opened);
        bench.catalog = catalog.get();
        drop(1);
        Told told;
        EXPECT_TRUE(follow(*this, checkpoints, told));
        EXPECT_TRUE(checkpoints->remove(keyOf(1)));
    }

    test::TempDir folder;
    std::unique_ptr<Catalog> catalog; ///< knows what lay there
};

TEST(PublishWatched, AFolderThatIsEmptyForAMomentIsWaitedFor)
{
    EmptiedFolder p;
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    FollowOptions options;
    std::vector<std::string> waits;
    options.onWaiting = [&](const std::string& text) {
        waits.push_back(text);
        p.drop(2); // which its trainer saved before it removed the first one
    };
    options.onVersion = [&](const PublishedVersion& version) {
        EXPECT_EQ(version.origin, "checkpoint-2");
        p.task.requestStop();
    };
    EXPECT_EQ(errorOf(publishWatched(p.bench, p.checkpoints, *publisher, options, p.task)).code, Code::Canceled);
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_NE(waits[0].find("waiting for the next checkpoint: 1 of 1 versions"), std::string::npos) << waits[0];
    EXPECT_EQ(publisher->headOrigin(), "checkpoint-2");
}

TEST(PublishWatched, AFolderThatStaysEmptyEndsAnActThatDoesNotWait)
{
    EmptiedFolder p;
    p.bench.nowUs = [&p] { return p.now += test::Second; };
    Told told;
    const Error error = errorOf(follow(p, p.checkpoints, told));
    EXPECT_EQ(error.code, Code::ListSuspect) << error.text;
    EXPECT_TRUE(told.waits.empty());
}

TEST(PublishWatched, ACheckpointThatCameBehindThePublishedOnesIsNamed)
{
    for (const bool isNew : { true, false }) {
        SCOPED_TRACE(isNew);
        Publishing p;
        p.drop(2);
        p.drop(30);
        Told told;
        ASSERT_TRUE(follow(p, p.checkpoints, told));
        p.drop(5);
        const auto put = p.run->list({ "deltas/", {}, 10 }, p.task);
        ASSERT_TRUE(put);
        const std::int64_t publishedUs = put->objects.back().modifiedUs;
        ASSERT_TRUE(p.checkpoints->setModified(Publishing::keyOf(5), publishedUs + (isNew ? 1 : -1) * test::Second));
        for (int start = 0; start < 2; ++start) {
            Told again;
            const Result<void> outcome = follow(p, p.checkpoints, again);
            EXPECT_EQ(outcome.has_value(), !isNew) << "what lay there then was seen then";
            EXPECT_EQ(again.skipped, isNew ? Names { "checkpoint-5" } : Names {});
            EXPECT_TRUE(again.origins.empty());
        }
        p.drop(31);
        Told next;
        EXPECT_EQ(follow(p, p.checkpoints, next).has_value(), !isNew);
        EXPECT_EQ(next.origins, Names { "checkpoint-31" });
    }
}

TEST(PublishWatched, ACheckpointThatComesBehindOnesThatAreBeingPublishedIsNamed)
{
    Publishing p;
    p.drop(10);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    bool dropped = false;
    hooked->onRead = [&](std::string_view, std::uint64_t) {
        if (!std::exchange(dropped, true)) {
            p.drop(4);
            p.drop(11);
        }
    };
    Told told;
    const Error error = errorOf(follow(p, hooked, told));
    EXPECT_EQ(error.code, Code::Fork) << error.text;
    EXPECT_EQ(told.origins, (Names { "checkpoint-10", "checkpoint-11" }));
    EXPECT_EQ(told.skipped, Names { "checkpoint-4" });
}

TEST(PublishWatched, ACheckpointThatIsWrittenAgainIsPublishedWhenItIsQuiet)
{
    Publishing p;
    p.drop(1);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    bool rewritten = false;
    hooked->onRead = [&](std::string_view key, std::uint64_t) {
        if (!std::exchange(rewritten, true)) {
            EXPECT_TRUE(putText(*p.checkpoints, key, Publishing::fileOf(1)));
        }
    };
    Told told;
    ASSERT_TRUE(follow(p, hooked, told));
    EXPECT_TRUE(rewritten);
    EXPECT_EQ(told.origins, Names { "checkpoint-1" });
}

TEST(PublishWatched, AWrittenOneThatIsPublishedAlreadyIsNamed)
{
    for (const bool isWeights : { true, false }) {
        Publishing p;
        p.drop(1);
        p.drop(2);
        const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
        bool written = false;
        hooked->onRead = [&](std::string_view key, std::uint64_t offset) {
            if (!key.starts_with("checkpoint-2") || !Publishing::isPayload(offset) || std::exchange(written, true))
                return;
            // Trainers put their own state once the weights are there.
            const std::string file = isWeights ? "model.safetensors" : "trainer_state.json";
            EXPECT_TRUE(putText(*p.checkpoints, "checkpoint-1/" + file, isWeights ? Publishing::fileOf(7) : "{}"));
        };
        Told told;
        const Result<void> outcome = follow(p, hooked, told);
        ASSERT_TRUE(outcome) << outcome.error().text;
        EXPECT_TRUE(written);
        EXPECT_EQ(told.origins, (Names { "checkpoint-1", "checkpoint-2" }));
        EXPECT_EQ(told.skipped, isWeights ? Names { "checkpoint-1" } : Names {});
        if (isWeights) {
            EXPECT_NE(told.reasons.at(0).find("written again after it was published"), std::string::npos);
        }
        EXPECT_EQ(p.rootOfStep(1).value_or("none"), Publishing().rootOfCheckpoint(1)) << "what is published stays";
    }
}

TEST(PublishWatched, OneThatIsWrittenAgainWithEqualBytesIsNotNamed)
{
    Publishing p;
    p.drop(1);
    p.drop(2);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    bool written = false;
    hooked->onRead = [&](std::string_view key, std::uint64_t offset) {
        if (key.starts_with("checkpoint-2") && Publishing::isPayload(offset) && !std::exchange(written, true))
            p.drop(1);
    };
    Told told;
    ASSERT_TRUE(follow(p, hooked, told));
    EXPECT_TRUE(written);
    EXPECT_TRUE(told.skipped.empty());
}

TEST(PublishWatched, OneThatWasWrittenAgainBetweenTwoActsIsNamed)
{
    Publishing p;
    for (const std::int64_t step : { 1, 2, 3 })
        p.drop(step);
    Told first;
    ASSERT_TRUE(follow(p, p.checkpoints, first));
    const auto rewrite = [&](std::int64_t step, std::int64_t content) {
        EXPECT_TRUE(putText(*p.checkpoints, Publishing::keyOf(step), Publishing::fileOf(content)));
        EXPECT_TRUE(p.checkpoints->setModified(Publishing::keyOf(step),
                                               p.bench.nowUs() - 10'000'000)); // behind the publication
    };
    rewrite(2, 7);
    Told again;
    ASSERT_TRUE(follow(p, p.checkpoints, again));
    EXPECT_EQ(again.skipped, Names { "checkpoint-2" });
    EXPECT_NE(again.reasons.at(0).find("written again after it was published"), std::string::npos);
    Told oncemore; // the run does not know it
    ASSERT_TRUE(follow(p, p.checkpoints, oncemore));
    EXPECT_EQ(oncemore.skipped, Names { "checkpoint-2" });

    for (const std::int64_t step : { 1, 2, 3 })
        rewrite(step, step); // copies
    Told sound;
    ASSERT_TRUE(follow(p, p.checkpoints, sound));
    EXPECT_TRUE(sound.skipped.empty());
}

TEST(PublishWatched, ASecondFolderWithANumberIsNamedForThat)
{
    Publishing p;
    p.drop(1);
    ASSERT_TRUE(putText(*p.checkpoints, "checkpoint-01/model.safetensors", Publishing::fileOf(2)));
    Told told;
    const Error error = errorOf(follow(p, p.checkpoints, told));
    EXPECT_EQ(error.code, Code::Layout);
    ASSERT_EQ(told.origins.size(), 1U);
    const std::string other = told.origins[0] == "checkpoint-1" ? "checkpoint-01" : "checkpoint-1";
    EXPECT_EQ(told.skipped, Names { other });
    EXPECT_NE(told.reasons.at(0).find("it has the number of " + told.origins[0]), std::string::npos) << told.reasons[0];
}

TEST(PublishWatched, WhatTheTrainerEndsWithIsNoStep)
{
    for (const char* marker : { "", "done" }) {
        Publishing p;
        ASSERT_TRUE(putText(*p.checkpoints, "model.safetensors", Publishing::fileOf(7)));
        p.drop(1);
        ASSERT_TRUE(putText(*p.checkpoints, "checkpoint-1/done", ""));
        FollowOptions options;
        options.marker = marker;
        Told told;
        const Result<void> outcome = follow(p, p.checkpoints, told, options);
        ASSERT_TRUE(outcome) << outcome.error().text;
        EXPECT_EQ(told.origins, Names { "checkpoint-1" });
    }
}

TEST(PublishWatched, AStoppedOneEndsCanceledAndGoesOnLater)
{
    Publishing p;
    for (const std::int64_t step : { 1, 2, 3 })
        p.drop(step);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    hooked->onRead = [&](std::string_view key, std::uint64_t) {
        if (key == Publishing::keyOf(3))
            p.task.requestStop();
    };
    Told told;
    EXPECT_EQ(errorOf(follow(p, hooked, told)).code, Code::Canceled);
    TaskContext fresh;
    auto publisher = Publisher::open(p.bench, p.run, p.base, p.options, fresh);
    ASSERT_TRUE(publisher) << publisher.error().text;
    FollowOptions options;
    options.once = true;
    ASSERT_TRUE(publishWatched(p.bench, p.checkpoints, *publisher, options, fresh));
    EXPECT_EQ(publisher->headOrigin(), "checkpoint-3");
    EXPECT_EQ(publisher->headStep(), 3);
}

/// What a killed save leaves: the first of two shards, and no index.
void dropHalf(Publishing& p, std::int64_t step)
{
    EXPECT_TRUE(putText(*p.checkpoints, fmt::format("checkpoint-{}/model-00001-of-00002.safetensors", step),
                        Publishing::fileOf(step)));
}

TEST(PublishSettled, WhatIsNotWholeIsNamedAndTheSoundOnesArePublished)
{
    for (const std::int64_t last : { 2, 3 }) {
        SCOPED_TRACE(last);
        Publishing p;
        p.drop(1);
        dropHalf(p, 2);
        if (last == 3)
            p.drop(3);
        Told told;
        const Error error = errorOf(follow(p, p.checkpoints, told));
        EXPECT_EQ(error.code, Code::Unfinished) << error.text;
        EXPECT_NE(error.text.find("checkpoint-2 is not published"), std::string::npos) << error.text;
        EXPECT_EQ(told.origins, last == 3 ? (Names { "checkpoint-1", "checkpoint-3" }) : Names { "checkpoint-1" });
        EXPECT_EQ(told.skipped, Names { "checkpoint-2" });
        EXPECT_NE(told.reasons.at(0).find("index"), std::string::npos) << told.reasons.at(0);
        EXPECT_TRUE(told.waits.empty());
    }
}

TEST(PublishSettled, WhatWasLeftOutIsNamedAgainUntilItIsGone)
{
    Publishing p;
    p.drop(1);
    dropHalf(p, 2);
    ASSERT_TRUE(putText(*p.checkpoints, "checkpoint-3/trainer_state.json", "{}"));
    p.drop(4);
    Told first;
    EXPECT_EQ(errorOf(follow(p, p.checkpoints, first)).code, Code::Unfinished);
    for (int start = 0; start < 2; ++start) {
        Told again;
        const Error error = errorOf(follow(p, p.checkpoints, again));
        EXPECT_EQ(error.code, Code::Unfinished) << error.text;
        EXPECT_NE(error.text.find("checkpoint-2 is not published"), std::string::npos) << error.text;
        EXPECT_NE(error.text.find("not published either: checkpoint-3"), std::string::npos) << error.text;
        EXPECT_EQ(again.skipped, (Names { "checkpoint-2", "checkpoint-3" }));
        EXPECT_TRUE(again.origins.empty());
    }
    ASSERT_TRUE(p.checkpoints->remove("checkpoint-2/model-00001-of-00002.safetensors"));
    Told without;
    EXPECT_EQ(errorOf(follow(p, p.checkpoints, without)).code, Code::Layout);
    EXPECT_EQ(without.skipped, Names { "checkpoint-3" });
    ASSERT_TRUE(p.checkpoints->remove("checkpoint-3/trainer_state.json"));
    p.drop(5);
    Told sound;
    EXPECT_TRUE(follow(p, p.checkpoints, sound));
    EXPECT_EQ(sound.origins, Names { "checkpoint-5" });
    EXPECT_TRUE(sound.skipped.empty());
}

TEST(PublishSettled, WhatWasLeftOutAndPublishedSinceIsNotNamed)
{
    Publishing p;
    p.drop(1);
    dropHalf(p, 2);
    Told told;
    EXPECT_FALSE(follow(p, p.checkpoints, told));
    ASSERT_TRUE(p.checkpoints->remove("checkpoint-2/model-00001-of-00002.safetensors"));
    p.drop(2);
    p.drop(3);
    ASSERT_TRUE(follow(p, p.checkpoints, told));
    EXPECT_EQ(told.origins, (Names { "checkpoint-1", "checkpoint-2", "checkpoint-3" }));
    Told again;
    EXPECT_TRUE(follow(p, p.checkpoints, again));
    EXPECT_TRUE(again.skipped.empty());
}

TEST(PublishSettled, WhatIsMendedIsPublished)
{
    Publishing p;
    p.drop(1);
    dropHalf(p, 2);
    Told told;
    EXPECT_FALSE(follow(p, p.checkpoints, told));
    ASSERT_TRUE(p.checkpoints->remove("checkpoint-2/model-00001-of-00002.safetensors"));
    p.drop(2);
    EXPECT_TRUE(follow(p, p.checkpoints, told));
    EXPECT_EQ(told.origins, (Names { "checkpoint-1", "checkpoint-2" }));
}

TEST(PublishSettled, UntilThenOneLineSaysWhatIsWaitedFor)
{
    Publishing p;
    p.drop(1);
    dropHalf(p, 2);
    p.now = 2'000'000'000 * test::Second;
    for (const std::string& key :
         { Publishing::keyOf(1), std::string("checkpoint-2/model-00001-of-00002.safetensors") })
        ASSERT_TRUE(p.checkpoints->setModified(key, p.now));
    p.bench.nowUs = [&p] { return p.now += test::Second; };
    FollowOptions options;
    options.settleSeconds = 60;
    Told told;
    const std::int64_t begin = p.now;
    EXPECT_EQ(errorOf(follow(p, p.checkpoints, told, options)).code, Code::Unfinished);
    EXPECT_EQ(told.origins, Names { "checkpoint-1" });
    EXPECT_EQ(told.skipped, Names { "checkpoint-2" });
    ASSERT_EQ(told.waits.size(), 1U);
    EXPECT_NE(told.waits[0].find("waiting for checkpoint-2: "), std::string::npos) << told.waits[0];
    EXPECT_GE(p.now - begin, 60 * test::Second);
}

TEST(PublishSettled, TimesToComeDoNotMakeItWaitForEver)
{
    Publishing p;
    dropHalf(p, 2);
    p.now = 2'000'000'000 * test::Second;
    ASSERT_TRUE(p.checkpoints->setModified("checkpoint-2/model-00001-of-00002.safetensors", p.now + test::Hour));
    p.bench.nowUs = [&p] { return p.now += test::Second; };
    FollowOptions options;
    options.settleSeconds = 60;
    Told told;
    EXPECT_EQ(errorOf(follow(p, p.checkpoints, told, options)).code, Code::Unfinished);
    EXPECT_LT(p.now, 2'000'000'000 * test::Second + test::Hour);
}

TEST(PublishSettled, AMarkerThatNeverComesIsNamed)
{
    Publishing p;
    p.drop(1);
    p.drop(2);
    ASSERT_TRUE(putText(*p.checkpoints, "checkpoint-1/done", ""));
    FollowOptions options;
    options.marker = "done";
    Told told;
    EXPECT_EQ(errorOf(follow(p, p.checkpoints, told, options)).code, Code::Unfinished);
    EXPECT_EQ(told.origins, Names { "checkpoint-1" });
    ASSERT_EQ(told.skipped, Names { "checkpoint-2" });
    EXPECT_NE(told.reasons.at(0).find("never put done into it"), std::string::npos) << told.reasons.at(0);
}

TEST(PublishSettled, AFolderWithoutWeightsIsNamedHereAndWhereTheRunIsOpened)
{
    Publishing p;
    p.drop(1);
    p.drop(3);
    ASSERT_TRUE(putText(*p.checkpoints, "checkpoint-2/trainer_state.json", "{}"));
    Told told;
    EXPECT_EQ(errorOf(follow(p, p.checkpoints, told)).code, Code::Layout);
    EXPECT_EQ(told.origins, (Names { "checkpoint-1", "checkpoint-3" }));
    EXPECT_EQ(told.skipped, Names { "checkpoint-2" });
    const auto run = p.tryOpen(p.checkpoints, {});
    ASSERT_TRUE(run);
    ASSERT_EQ(run->problems.size(), 1U);
    EXPECT_EQ(run->problems[0].text, "checkpoint-2 holds no weights: it is no step of this run");
    ASSERT_TRUE(p.checkpoints->remove("checkpoint-2/trainer_state.json"));
    const auto sound = p.tryOpen(p.checkpoints, {});
    ASSERT_TRUE(sound);
    EXPECT_TRUE(sound->problems.empty());
}

TEST(PublishSettled, ACheckpointOfAnotherShapeIsLeftOutAndTheNextOneIsChained)
{
    Publishing p;
    p.drop(1);
    ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(2),
                        safetensorsFile({ { tensor("a", { 64, 8 }), std::string(1024, '\0') } })));
    p.drop(3);
    Told told;
    EXPECT_EQ(errorOf(follow(p, p.checkpoints, told)).code, Code::BaseMismatch);
    EXPECT_EQ(told.origins, (Names { "checkpoint-1", "checkpoint-3" }));
    EXPECT_EQ(told.skipped, Names { "checkpoint-2" });
}

} // namespace
} // namespace deltascope
