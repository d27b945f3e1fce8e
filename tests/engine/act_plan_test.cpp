#include "deltascope/engine/act_plan.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace deltascope {
namespace {

ActPlan somePlan()
{
    ActPlan plan;
    plan.kind = "rollback";
    plan.arguments = { { "epoch", "0" }, { "step", "12" } };
    plan.reads = { { {}, "anchors/step_000010", "id1", 100 }, { "file:///base", "model", "id2", 50 } };
    plan.writes = { { {}, "deltas/step_000016", {}, 0 } };
    plan.beside = { { "journal", "2" } };
    plan.effects = { { "newest step", "15 to 16" } };
    plan.undo = "rollback";
    return plan;
}

TEST(ActPlan, EveryFactIsInItsHash)
{
    const std::string hash = somePlan().hash();
    EXPECT_EQ(hash.size(), 64U);
    EXPECT_EQ(somePlan().hash(), hash);
    std::vector<ActPlan> others(11, somePlan());
    others[0].kind = "prune";
    others[1].arguments[1].second = "13";
    others[2].reads[0].identity = "id3";
    others[3].reads[0].bytes = 101;
    others[4].reads[1].store = "file:///other";
    others[5].writes[0].key = "deltas/step_000017";
    others[6].deletes = others[6].writes;
    others[7].beside[0].value = "3";
    others[8].effects[0].value = "15 to 17";
    others[9].undo.clear();
    others[10].reads.pop_back();
    for (const ActPlan& other : others) {
        EXPECT_NE(other.hash(), hash);
        EXPECT_EQ(std::count_if(others.begin(), others.end(),
                                [&](const ActPlan& each) { return each.hash() == other.hash(); }),
                  1);
    }
}

TEST(ActPlan, WordsAndTheOrderOfObjectsAreNotInItsHash)
{
    ActPlan plan = somePlan();
    std::reverse(plan.reads.begin(), plan.reads.end());
    plan.unknown = { "who loads it" };
    plan.warnings = { Error { Code::Unsupported, "careful", {}, {}, {} } };
    EXPECT_EQ(plan.hash(), somePlan().hash());
    EXPECT_EQ(plan.readBytes(), 150U);
}

TEST(ActPlan, PartsThatRunIntoEachOtherAreOtherPlans)
{
    ActPlan a = somePlan();
    ActPlan b = somePlan();
    a.arguments = { { "step", "12" } };
    b.arguments = { { "step1", "2" } };
    EXPECT_NE(a.hash(), b.hash());
}

}
} // namespace deltascope
