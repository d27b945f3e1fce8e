#include "deltascope/app/alerts.h"

#include "service_fixture.h"
#include "support/times.h"

#include <map>
#include <set>

// What the rules find in runs that the frameworks' own writers have written, and in the damaged ones.

namespace deltascope::app {
namespace {

namespace fs = std::filesystem;

class AlertsOfGoldenRuns : public ServiceFixture {
protected:
    /// "rule:step" of everything that fires within 40 seconds of the last publication.
    std::set<std::string> firing(const std::string& name)
    {
        RunSnapshot snapshot;
        snapshot.id = name;
        snapshot.run = viewOf<RunView>(service->openRun(goldenSource(name), Depth::Replayed));
        std::int64_t newestUs = 0;
        for (const EpochView& epoch : snapshot.run->epochs) {
            for (const StepView& step : epoch.steps)
                newestUs = std::max(newestUs, step.publishedUs);
        }
        AlertEngine engine;
        engine.update(snapshot, newestUs);
        engine.update(snapshot, newestUs + 40 * test::Second);
        std::set<std::string> found;
        for (const AlertView& alert : engine.list(name).alerts)
            found.insert(alert.rule + ":" + (alert.step ? std::to_string(*alert.step) : std::string("-")));
        return found;
    }
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
