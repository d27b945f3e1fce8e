#include "deltascope/app/alerts.h"
#include "deltascope/app/service.h"

#include "support/temp_dir.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>

// What the rules find in runs that the frameworks' own writers have written, and in the damaged ones.

namespace deltascope::app {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t Second = 1'000'000;

class AlertsOfGoldenRuns : public testing::Test {
protected:
    AlertsOfGoldenRuns()
    {
        Settings settings;
        settings.cacheFolder = m_home.path("cache");
        settings.stateFolder = m_home.path("state");
        settings.threads = 2;
        auto created = Service::create(settings);
        EXPECT_TRUE(created);
        m_service = std::move(*created);
        m_feed = m_service->subscribe({});
    }

    std::shared_ptr<const RunView> open(const fs::path& golden)
    {
        SourceRequest request;
        request.source = (golden / "bucket").string();
        if (fs::exists(golden / "base"))
            request.base = (golden / "base").string();
        const JobId job = m_service->openRun(request, Depth::Replayed);
        for (int i = 0; i < 600; ++i) {
            m_feed->wait(100);
            for (Event& event : m_feed->take()) {
                auto* const end = std::get_if<JobFinished>(&event);
                if (end && end->job == job)
                    return end->outcome ? std::get<std::shared_ptr<const RunView>>(*end->outcome) : nullptr;
            }
        }
        return nullptr;
    }

    /// "rule:step" of everything that fires within 40 seconds of the last publication.
    std::set<std::string> firing(const std::string& name)
    {
        RunSnapshot snapshot;
        snapshot.id = name;
        snapshot.run = open(fs::path(DELTASCOPE_GOLDEN_DIR) / name);
        EXPECT_NE(snapshot.run, nullptr) << name;
        std::int64_t newestUs = 0;
        for (const EpochView& epoch : snapshot.run->epochs) {
            for (const StepView& step : epoch.steps)
                newestUs = std::max(newestUs, step.publishedUs);
        }
        AlertEngine engine;
        engine.update(snapshot, newestUs);
        engine.update(snapshot, newestUs + 40 * Second);
        std::set<std::string> found;
        for (const AlertView& alert : engine.list(name).alerts)
            found.insert(alert.rule + ":" + (alert.step ? std::to_string(*alert.step) : std::string("-")));
        return found;
    }

    test::TempDir m_home;
    std::unique_ptr<Service> m_service;
    std::unique_ptr<EventFeed> m_feed;
};

TEST_F(AlertsOfGoldenRuns, AreAboutDamageInTheirNewestChain)
{
    const std::map<std::string, std::set<std::string>> expected {
        { "grail-badhash", { "digest-mismatch:2670", "digest-mismatch:2730" } },
        { "slime-v2-badchecksum", { "digest-mismatch:3" } },
        { "slime-v2-gap-in-chain", { "chain-gap:4" } },
        { "slime-v2-wrongbase", { "chain-gap:1" } },
        { "trl-v1.0-badhash", { "digest-mismatch:8" } },
        { "trl-v2-truncated", { "digest-mismatch:13" } },
    };
    std::size_t runs = 0;
    for (const auto& folder : fs::directory_iterator(DELTASCOPE_GOLDEN_DIR)) {
        const std::string name = folder.path().filename();
        if (!fs::exists(folder.path() / "bucket") || name == "safetensors-hostile")
            continue;
        ++runs;
        const auto known = expected.find(name);
        EXPECT_EQ(firing(name), known == expected.end() ? std::set<std::string>() : known->second) << name;
    }
    EXPECT_GE(runs, 35U);
}

} // namespace
} // namespace deltascope::app
