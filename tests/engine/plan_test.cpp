#include "deltascope/engine/plan.h"

#include "golden_copy.h"
#include "support/sanitizer.h"
#include "support/slice.h"
#include "support/test_name.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

// Which way a plan takes where several lead to a version, and what the loss of an object costs.

namespace deltascope {
namespace {

using namespace layout_test;

// --- losses ----------------------------------------------------------------------------------------------------------

using VersionName = std::pair<int, std::int64_t>; ///< epoch and step

struct Rebuilt {
    bool proven = false;
    std::string root; ///< of the state that a replay leads to
};

/// Every version that can be rebuilt, rebuilt.
std::map<VersionName, Rebuilt> rebuiltOf(GoldenRun& golden, const Run& run)
{
    std::map<VersionName, Rebuilt> rebuilt;
    const Planner planner(run);
    for (const Version& version : run.versions) {
        const Result<Plan> plan = planner.planFor(version);
        EXPECT_EQ(plan.has_value(), !version.obstacle) << version.objects.name;
        if (!plan)
            continue;
        const Result<PathPtr> path = openPath(run, *plan, { 2 }, golden.session.task);
        EXPECT_TRUE(path) << path.error().text;
        if (!path)
            continue;
        const auto digest = digestState(golden.session.bench, **path, golden.session.task);
        EXPECT_TRUE(digest) << digest.error().text;
        if (digest)
            rebuilt[{ version.epoch, version.step() }] = { version.proven, toHex(digest->root.fast) };
    }
    return rebuilt;
}

/// How many versions cannot be had any more without an object: they are gone, or obstructed, or doubtful where they
/// were not, or something else is taken for them.
std::uint64_t lostWithout(const std::string& golden, const std::string& key,
                          const std::map<VersionName, Rebuilt>& before)
{
    GoldenRun damaged(golden);
    EXPECT_TRUE(std::filesystem::remove(damaged.file(key)));
    std::map<VersionName, Rebuilt> after;
    if (damaged.open())
        after = rebuiltOf(damaged, damaged.analyzed());
    return static_cast<std::uint64_t>(std::count_if(before.begin(), before.end(), [&](const auto& version) {
        const auto now = after.find(version.first);
        return now == after.end() || (version.second.proven && !now->second.proven)
            || version.second.root != now->second.root;
    }));
}

struct LossCase {
    const char* golden;
    std::uint64_t most; ///< steps that need the object that most of them need
    /// Files that a version can be read without. They count as the version does, for they are a part of it.
    std::set<std::string> unread {};
};

void PrintTo(const LossCase& c, std::ostream* out) { *out << c.golden; }

class LossOfAnObject : public testing::TestWithParam<LossCase> { };

TEST_P(LossOfAnObject, CostsAsManyVersionsAsWereForetold)
{
    const LossCase& c = GetParam();
    GoldenRun whole(c.golden);
    const deltascope::Run run = whole.analyzed();
    const auto rebuilt = rebuiltOf(whole, run);
    const auto foretold = Planner(run).versionsLostByObject();
    std::set<std::string> keys;
    std::map<std::string, std::uint64_t> ofVersion;
    for (const Version& version : run.versions) {
        for (std::size_t form = 0; form < version.forms(); ++form) {
            for (const ObjectInfo& object : version.objectsOf(form).objects)
                keys.insert(object.key);
        }
    }
    std::uint64_t most = 0;
    std::set<std::string> unread;
    const std::vector<std::size_t> trials = test::chosenTrials(foretold.size(), test::UnderSanitizer ? 8 : 4);
    std::size_t at = 0;
    for (const auto& [key, count] : foretold) {
        EXPECT_EQ(keys.erase(key), 1U) << key;
        most = std::max(most, count);
        const std::string file = key.substr(key.rfind('/') + 1);
        const bool isUnread = c.unread.contains(file);
        if (isUnread)
            unread.insert(file);
        if (std::binary_search(trials.begin(), trials.end(), at++)) {
            EXPECT_EQ(lostWithout(c.golden, key, rebuilt), isUnread ? 0 : count) << key;
        }
    }
    EXPECT_TRUE(keys.empty()) << "no count for " << *keys.begin();
    EXPECT_EQ(most, c.most);
    EXPECT_EQ(unread, c.unread);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, LossOfAnObject,
    testing::Values(LossCase { "trl-v2-gap", 9 }, LossCase { "trl-v2-restart", 6 },
                    LossCase { "trl-v2-partial-anchor", 13 }, LossCase { "trl-v2-empty-step", 8 },
                    LossCase { "trl-v2-gap-in-chain", 5 }, LossCase { "trl-v2-truncated", 9 },
                    LossCase { "trl-v1.0", 6 }, LossCase { "slime-v1-indices", 5 }, LossCase { "slime-v2-xor", 9 },
                    LossCase { "slime-v2-gap-in-chain", 3 }, LossCase { "skyrl", 7 },
                    LossCase { "prime-rl", 1, { "model.safetensors.index.json" } }, LossCase { "modelexpress", 5 },
                    LossCase { "grail", 5, { "DELTA", "FULL", "manifest.sig", "snapshot_metadata.json" } },
                    LossCase { "hf-sharded",
                               1,
                               { "config.json", "generation_config.json", "model.safetensors.index.json",
                                 "trainer_state.json", "training_args.bin" } }),
    [](const testing::TestParamInfo<LossCase>& c) { return test::testName(c.param.golden); });

// --- choices ---------------------------------------------------------------------------------------------------------

using Steps = std::vector<std::int64_t>;

Version& at(Run& run, std::int64_t step) { return const_cast<Version&>(*run.find(step)); }

Plan planOf(const Run& run, std::int64_t step, const PlanOptions& options = {})
{
    const Result<Plan> plan = planFor(run, *run.find(step), options);
    EXPECT_TRUE(plan) << plan.error().text;
    return plan.value_or(Plan {});
}

Steps stepsOf(const Run& run, const Plan& plan)
{
    Steps steps;
    for (const PlanLink& link : plan.links)
        steps.push_back(run.versions[link.version].step());
    return steps;
}

/// As if the full form of a step were this large.
void resizeFullForm(Run& run, std::int64_t step, std::uint64_t bytes)
{
    std::vector<ObjectInfo>& objects = at(run, step).objects.otherForms.front().objects;
    for (ObjectInfo& object : objects)
        object.sizeBytes = bytes / objects.size();
}

/// grail: 2700 is there as a delta and in full; the chain before it begins at 2610.
class PlanOfTwoForms : public testing::Test {
protected:
    GoldenRun golden { "grail" };
    deltascope::Run run = golden.analyzed();
};

TEST_F(PlanOfTwoForms, TakesTheOneThatIsLessToRead)
{
    resizeFullForm(run, 2700, 10);
    const Plan small = planOf(run, 2730);
    EXPECT_EQ(stepsOf(run, small), Steps({ 2700, 2730 }));
    EXPECT_EQ(small.links.front().form, 1U);
    EXPECT_LE(small.readBytes, 10 + at(run, 2730).objects.wireBytes());
    resizeFullForm(run, 2700, 100'000'000);
    const Plan large = planOf(run, 2730);
    EXPECT_EQ(stepsOf(run, large), Steps({ 2610, 2640, 2670, 2700, 2730 }));
    EXPECT_FALSE(
        std::any_of(large.links.begin(), large.links.end(), [](const PlanLink& link) { return link.form > 0; }));
}

TEST_F(PlanOfTwoForms, CountsRequestsAsBytes)
{
    // As many bytes as the chain and far fewer objects: only the requests speak for the full form.
    std::uint64_t bytes = 0;
    for (const std::int64_t step : { 2610, 2640, 2670, 2700 })
        bytes += at(run, step).objects.wireBytes();
    const std::uint64_t perRequest = run.store->traits().requestBytes;
    ASSERT_GT(perRequest, 0U);
    const std::size_t objects = at(run, 2700).objectsOf(1).objects.size();
    resizeFullForm(run, 2700, bytes + objects);
    EXPECT_GT(at(run, 2700).objectsOf(1).wireBytes(), bytes);
    EXPECT_EQ(stepsOf(run, planOf(run, 2700)), Steps({ 2700 }));
}

TEST_F(PlanOfTwoForms, TakesTheBetterEvidenceAtAnyPrice)
{
    resizeFullForm(run, 2700, 10);
    at(run, 2700).facts->otherForms.clear(); // nothing compared the full form with the replay
    const Plan plan = planOf(run, 2700);
    EXPECT_EQ(stepsOf(run, plan), Steps({ 2610, 2640, 2670, 2700 }));
    EXPECT_EQ(plan.weakest, Evidence::Root);
    at(run, 2640).facts->rootCheck = VersionFacts::RootCheck::None; // now the chain has no more than the full form
    EXPECT_EQ(stepsOf(run, planOf(run, 2700)), Steps({ 2700 }));
    EXPECT_EQ(planOf(run, 2700).weakest, Evidence::FirstSight);
    EXPECT_EQ(planOf(run, 2610).weakest, Evidence::Root) << "what lies in front of the doubt has none";
}

TEST_F(PlanOfTwoForms, LeadsToTheStateThatIsMeantWhereTheyDiffer)
{
    at(run, 2700).noteForm(1).differs = 1;
    at(run, 2700).facts->rootCheck = VersionFacts::RootCheck::None;
    const Steps chain { 2610, 2640, 2670, 2700 };
    EXPECT_EQ(stepsOf(run, planOf(run, 2700)), chain);
    const Plan trained = planOf(run, 2700, { .state = StateChoice::Trained });
    EXPECT_EQ(trained.links, (std::vector<PlanLink> { { 3, 1 } }));
    EXPECT_EQ(run.versions[3].step(), 2700);
    for (const StateChoice choice : { StateChoice::Served, StateChoice::Trained })
        EXPECT_EQ(stepsOf(run, planOf(run, 2730, { .state = choice })), Steps({ 2610, 2640, 2670, 2700, 2730 }))
            << "its delta was written against the served state";
}

TEST_F(PlanOfTwoForms, OneStateIsMeantEitherWayWhereTheyAgree)
{
    for (const std::int64_t step : { 2670, 2700, 2730 }) {
        EXPECT_EQ(planOf(run, step).links, planOf(run, step, { .state = StateChoice::Trained }).links) << step;
    }
}

TEST_F(PlanOfTwoForms, LosesTheStepsBehindItWithTheChainOnceTheFullFormDiffers)
{
    const std::string delta = at(run, 2640).objects.objects.front().key;
    EXPECT_EQ(Planner(run).versionsLostByObject().at(delta), 2U) << "2640 and 2670";
    at(run, 2700).noteForm(1).differs = 1;
    EXPECT_EQ(Planner(run).versionsLostByObject().at(delta), 7U) << "all behind the anchor";
    EXPECT_EQ(Planner(run, { .state = StateChoice::Trained }).versionsLostByObject().at(delta), 6U)
        << "but the trained state of 2700";
}

TEST(PlanEvidence, IsThatOfTheWeakestForm)
{
    const auto weakest = [](const char* golden, std::int64_t step) {
        GoldenRun run(golden);
        return planOf(run.analyzed(), step).weakest;
    };
    EXPECT_EQ(weakest("trl-v1.0", 5), Evidence::Root);
    EXPECT_EQ(weakest("trl-v2-raw", 10), Evidence::Anchor) << "it agrees with the replay";
    EXPECT_EQ(weakest("trl-v2-raw", 11), Evidence::FirstSight) << "a delta without digest on that anchor";
    EXPECT_EQ(weakest("slime-v2-blake3", 3), Evidence::Base) << "every delta has digests, the base has none";
    EXPECT_EQ(weakest("slime-v2-adler32", 3), Evidence::Weak) << "the same, with a weak digest";
    EXPECT_EQ(weakest("modelexpress", 5), Evidence::Weak) << "an anchor by itself";
    EXPECT_EQ(weakest("trl-v2-empty-step", 9), Evidence::None) << "a number is missing on the way";
}

TEST(PlanEvidence, NothingIsKnownBeforeTheFirstReplay)
{
    GoldenRun golden("grail");
    const auto run = golden.open();
    ASSERT_TRUE(run);
    EXPECT_EQ(planOf(*run, 2700).weakest, Evidence::FirstSight);
}

TEST(PlanAcrossGap, IsMadeOnRequestAndVouchesForNothing)
{
    GoldenRun golden("trl-v2-gap-in-chain");
    const deltascope::Run run = golden.analyzed();
    const Result<Plan> refused = planFor(run, *run.find(8));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::ChainGap);
    EXPECT_EQ(refused.error().step, 7);
    const Plan plan = planOf(run, 8, { .acrossGap = true });
    EXPECT_EQ(stepsOf(run, plan), Steps({ 1, 2, 3, 4, 5, 7, 8 }));
    EXPECT_TRUE(plan.acrossGap);
    EXPECT_TRUE(plan.lossProven);
    EXPECT_EQ(plan.weakest, Evidence::None);
    const Plan behind = planOf(run, 11, { .acrossGap = true });
    EXPECT_EQ(stepsOf(run, behind), Steps({ 10, 11 }));
    EXPECT_FALSE(behind.acrossGap || behind.lossProven);
}

TEST(PlanAcrossGap, MakesTheLossOfAnObjectCostMore)
{
    GoldenRun golden("trl-v2-gap-in-chain");
    const deltascope::Run run = golden.analyzed();
    const std::string first = run.find(1)->objects.objects.front().key;
    EXPECT_EQ(Planner(run).versionsLostByObject().at(first), 5U);
    EXPECT_EQ(Planner(run, { .acrossGap = true }).versionsLostByObject().at(first), 8U) << "and 7, 8 and 9";
}

} // namespace
} // namespace deltascope
