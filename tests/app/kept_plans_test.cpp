#include "monitor/kept_plans.h"

#include <gtest/gtest.h>

// Plans that may be started, and how many there can be.

namespace deltascope::app {
namespace {

BoundPlan plan(std::size_t bytes = 10)
{
    BoundPlan plan;
    plan.view.title = std::string(bytes, 'x');
    plan.view.hash = "h";
    return plan;
}

bool has(const KeptPlans& plans, const PlanView& view) { return plans.find(view.id, "h").has_value(); }

TEST(KeptPlans, AreFoundByIdAndHash)
{
    KeptPlans plans;
    const PlanView first = plans.add(plan(), "kim").value();
    const PlanView second = plans.add(plan(), "kim").value();
    EXPECT_NE(first.id, second.id);
    EXPECT_TRUE(has(plans, first) && has(plans, second));
    EXPECT_EQ(plans.find(first.id, "g").error().code, Code::Rewritten);
    EXPECT_EQ(plans.find("p99", "h").error().code, Code::NotFound);
}

TEST(KeptPlans, WhoMakesTooManyLosesHisOwnOldest)
{
    KeptPlans plans;
    const PlanView lees = plans.add(plan(), "lee").value();
    std::vector<PlanView> kims;
    for (std::size_t i = 0; i < KeptPlans::MostOfOne + 2; ++i)
        kims.push_back(plans.add(plan(), "kim").value());
    EXPECT_FALSE(has(plans, kims[0]) || has(plans, kims[1]));
    for (std::size_t i = 2; i < kims.size(); ++i)
        EXPECT_TRUE(has(plans, kims[i])) << i;
    EXPECT_TRUE(has(plans, lees));
}

TEST(KeptPlans, LargePlansAreFewer)
{
    KeptPlans plans;
    const PlanView lees = plans.add(plan(KeptPlans::MostBytesOfOne / 2), "lee").value();
    std::vector<PlanView> kims;
    for (int i = 0; i < 5; ++i)
        kims.push_back(plans.add(plan(KeptPlans::MostBytesOfOne / 4), "kim").value());
    EXPECT_FALSE(has(plans, kims[1])) << "four quarters and what each plan takes besides are too much";
    EXPECT_TRUE(has(plans, kims[2]) && has(plans, kims[4]) && has(plans, lees));
}

TEST(KeptPlans, WhatIsTooLargeForAnybodyIsRefused)
{
    KeptPlans plans;
    EXPECT_EQ(plans.add(plan(KeptPlans::MostBytesOfOne), "kim").error().code, Code::Usage);
    BoundPlan verify = plan();
    verify.request = VerifyArgs { std::string(KeptPlans::MostBytesOfOne / 2, '1') };
    EXPECT_EQ(plans.add(std::move(verify), "kim").error().code, Code::Usage) << "it is kept twice";
}

TEST(KeptPlans, APlanThatItsJobMakesLargeStaysAndTheOldestOfItsPrincipalGo)
{
    KeptPlans plans;
    const PlanView lees = plans.add(plan(), "lee").value();
    const PlanView oldest = plans.add(plan(KeptPlans::MostBytesOfOne / 4), "kim").value();
    BoundPlan growing = plan();
    growing.complete = [](PlanView& view, const JobResult&) {
        view.warnings.emplace_back(KeptPlans::MostBytesOfOne / 2, 'w');
    };
    const PlanView grown = plans.add(std::move(growing), "kim", [] { return JobId { 7 }; }).value();
    const PlanView newest = plans.add(plan(KeptPlans::MostBytesOfOne / 4), "kim").value();
    ASSERT_TRUE(plans.takeEnd(JobId { 7 }, JobResult()));
    EXPECT_FALSE(has(plans, oldest));
    EXPECT_TRUE(has(plans, grown) && has(plans, newest) && has(plans, lees));
}

TEST(KeptPlans, ManyPrincipalsAreBoundedToo)
{
    KeptPlans plans;
    const PlanView first = plans.add(plan(), "0").value();
    for (std::size_t i = 1; i < KeptPlans::Most; ++i)
        EXPECT_TRUE(plans.add(plan(), std::to_string(i)));
    EXPECT_TRUE(has(plans, first));
    EXPECT_TRUE(plans.add(plan(), "one more"));
    EXPECT_FALSE(has(plans, first));
}

}
}
