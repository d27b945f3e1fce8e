#include "publish_fixture.h"
#include "session.h"
#include "support/memory_store.h"

#include <fmt/ranges.h>

// Several runs of full checkpoints in one folder: what parts them, and what must not.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::int64_t Day = 24 * test::Hour;

/// A folder of checkpoints of small models. A step moves few elements of a model by one bit.
struct Folder : Session {
    static std::string fileOf(std::uint64_t model, std::int64_t step)
    {
        std::string bytes;
        const std::string random = noise(8192, model);
        for (std::size_t i = 0; i < random.size(); i += 2) { // about 0.01, of both signs
            bytes += random[i];
            bytes += static_cast<char>(0x3c | (random[i + 1] & 0x80));
        }
        for (std::int64_t j = 0; j < step; ++j)
            bytes[static_cast<std::size_t>(j * 74 % 8192)] ^= 1;
        return safetensorsFile({ { tensor("w", { 64, 64 }), bytes } });
    }
    void drop(std::int64_t step, std::uint64_t model, std::int64_t timeUs, const std::string& history = {})
    {
        const std::string folder = fmt::format("checkpoint-{}/", step);
        put(folder + "model.safetensors", fileOf(model, step), timeUs);
        if (!history.empty())
            put(folder + "trainer_state.json", fmt::format(R"({{"global_step":{},"log_history":[{}]}})", step, history),
                timeUs);
    }
    void put(const std::string& key, const std::string& text, std::int64_t timeUs)
    {
        EXPECT_TRUE(putText(*store, key, text));
        EXPECT_TRUE(store->setModified(key, timeUs));
    }
    /// Two entries for each hundred steps.
    static std::string history(std::int64_t step, const char* loss)
    {
        std::string text;
        for (std::int64_t at = 50; at <= step; at += 50)
            text += fmt::format(R"({}{{"step":{},"loss":{},"note":"NaN"}})", text.empty() ? "" : ",", at, loss);
        return text;
    }
    std::string shape(EpochChoice choice = EpochChoice::Auto)
    {
        OpenOptions options;
        options.epochs = choice;
        auto run = openRun(bench, store, options, task);
        EXPECT_TRUE(run) << run.error().text;
        std::string text;
        for (const Version& version : run->versions)
            text += fmt::format("{}{}:{}", text.empty() ? "" : " ", version.epoch, version.step());
        notices.clear();
        for (const Error& problem : run->problems)
            notices.push_back(problem.text);
        text += fmt::format(" latest {}", run->latest()->step());
        return text;
    }
    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    std::vector<std::string> notices;
    std::int64_t begin = test::Begin;
};

TEST(RunsInOneFolder, AJumpOfTheWeightsPartsThem)
{
    Folder folder;
    for (const std::int64_t step : { 500, 600, 700 })
        folder.drop(step, 1, folder.begin + step * test::Second);
    for (const std::int64_t step : { 100, 200, 300 })
        folder.drop(step, 2, folder.begin + 3 * Day + step * test::Second);
    EXPECT_EQ(folder.shape(), "0:500 0:600 0:700 1:100 1:200 1:300 latest 300");
    ASSERT_EQ(folder.notices.size(), 1U) << fmt::format("{}", fmt::join(folder.notices, "\n"));
    EXPECT_NE(folder.notices[0].find("steps 500 to 700 are of an earlier run, older than step 300"), std::string::npos)
        << folder.notices[0];
    EXPECT_EQ(folder.shape(EpochChoice::One), "0:100 0:200 0:300 0:500 0:600 0:700 latest 700");
}

TEST(RunsInOneFolder, BroadcastsOfPrimeRlInAnyOrderOfTimesAreOneRun)
{
    const auto broadcast = [](Folder& folder, std::int64_t step, std::uint64_t model, std::int64_t timeUs) {
        folder.put(fmt::format("step_{}/model.safetensors", step), Folder::fileOf(model, step), timeUs);
        folder.put(fmt::format("step_{}/STABLE", step), "", timeUs);
    };
    Folder copied;
    for (const std::int64_t step : { 100, 200, 300, 400 })
        broadcast(copied, step, 1, copied.begin + (step == 400 ? 0 : step) * test::Second);
    EXPECT_EQ(copied.shape(), "0:100 0:200 0:300 0:400 latest 400");
    Folder two;
    for (const std::int64_t step : { 500, 600, 700 })
        broadcast(two, step, 1, two.begin + step * test::Second);
    for (const std::int64_t step : { 100, 200, 300 })
        broadcast(two, step, 2, two.begin + 3 * Day + step * test::Second);
    EXPECT_EQ(two.shape(), "0:500 0:600 0:700 1:100 1:200 1:300 latest 300");
}

TEST(RunsInOneFolder, TheAnswerIsKept)
{
    Folder folder;
    folder.openRecords();
    for (const std::int64_t step : { 500, 600 })
        folder.drop(step, 1, folder.begin + step * test::Second);
    folder.drop(100, 2, folder.begin + Day);
    const std::string first = folder.shape();
    EXPECT_EQ(first, "0:500 0:600 1:100 latest 100");
    const std::vector<std::string> notices = folder.notices;
    EXPECT_EQ(folder.shape(), first);
    EXPECT_EQ(folder.notices, notices);
}

TEST(RunsInOneFolder, NumbersMayAlternate)
{
    Folder folder;
    for (const std::int64_t step : { 150, 250, 350 })
        folder.drop(step, 1, folder.begin + step * test::Second);
    for (const std::int64_t step : { 100, 200, 300 })
        folder.drop(step, 2, folder.begin + Day + step * test::Second);
    EXPECT_EQ(folder.shape(), "0:150 0:250 0:350 1:100 1:200 1:300 latest 300");
}

TEST(RunsInOneFolder, CopiesInAnyOrderAreOneRun)
{
    const std::vector<std::vector<std::int64_t>> orders {
        { 0, 0, 0, 0 }, { 300, 100, 200, 0 }, { 0, 300, 100, 200 }, { 30, 20, 10, 0 }
    };
    for (const bool withHistory : { true, false }) {
        for (const std::vector<std::int64_t>& times : orders) {
            SCOPED_TRACE(fmt::format("{} {}", withHistory, fmt::join(times, " ")));
            Folder folder;
            for (std::int64_t i = 0; i < 4; ++i)
                folder.drop(100 * (i + 1), 1, folder.begin + times[static_cast<std::size_t>(i)] * test::Second,
                            withHistory ? Folder::history(100 * (i + 1), "NaN") : std::string());
            EXPECT_EQ(folder.shape(), "0:100 0:200 0:300 0:400 latest 400");
            if (withHistory) {
                EXPECT_TRUE(folder.notices.empty()) << folder.notices[0];
            }
        }
    }
}

TEST(RunsInOneFolder, HistoriesDecideWhateverTheWeightsAre)
{
    for (const bool isOne : { true, false }) {
        Folder folder;
        for (const std::int64_t step : { 500, 600 })
            folder.drop(step, isOne ? 1 : 2, folder.begin + step * test::Second, Folder::history(step, "0.5"));
        for (const std::int64_t step : { 100, 200 })
            folder.drop(step, 2, folder.begin + Day + step * test::Second,
                        Folder::history(step, isOne ? "0.5" : "0.25"));
        EXPECT_EQ(folder.shape(), isOne ? "0:100 0:200 0:500 0:600 latest 600" : "0:500 0:600 1:100 1:200 latest 200");
    }
}

TEST(RunsInOneFolder, AResumedRunKeepsWhatItBeganWith)
{
    Folder folder;
    for (const std::int64_t step : { 100, 200, 300, 500 })
        folder.drop(step, 1, folder.begin + step * test::Second, Folder::history(step, "0.5"));
    std::string history = Folder::history(300, "0.5");
    for (const std::int64_t step : { 350, 400 })
        history += fmt::format(R"(,{{"step":{},"loss":0.75}})", step);
    folder.drop(400, 1, folder.begin + Day, history);
    EXPECT_EQ(folder.shape(), "0:500 1:100 1:200 1:300 1:400 latest 400");
}

TEST(RunsInOneFolder, WhereNothingDecidesItIsOneRunWithANotice)
{
    Folder folder;
    folder.drop(500, 1, folder.begin);
    folder.drop(100, 2, folder.begin + Day);
    EXPECT_EQ(folder.shape(), "0:100 0:500 latest 500");
    ASSERT_EQ(folder.notices.size(), 1U);
    EXPECT_NE(folder.notices[0].find("step 500 is older than step 100"), std::string::npos) << folder.notices[0];
}

TEST(RunsInOneFolder, TheFinalSaveTakesNoPart)
{
    Folder folder;
    for (const std::int64_t step : { 100, 200 })
        folder.drop(step, 1, folder.begin + step * test::Second);
    folder.put("model.safetensors", Folder::fileOf(1, 200), folder.begin + Day);
    EXPECT_EQ(folder.shape(), "0:0 0:100 0:200 latest 200");
    EXPECT_TRUE(folder.notices.empty()) << folder.notices[0];
}

TEST(RunsInOneFolder, PublishWatchDoesNotChainThem)
{
    Publishing p;
    for (const std::int64_t step : { 5, 6 })
        p.drop(step);
    const auto follow = [&](std::vector<std::string>& published, std::vector<std::string>& skipped) -> Result<void> {
        DS_TRY(Publisher publisher, p.open());
        FollowOptions options;
        options.once = true;
        options.onVersion = [&](const PublishedVersion& version) { published.push_back(version.origin); };
        options.onSkipped = [&](const std::vector<std::string>& names, const std::string&) {
            skipped.insert(skipped.end(), names.begin(), names.end());
        };
        return publishWatched(p.bench, p.checkpoints, publisher, options, p.task);
    };
    for (const std::int64_t step : { 5, 6 }) {
        ASSERT_TRUE(putText(*p.checkpoints, fmt::format("checkpoint-{}/trainer_state.json", step),
                            R"({"log_history":[{"step":1,"loss":1}]})"));
        for (const char* file : { "trainer_state.json", "model.safetensors" })
            ASSERT_TRUE(p.checkpoints->setModified(fmt::format("checkpoint-{}/{}", step, file), test::Begin));
    }
    p.drop(1);
    ASSERT_TRUE(putText(*p.checkpoints, "checkpoint-1/trainer_state.json", R"({"log_history":[{"step":1,"loss":2}]})"));
    for (const char* file : { "trainer_state.json", "model.safetensors" })
        ASSERT_TRUE(p.checkpoints->setModified(fmt::format("checkpoint-1/{}", file), test::Begin + Day));
    std::vector<std::string> published, skipped;
    const auto outcome = follow(published, skipped);
    EXPECT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(published, std::vector<std::string> { "checkpoint-1" });
    EXPECT_EQ(skipped, (std::vector<std::string> { "checkpoint-5", "checkpoint-6" }));
}

} // namespace
} // namespace deltascope
