#include "monitor_fixture.h"
#include "support/eventually.h"

#include <atomic>
#include <future>
#include <thread>

// Runs that are followed for a face: opening, errors, verification in the background, listeners, the end.

namespace deltascope::app {
namespace {

using namespace std::chrono_literals;

class Monitors : public MonitorFixture {
protected:
    /// The run once all of its steps were verified.
    Snapshot verifiedRun(const std::string& id, std::size_t steps)
    {
        return runWhen(id, [&](const RunSnapshot& run) { return run.verified.size() == steps; });
    }
};

// --- exceptions ------------------------------------------------------------------------------------------------------

TEST_F(Monitors, WhatAListenerOrAnAskerThrowsDoesNotEndTheWatch)
{
    const auto throwing = monitor->listen([](const MonitorEvent&) { throw std::bad_alloc(); });
    std::atomic<bool> heard = false;
    const auto listening = monitor->listen([&](const MonitorEvent&) { heard = true; });
    std::promise<void> asked;
    monitor->ask([](Service& asking) { return asking.doctor(std::nullopt); },
                 [&](const Result<JobResult>&) {
                     asked.set_value();
                     throw std::runtime_error("an asker gives up");
                 });
    asked.get_future().get();
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = monitor->follow(bucket.source(), "", false);
    EXPECT_TRUE(test::eventually([&] { return heard && monitor->run(id)->run && monitor->run(id)->run->settled; }));
}

// --- following -------------------------------------------------------------------------------------------------------

TEST_F(Monitors, ARunIsOpenedAndThenLive)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = monitor->follow(bucket.source(), "wordle", true);
    EXPECT_EQ(id, "bucket");
    EXPECT_TRUE(happens([](const MonitorEvent& event) {
        const auto& moved = std::get<RunMoved>(event);
        return !moved.before && moved.now->state == "opening" && !moved.now->run;
    }));
    const Snapshot run = settledRun(id);
    EXPECT_EQ(run->state, "live");
    EXPECT_EQ(run->name, "wordle");
    EXPECT_TRUE(run->demo);
    EXPECT_TRUE(run->source.starts_with("file://")) << run->source;
    EXPECT_GT(run->contactUs, 0);
    EXPECT_EQ(run->run->latest, 15);
    ASSERT_TRUE(run->heat);
    EXPECT_EQ(run->heat->columns.size(), 15U);
}

TEST_F(Monitors, EachOfSeveralRunsBelowAnAddressIsFollowedByItself)
{
    namespace fs = std::filesystem;
    const auto copy = [&](const std::string& name, const std::string& folder) {
        fs::create_directories(home.path("project"));
        fs::copy(test::goldenPath(name + "/bucket"), home.path("made"), fs::copy_options::recursive);
        fs::remove(home.path("made/deltas/step_000015.safetensors"));
        fs::rename(home.path("made"), home.path(folder));
    };
    copy("trl-v2-gap", "project/zz");
    fs::copy(test::goldenPath("trl-v2-gap/bucket/deltas/step_000015.safetensors"), home.path("project/zz/deltas"));
    SourceRequest source;
    source.source = home.path("project");
    const std::string id = followed(source);
    EXPECT_EQ(id, "project");
    EXPECT_EQ(monitor->run(id)->name, "project"); // alone
    copy("trl-v2-raw", "project/aa");
    const Snapshot second = settledRun("aa");
    EXPECT_EQ(second->name, "project/aa");
    EXPECT_TRUE(second->run->source.ends_with("/project/aa")) << second->run->source;
    const Snapshot first =
        runWhen(id, [](const RunSnapshot& run) { return run.name == "project/zz" && run.run && run.run->settled; });
    EXPECT_EQ(first->run->latest, 15);
    EXPECT_EQ(monitor->sourceOf(id)->source, home.path("project/zz"));
    for (const Snapshot& run : monitor->runs()) {
        EXPECT_TRUE(run->run->runs.empty()) << run->id;
        EXPECT_EQ(run->alertsFiring, 0U) << run->id;
    }
    EXPECT_EQ(monitor->runs().size(), 2U);
}

TEST_F(Monitors, ARunInTheFolderItselfStaysBesideOthers)
{
    namespace fs = std::filesystem;
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followed(bucket.source());
    fs::copy(test::goldenPath("trl-v2-raw/bucket"), home.path("made"), fs::copy_options::recursive);
    fs::rename(home.path("made"), bucket.file("later"));
    settledRun("later");
    const Snapshot run = runWhen(id, [](const RunSnapshot& now) { return now.run && now.run->runs.size() == 2; });
    EXPECT_EQ(run->name, id);
    EXPECT_EQ(run->run->latest, 15);
    monitor->unfollow("later");
    EXPECT_EQ(monitor->runs().size(), 1U);
}

TEST_F(Monitors, AQuietRunKeepsItsContact)
{
    settings.watch.poll = settings.watch.silence = 10ms;
    restart();
    const BucketCopy bucket("trl-v2-gap");
    const Snapshot before = verifiedRun(monitor->follow(bucket.source(), "", false), 15);
    const Snapshot later =
        runWhen(before->id, [&](const RunSnapshot& run) { return run.contactUs > before->contactUs; });
    EXPECT_EQ(later->run, before->run);
    EXPECT_EQ(later->verified, before->verified);
}

TEST_F(Monitors, EveryRunHasAnIdOfItsOwnThatCanStandInAnAddress)
{
    const auto follow = [&](const std::string& source) {
        SourceRequest request;
        request.source = source;
        return monitor->follow(request, "", false);
    };
    EXPECT_EQ(follow("/no/wordle"), "wordle");
    EXPECT_EQ(follow("/nor/this/wordle/"), "wordle-2");
    EXPECT_EQ(follow("file:///nor/wordle"), "wordle-3");
    EXPECT_EQ(follow("/a run<script>\"\xe2\x80\xae"), "a-run-script-----");
    EXPECT_EQ(follow("/no/.."), "run");
    EXPECT_EQ(follow("/no/.-"), "run-2");
    EXPECT_EQ(follow(""), "run-3");
    EXPECT_EQ(follow("/" + std::string(300, 'x')), std::string(64, 'x'));
    EXPECT_EQ(monitor->runs().size(), 8U);
    EXPECT_EQ(monitor->runs().front()->id, "wordle") << "as they were added";
    EXPECT_EQ(monitor->run("wordle-4"), nullptr);
    EXPECT_EQ(monitor->sourceOf("wordle-4"), std::nullopt);
    EXPECT_EQ(monitor->sourceOf("wordle-2")->source, "/nor/this/wordle/");
}

TEST_F(Monitors, ASourceThatIsNotThereIsAnErrorUntilItIsThere)
{
    options.retry = 10ms;
    restart();
    SourceRequest request;
    request.source = home.path("later");
    const std::string id = monitor->follow(request, "", false);
    const Snapshot failed = runWhen(id, [](const RunSnapshot& run) { return run.state == "error"; });
    ASSERT_TRUE(failed->error);
    EXPECT_EQ(failed->error->code, "DS-NOT-FOUND");
    EXPECT_EQ(failed->run, nullptr);
    EXPECT_EQ(failed->contactUs, 0);
    const std::string onItsWay = home.path("on-its-way");
    std::filesystem::copy(test::goldenPath("trl-v2-raw/bucket"), onItsWay, std::filesystem::copy_options::recursive);
    std::filesystem::rename(onItsWay, request.source.text());
    const Snapshot live = runWhen(id, [](const RunSnapshot& run) { return run.state == "live"; });
    EXPECT_FALSE(live->error);
    EXPECT_EQ(live->run->latest, 14);
}

TEST_F(Monitors, RevisionsGrowWithEveryChange)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = monitor->follow(bucket.source(), "", false);
    std::uint64_t last = 0;
    bool grow = true;
    EXPECT_TRUE(happens([&](const MonitorEvent& event) {
        const auto* moved = std::get_if<RunMoved>(&event);
        if (!moved)
            return false;
        grow = grow && (!moved->before || moved->now->revision > last);
        last = moved->now->revision;
        return moved->now->verified.size() == 15;
    }));
    EXPECT_TRUE(grow);
}

// --- verification in the background ----------------------------------------------------------------------------------

TEST_F(Monitors, EveryStepIsVerifiedInTheBackground)
{
    const BucketCopy bucket("slime-v2-xor");
    const Snapshot run = verifiedRun(monitor->follow(bucket.source(), "", false), 9);
    for (const auto& [step, verified] : run->verified) {
        EXPECT_EQ(verified.level, 2) << step.second;
        EXPECT_EQ(verified.result, "first_sight") << step.second;
        EXPECT_GT(verified.tUs, 0);
    }
    EXPECT_EQ(makeRunSummary(run).kpi.verifiedTo, 9);
}

TEST_F(Monitors, LevelZeroVerifiesNothing)
{
    open(0);
    const BucketCopy bucket("slime-v2-xor");
    followed(bucket.source());
    EXPECT_EQ(service->jobs().size(), 1U) << "nothing but the watch; a verification begins before a run is told of";
}

TEST_F(Monitors, AChangedObjectForgetsItsVerdictAndIsVerifiedAnew)
{
    const BucketCopy bucket("slime-v2-xor");
    const std::string id = monitor->follow(bucket.source(), "", false);
    const VerifiedSteps before = verifiedRun(id, 9)->verified;
    bucket.damage("weight_v000006/model-00000-of-00003.safetensors", 2400);
    EXPECT_TRUE(happens([&](const MonitorEvent& event) {
        const auto* moved = std::get_if<RunMoved>(&event);
        return moved && !moved->now->verified.contains({ 0, 6 });
    })) << "forgotten";
    const Snapshot after = runWhen(id, [](const RunSnapshot& run) { return run.verified.contains({ 0, 6 }); });
    EXPECT_EQ(after->verified.at({ 0, 6 }).result, "damaged");
    EXPECT_EQ(after->verified.at({ 0, 5 }).tUs, before.at({ 0, 5 }).tUs)
        << "what did not change is not looked at again";
    EXPECT_EQ(makeRunSummary(after).kpi.verifiedTo, 5);
}

TEST_F(Monitors, AStepThatIsPublishedIsVerifiedToo)
{
    const BucketCopy bucket("trl-v2-gap", [](const std::string& key) { return !key.ends_with("15.safetensors"); });
    const std::string id = monitor->follow(bucket.source(), "", false);
    verifiedRun(id, 14);
    bucket.publish("deltas/step_000015.safetensors");
    EXPECT_EQ(verifiedRun(id, 15)->verified.count({ 0, 15 }), 1U);
}

// --- asking ----------------------------------------------------------------------------------------------------------

TEST_F(Monitors, WhoAsksGetsWhatTheJobEndsWith)
{
    const BucketCopy bucket("trl-v2-gap");
    std::promise<Result<JobResult>> answer;
    monitor->ask([&](Service& jobs) { return jobs.listObjects(bucket.source()); },
                 [&](Result<JobResult> result) { answer.set_value(std::move(result)); });
    const Result<JobResult> result = answer.get_future().get();
    ASSERT_TRUE(result);
    EXPECT_EQ(std::get<std::shared_ptr<const ListingView>>(*result)->objects.size(), 15U);
}

TEST_F(Monitors, WhoAsksMayAskAgainFromTheAnswer)
{
    const BucketCopy bucket("trl-v2-gap");
    std::promise<bool> answer;
    const auto list = [&](Service& jobs) { return jobs.listObjects(bucket.source()); };
    monitor->ask(list, [&](const Result<JobResult>&) {
        monitor->runs();
        monitor->ask(list, [&](const Result<JobResult>& second) { answer.set_value(second.has_value()); });
    });
    EXPECT_TRUE(answer.get_future().get());
}

// --- listeners -------------------------------------------------------------------------------------------------------

TEST_F(Monitors, AListenerWhoseTokenIsGoneIsNeverCalledAgain)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followed(bucket.source());
    std::atomic<bool> stop = false;
    const std::jthread noise([&] {
        while (!stop) {
            const std::string task = start(id, VerifyArgs { "1", 0 }).id;
            EXPECT_TRUE(test::eventually([&] { return isOver(*monitor->task(task)); }));
        }
    });
    for (int round = 0; round < 40; ++round) {
        auto calls = std::make_unique<std::atomic<int>>(0);
        auto token = monitor->listen([calls = calls.get()](const MonitorEvent&) { ++*calls; });
        EXPECT_TRUE(round % 2 == 0 || test::eventually([&] { return *calls > 0; })) << "who listens for a while hears";
        token.reset();
        calls.reset(); // a call after this would be seen by a sanitizer
    }
    stop = true;
}

TEST_F(Monitors, AListenerMayAskBack)
{
    std::promise<std::size_t> runs;
    std::atomic<bool> first = true;
    const auto token = monitor->listen([&](const MonitorEvent&) {
        if (first.exchange(false))
            runs.set_value(monitor->runs().size());
    });
    const BucketCopy bucket("trl-v2-raw");
    monitor->follow(bucket.source(), "", false);
    EXPECT_EQ(runs.get_future().get(), 1U);
}

// --- the end ---------------------------------------------------------------------------------------------------------

TEST_F(Monitors, EndsWhileJobsRun)
{
    const SourceRequest large = largeRun();
    for (int round = 0; round < 3; ++round) {
        const BucketCopy bucket("trl-v2-gap");
        const std::string id = monitor->follow(large, "", false);
        monitor->follow(bucket.source(), "", false);
        settledRun(id);
        start(id, materialize("1", "x" + std::to_string(round)));
        auto answered = std::make_shared<std::atomic<bool>>(false);
        std::weak_ptr<std::atomic<bool>> held = answered;
        monitor->ask(
            [&](Service& jobs) {
                return jobs.digest({ large, "" }, false);
            },
            [answered](const Result<JobResult>&) { *answered = true; });
        answered.reset();
        open(2);
        EXPECT_TRUE(held.expired()) << "nobody is called any more";
    }
}

} // namespace
} // namespace deltascope::app
