#include "run_steps.h"
#include "support/sanitizer.h"
#include "support/slice.h"
#include "ways_run.h"

#include <cmath>

// Versions that can be had in many ways (WaysRun): each way leads to the same bits, and what is damaged or lost costs
// exactly the steps that no other way leads to.

namespace deltascope {
namespace {

using namespace layout_test;

/// Each trial opens a run of 1,000 versions.
std::vector<std::size_t> chosen(std::size_t count, std::size_t stride)
{
    return test::chosenTrials(count, stride * (test::UnderSanitizer ? 12 : 1));
}

std::set<std::int64_t> reachable(const Run& run, const PlanOptions& options = {})
{
    const Planner planner(run, options);
    std::set<std::int64_t> steps;
    for (const Version& version : run.versions) {
        if (planner.planFor(version))
            steps.insert(version.step());
    }
    return steps;
}

/// The steps that are lost with an object, as the plans foretell it.
std::set<std::int64_t> foretoldLoss(const Run& run, const std::string& key)
{
    PlanOptions options;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        for (std::size_t form = 0; form < run.versions[i].forms(); ++form) {
            if (run.versions[i].objectsOf(form).name == key)
                options.without.push_back({ i, form });
        }
    }
    EXPECT_EQ(options.without.size(), 1U) << key;
    std::set<std::int64_t> lost = reachable(run);
    for (const std::int64_t step : reachable(run, options))
        lost.erase(step);
    EXPECT_EQ(Planner(run).versionsLostByObject().at(key), lost.size()) << key;
    return lost;
}

std::set<std::int64_t> missingFrom(const std::set<std::int64_t>& before, const std::set<std::int64_t>& now)
{
    std::set<std::int64_t> missing;
    std::set_difference(before.begin(), before.end(), now.begin(), now.end(), std::inserter(missing, missing.end()));
    return missing;
}

/// Rebuilds some of the steps that can be, those around `near` among them.
void expectRightStates(WaysRun& ways, const Run& run, std::int64_t near)
{
    const Planner planner(run);
    for (const Version& version : run.versions) {
        if (version.obstacle || (std::abs(version.step() - near) > 2 && version.step() % 97 != near % 97))
            continue;
        const auto plan = planner.planFor(version);
        ASSERT_TRUE(plan) << version.step();
        const auto root = ways.rootAlong(run, *plan);
        ASSERT_TRUE(root) << version.step() << ": " << root.error().text;
        EXPECT_EQ(*root, ways.rootOf(version.step())) << version.step();
    }
}

TEST(Forms, EachOneLeadsToTheStateOfItsStep)
{
    WaysRun ways(1000);
    const auto run = ways.open();
    const Planner planner(run);
    std::size_t forms = 0;
    for (const Version& version : run.versions) {
        for (std::size_t form = 0; form < version.forms(); ++form, ++forms) {
            const auto plan = planner.planOver(version, form);
            ASSERT_TRUE(plan) << version.objectsOf(form).name << ": " << plan.error().text;
            EXPECT_EQ(plan->links.back().form, form);
            const auto root = ways.rootAlong(run, *plan);
            ASSERT_TRUE(root) << version.objectsOf(form).name << ": " << root.error().text;
            EXPECT_EQ(*root, ways.rootOf(version.step())) << version.objectsOf(form).name;
        }
    }
    EXPECT_EQ(forms, ways.keys().size());
}

TEST(Forms, ALadderMakesShortPaths)
{
    WaysRun ways(1000);
    const auto run = ways.open();
    const Planner planner(run);
    for (const Version& version : run.versions) {
        const auto plan = planner.planFor(version);
        ASSERT_TRUE(plan);
        const double most = 1 + 2 * std::log2(static_cast<double>(std::max<std::int64_t>(2, version.step())));
        EXPECT_LE(static_cast<double>(plan->links.size()), most) << version.step();
    }
}

TEST(Forms, EachFallbackOfAPlanLeadsToTheSameState)
{
    WaysRun ways(1000);
    const auto run = ways.open();
    for (const std::size_t at : chosen(run.versions.size(), 53)) {
        const Version& version = run.versions[at];
        const auto best = planFor(run, version);
        ASSERT_TRUE(best);
        for (const PlanLink& link : best->links) {
            PlanOptions options;
            options.without = { link };
            const auto plan = planFor(run, version, options);
            if (!plan)
                continue;
            EXPECT_EQ(std::count(plan->links.begin(), plan->links.end(), link), 0);
            const auto root = ways.rootAlong(run, *plan);
            ASSERT_TRUE(root) << root.error().text;
            EXPECT_EQ(*root, ways.rootOf(version.step())) << version.step();
        }
    }
}

TEST(Forms, ALostObjectCostsExactlyWhatWasForetold)
{
    WaysRun ways(1000);
    const auto sound = ways.open();
    const std::vector<std::string> keys = ways.keys();
    for (const std::size_t at : chosen(keys.size(), 179)) {
        const std::string& key = keys[at];
        const std::set<std::int64_t> foretold = foretoldLoss(sound, key);
        const std::string bytes = ways.read(key);
        ASSERT_TRUE(ways.store->remove(key));
        const auto run = ways.open();
        EXPECT_EQ(missingFrom(reachable(sound), reachable(run)), foretold) << key;
        for (const Version& version : run.versions) {
            if (const auto plan = planFor(run, version); !plan) {
                EXPECT_TRUE(plan.error().step) << version.step();
                EXPECT_FALSE(plan.error().where.empty()) << version.step();
                break; // the same reason for all of them
            }
        }
        expectRightStates(ways, run, WaysLayout::parse(key)->step);
        ASSERT_TRUE(putText(*ways.store, key, bytes));
    }
}

TEST(Forms, TheOnlyWayIsLostWithItsObject)
{
    WaysRun ways(100);
    const auto sound = ways.open();
    const std::string key = WaysRun::deltaKey(7, 6);
    EXPECT_EQ(foretoldLoss(sound, key), (std::set<std::int64_t> { 7 })); // 8 has a delta over 2, 4 and 8 steps
    EXPECT_EQ(foretoldLoss(sound, WaysRun::deltaKey(8, 7)), (std::set<std::int64_t> {}));
    std::set<std::int64_t> untilCopy;
    for (std::int64_t step = 0; step < ways.hub; ++step)
        untilCopy.insert(step);
    EXPECT_EQ(foretoldLoss(sound, WaysRun::fullKey("anchor", 0)), untilCopy);
}

TEST(Forms, AFlippedObjectCostsExactlyWhatWasForetold)
{
    WaysRun ways(200);
    const auto sound = ways.open();
    const std::vector<std::string> keys = ways.keys();
    for (const std::size_t at : chosen(keys.size(), 29)) {
        const std::string& key = keys[at];
        const std::set<std::int64_t> foretold = foretoldLoss(sound, key);
        const std::string bytes = ways.read(key);
        ways.flip(key);
        const auto run = ways.analyzed();
        EXPECT_EQ(missingFrom(reachable(sound), reachable(run)), foretold) << key;
        const std::int64_t step = WaysLayout::parse(key)->step;
        const Version& damaged = layout_test::step(run, step);
        EXPECT_TRUE(std::any_of(damaged.problems.begin(), damaged.problems.end(), [&](const Error& problem) {
            return problem.code == Code::Digest && problem.where == key;
        })) << key;
        expectRightStates(ways, run, step);
        ASSERT_TRUE(putText(*ways.store, key, bytes));
    }
}

/// The root of a step, by whatever way holds.
Result<std::string> rootByAnyWay(WaysRun& ways, const Run& run, std::int64_t step, std::vector<Error>& replaced)
{
    DS_TRY(FallbackPlans plans, FallbackPlans::of(run, *run.find(step)));
    Result<std::string> root = tryPlans(plans, [&](const Plan& plan) { return ways.rootAlong(run, plan); });
    replaced = plans.replaced();
    return root;
}

TEST(Forms, ADigestGoesOnAlongAnotherWayWhereAFormProvesDamaged)
{
    WaysRun ways(100);
    const auto run = ways.open();
    ways.flip(WaysRun::deltaKey(64, 0)); // nothing has read it yet
    std::vector<Error> replaced;
    const auto root = rootByAnyWay(ways, run, 66, replaced);
    ASSERT_TRUE(root) << root.error().text;
    EXPECT_EQ(*root, ways.rootOf(66));
    ASSERT_EQ(replaced.size(), 1U);
    EXPECT_EQ(replaced.front().code, Code::Digest);
    EXPECT_EQ(replaced.front().where, WaysRun::deltaKey(64, 0));
    EXPECT_EQ(replaced.front().step, 64);
    const std::size_t told = replaced.front().text.find("; used instead: ");
    ASSERT_NE(told, std::string::npos) << replaced.front().text;
    EXPECT_NE(replaced.front().text.find("delta_", told), std::string::npos) << replaced.front().text;
    EXPECT_EQ(replaced.front().text.find(WaysRun::deltaKey(64, 0), told), std::string::npos) << replaced.front().text;
}

TEST(Forms, ALostObjectIsGoneAround)
{
    WaysRun ways(100);
    const auto run = ways.open();
    ASSERT_TRUE(ways.store->remove(WaysRun::deltaKey(64, 0)));
    std::vector<Error> replaced;
    const auto root = rootByAnyWay(ways, run, 64, replaced);
    ASSERT_TRUE(root) << root.error().text;
    EXPECT_EQ(*root, ways.rootOf(64));
    ASSERT_EQ(replaced.size(), 1U);
    EXPECT_EQ(replaced.front().code, Code::NotFound);
}

TEST(Forms, WhatNoOtherWayLeadsToIsRefusedByName)
{
    WaysRun ways(100);
    const auto run = ways.open();
    ways.flip(WaysRun::deltaKey(7, 6));
    std::vector<Error> replaced;
    const auto root = rootByAnyWay(ways, run, 7, replaced);
    ASSERT_FALSE(root);
    EXPECT_EQ(root.error().code, Code::Digest);
    EXPECT_EQ(root.error().where, WaysRun::deltaKey(7, 6));
    EXPECT_EQ(root.error().step, 7);
}

TEST(Forms, ARebuildIsNeverMixedFromTwoWays)
{
    WaysRun ways(100);
    const auto run = ways.open();
    ways.flip(WaysRun::deltaKey(64, 0));
    auto plans = FallbackPlans::of(run, *run.find(64));
    ASSERT_TRUE(plans);
    MaterializeOptions options;
    options.destination = ways.session.folder.path("out");
    std::size_t tried = 0;
    const auto report = tryPlans(*plans, [&](const Plan& plan) {
        ++tried;
        options.replaced = plans->replaced();
        return materialize(ways.session.bench, run, *run.find(64), plan, options, ways.session.task);
    });
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(tried, 2U);
    EXPECT_EQ(report->root, ways.rootOf(64));
    EXPECT_EQ(report->resumedBytes, 0U);
    ASSERT_FALSE(report->notices.empty());
    EXPECT_EQ(report->notices.front().where, WaysRun::deltaKey(64, 0));
    EXPECT_EQ(report->proven, report->coverage.isVerified());
    std::size_t folders = 0; // what was begun along the first way is gone
    for (const auto& entry : std::filesystem::directory_iterator(ways.session.folder.path()))
        folders += entry.is_directory() ? 1 : 0;
    EXPECT_EQ(folders, 1U);
}

Verdict verdictOf(const VerifyReport& report, const Run& run, std::int64_t step)
{
    for (const StepVerdict& verdict : report.steps) {
        if (run.versions[verdict.version].step() == step)
            return verdict.verdict;
    }
    ADD_FAILURE() << step;
    return Verdict::Damaged;
}

TEST(Forms, TwoWaysToOtherBitsAreNamedWhereNothingTellsWhichIsRight)
{
    WaysRun ways(40, false);
    ways.session.openRecords();
    ways.flip(WaysRun::deltaKey(16, 8));
    auto run = ways.open();
    VerifyOptions options;
    options.level = 3;
    const auto report = verifyRun(ways.session.bench, run, options, ways.session.task);
    ASSERT_TRUE(report);
    const Version& version = step(run, 16);
    const auto differs = std::find_if(version.problems.begin(), version.problems.end(),
                                      [](const Error& problem) { return problem.code == Code::FormsDiffer; });
    ASSERT_NE(differs, version.problems.end());
    EXPECT_EQ(differs->where, WaysRun::deltaKey(16, 8));
    EXPECT_NE(differs->text.find(WaysRun::deltaKey(16, 15)), std::string::npos) << differs->text;
    EXPECT_EQ(verdictOf(*report, run, 16), Verdict::Unverified);
    EXPECT_LT(verdictOf(*report, run, 12), Verdict::Unverified);
    const auto plan = planFor(run, version);
    ASSERT_TRUE(plan);
    for (const PlanLink& link : plan->links) // what is in doubt is not used where another way is there
        EXPECT_NE(run.versions[link.version].objectsOf(link.form).name, WaysRun::deltaKey(16, 8));
}

TEST(Forms, ARunWhoseWaysAgreeHasNoSuchProblem)
{
    WaysRun ways(40, false);
    auto run = ways.analyzed();
    for (const Version& version : run.versions) {
        EXPECT_EQ(countNotes(version.problems, Code::FormsDiffer), 0U) << version.step();
        for (std::size_t form = 1; form < version.forms(); ++form) {
            ASSERT_TRUE(version.factsOf(form)) << version.objectsOf(form).name;
            EXPECT_EQ(version.factsOf(form)->differs, 0U) << version.objectsOf(form).name;
        }
    }
}

TEST(Forms, TheFactsOfOtherFormsAreRemembered)
{
    WaysRun ways(40);
    ways.session.openCatalog();
    ways.flip(WaysRun::deltaKey(16, 8));
    static_cast<void>(ways.analyzed());
    const auto again = ways.open();
    const Version& version = step(again, 16);
    std::size_t damaged = 0;
    for (std::size_t form = 1; form < version.forms(); ++form) {
        ASSERT_TRUE(version.factsOf(form));
        damaged += version.factsOf(form)->damage ? 1 : 0;
    }
    EXPECT_EQ(damaged, 1U);
}

} // namespace
} // namespace deltascope
