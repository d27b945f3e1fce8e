#include "deltascope/app/view/problem.h"
#include "deltascope/app/view/summary_view.h"

#include <gtest/gtest.h>

// What of several problems is shown first, and that what is only worth knowing is not shown as damage.

namespace deltascope::app {
namespace {

ProblemView problem(const char* code) { return { code, 7, "w", "text", "remedy" }; }

TEST(Gravest, IsTheFirstThatIsNoNotice)
{
    EXPECT_EQ(gravest({}), nullptr);
    const std::vector<ProblemView> both { problem("DS-REPEATED"), problem("DS-DIGEST"), problem("DS-CHAIN-GAP") };
    EXPECT_EQ(gravest(both), &both[1]);
    const std::vector<ProblemView> notices { problem("DS-INFINITE"), problem("DS-UNLISTED") };
    EXPECT_EQ(gravest(notices), &notices[0]);
    const std::vector<ProblemView> unknown { problem("DS-REPEATED"), problem("DS-OF-A-LATER-BUILD") };
    EXPECT_EQ(gravest(unknown), &unknown[1]) << "a code of another build is no notice";
}

TEST(Feed, TellsNoticesApartFromProblems)
{
    RunView run;
    EpochView epoch;
    for (const char* const code : { "DS-REPEATED", "DS-DIGEST" }) {
        StepView step;
        step.step = static_cast<std::int64_t>(epoch.steps.size()) + 1;
        step.kind = "anchor";
        step.state = "complete";
        step.problems = { problem(code) };
        epoch.steps.push_back(std::move(step));
    }
    run.epochs.push_back(std::move(epoch));
    std::vector<std::string> told;
    for (const FeedItemView& item : makeFeed(run, 10)) {
        if (item.kind != "published")
            told.push_back(item.kind + " " + item.text);
    }
    EXPECT_EQ(told, (std::vector<std::string> { "problem DS-DIGEST: text", "notice DS-REPEATED: text" }));
}

} // namespace
} // namespace deltascope::app
