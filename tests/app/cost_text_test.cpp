#include "cli/terminal.h"
#include "cli/text.h"

#include <gtest/gtest.h>

namespace deltascope::cli {
namespace {

bool says(const app::CostView& cost, const std::string& words)
{
    return costText(cost, Style {}).find(words) != std::string::npos;
}

TEST(CostText, NamesTheStepThatIsRebuilt)
{
    app::CostView cost;
    cost.restoreBytes = 1000;
    cost.restoreSeconds = 1;
    cost.restoreStep = 5;
    EXPECT_TRUE(says(cost, "Rebuilding step 5, the newest that can be rebuilt, reads 1.0 kB"));
    cost.epoch = 1;
    EXPECT_TRUE(says(cost, "Rebuilding step 0:5, the newest that can be rebuilt, reads"));
    cost.restoreIsNewest = true;
    EXPECT_TRUE(says(cost, "Rebuilding the newest step reads"));
}

TEST(CostText, SaysWhatIsLeftOut)
{
    app::CostView cost;
    EXPECT_FALSE(says(cost, "left out"));
    cost.broken = 1;
    EXPECT_TRUE(says(cost, "1 broken version left out"));
    cost.broken = 2;
    EXPECT_TRUE(says(cost, "2 broken versions left out"));
}

} // namespace
} // namespace deltascope::cli
