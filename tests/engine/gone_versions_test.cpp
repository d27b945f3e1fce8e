#include "golden_copy.h"
#include "publish/run_end.h"
#include "run_steps.h"
#include "support/forwarding_store.h"
#include "support/test_name.h"

#include <algorithm>

// Versions that are on record or in the catalog, and that the source does not hold any more.

namespace deltascope {
namespace {

using namespace layout_test;
using Loss = GoneVersion::Loss;

void removeVersion(const GoldenRun& run, const VersionObjects& version)
{
    for (const ObjectInfo& object : version.objects)
        std::filesystem::remove(run.file(object.key));
    for (const VersionObjects& form : version.otherForms)
        removeVersion(run, form);
}

bool mentions(const std::vector<Error>& problems, Code code, std::int64_t step)
{
    return std::any_of(problems.begin(), problems.end(),
                       [&](const Error& problem) { return problem.code == code && problem.step == step; });
}

/// Everything is on record.
deltascope::Run recorded(GoldenRun& run)
{
    auto opened = run.open();
    EXPECT_TRUE(opened);
    const auto report = run.verify(*opened, 3);
    EXPECT_TRUE(report);
    return std::move(*opened);
}

/// The first delta behind which a delta stands that has no complete form.
const Version* deltaThatIsNeeded(const deltascope::Run& run)
{
    for (std::size_t i = 0; i + 1 < run.versions.size(); ++i) {
        const Version& next = run.versions[i + 1];
        if (run.versions[i].kind == VersionKind::Delta && next.kind == VersionKind::Delta && next.otherForms.empty())
            return &run.versions[i];
    }
    return nullptr;
}

class GoneVersions : public testing::TestWithParam<const char*> { };

TEST_P(GoneVersions, TheNewestIsMissed)
{
    GoldenRun run(GetParam());
    const deltascope::Run before = recorded(run);
    ASSERT_TRUE(before.gone.empty());
    const std::int64_t newest = before.versions.back().step();
    removeVersion(run, before.versions.back().objects);
    auto after = run.open();
    ASSERT_TRUE(after);
    ASSERT_EQ(after->gone.size(), 1U);
    EXPECT_EQ(after->gone[0].step, newest);
    EXPECT_EQ(after->gone[0].loss, Loss::Newest);
    EXPECT_TRUE(mentions(after->problems, Code::Vanished, newest));
    EXPECT_TRUE(mentions(after->events, Code::Vanished, newest));
    const auto report = run.verify(*after, 2);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict == Verdict::Incomplete, !after->layout->standAlone());
}

TEST_P(GoneVersions, WhatBuildsOnOneCannotBeRebuilt)
{
    GoldenRun run(GetParam());
    const deltascope::Run before = recorded(run);
    const Version* needed = deltaThatIsNeeded(before);
    if (!needed)
        return; // every version stands alone or has a complete form
    removeVersion(run, needed->objects);
    auto after = run.open();
    ASSERT_TRUE(after);
    ASSERT_EQ(after->gone.size(), 1U);
    EXPECT_EQ(after->gone[0].loss, Loss::Needed);
    EXPECT_TRUE(mentions(after->problems, Code::Vanished, needed->step()));
    const auto behind = std::find_if(after->versions.begin(), after->versions.end(),
                                     [&](const Version& version) { return version.step() > needed->step(); });
    ASSERT_TRUE(behind->obstacle);
    EXPECT_EQ(behind->obstacle->code, Code::Vanished);
    EXPECT_EQ(behind->obstacle->step, needed->step());
    for (const Version& version : after->versions)
        EXPECT_TRUE(version.step() > needed->step() || !version.obstacle) << version.step();
}

TEST_P(GoneVersions, DoNotExcuseThatWhatBuildsOnThemCannotBeRead)
{
    GoldenRun run(GetParam());
    const deltascope::Run before = recorded(run);
    const Version* needed = deltaThatIsNeeded(before);
    if (!needed)
        return; // every version stands alone or has a complete form
    removeVersion(run, needed->objects);
    const Version& next = *(needed + 1);
    for (const ObjectInfo& object : next.objects.objects)
        std::filesystem::resize_file(run.file(object.key), 3);
    auto after = run.open();
    ASSERT_TRUE(after);
    const Version* behind = after->find(next.step());
    ASSERT_TRUE(behind && behind->failure && behind->obstacle);
    EXPECT_FALSE(behind->lossProven);
    const auto plan = planFor(*after, *behind, { .acrossGap = true });
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, behind->failure->code);
    const auto report = run.verify(*after, 3);
    ASSERT_TRUE(report);
    EXPECT_GE(report->verdict, Verdict::Incomplete);
}

TEST_P(GoneVersions, AreNotMissedOnceAUserAcceptsIt)
{
    GoldenRun run(GetParam());
    const deltascope::Run before = recorded(run);
    removeVersion(run, before.versions.back().objects);
    OpenOptions accepting;
    accepting.base = run.base;
    accepting.acceptLosses = true;
    ASSERT_TRUE(openRun(run.session.bench, localStore(run.bucket()), accepting, run.session.task));
    EXPECT_TRUE(run.open()->gone.empty());
}

TEST_P(GoneVersions, OneObjectOfOneIsMissedAndNotAwaited)
{
    std::size_t objects = 2;
    for (std::size_t at = 0; at < objects; ++at) {
        GoldenRun run(GetParam());
        const deltascope::Run before = recorded(run);
        const VersionObjects& newest = before.versions.back().objects;
        objects = newest.objects.size();
        if (objects < 2)
            return; // it is gone without it
        SCOPED_TRACE(newest.objects[at].key);
        std::filesystem::remove(run.file(newest.objects[at].key));
        for (const bool isFirstLook : { true, false }) {
            auto after = run.open();
            ASSERT_TRUE(after);
            const Version* cut = after->find(newest.step);
            ASSERT_TRUE(cut) << isFirstLook;
            ASSERT_TRUE(cut->obstacle) << isFirstLook;
            EXPECT_EQ(cut->obstacle->code, Code::Vanished) << isFirstLook << ": " << cut->obstacle->text;
            EXPECT_EQ(cut->state, VersionState::Broken);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, GoneVersions,
                         testing::Values("trl-v1.0", "trl-v1.1", "trl-v1.2", "trl-v2-gap", "slime-v2-xor",
                                         "slime-v2-overwrite", "slime-v1-indices", "skyrl", "modelexpress", "grail",
                                         "prime-rl", "hf-sharded", "trl-adapter"),
                         [](const auto& info) { return test::testName(info.param); });

TEST(GoneVersion, InFrontOfTheNewestAnchorIsRetention)
{
    GoldenRun run("trl-v2-gap");
    const deltascope::Run before = recorded(run);
    for (const Version& version : before.versions) {
        if (version.step() < 10)
            removeVersion(run, version.objects);
    }
    auto after = run.open();
    ASSERT_TRUE(after);
    EXPECT_EQ(after->gone.size(), 9U);
    EXPECT_EQ(countNotes(after->problems, Code::Vanished), 0U);
    EXPECT_EQ(countNotes(after->problems, Code::Retired), 1U);
    const auto report = run.verify(*after, 3);
    EXPECT_EQ(report->verdict, Verdict::FirstSight);
}

TEST(GoneVersion, ThatTheCatalogAloneKnowsIsMissedToo)
{
    GoldenRun run("trl-v2-gap");
    ASSERT_TRUE(run.open());
    std::filesystem::remove(run.file("deltas/step_000015.safetensors"));
    EXPECT_TRUE(mentions(run.open()->problems, Code::Vanished, 15));
}

TEST(GoneVersion, ThatOnlyAListingLacksIsNot)
{
    class Forgetful final : public test::ForwardingStore {
    public:
        using test::ForwardingStore::ForwardingStore;
        Result<ListPage> list(const ListRequest& request, TaskContext& task) const override
        {
            auto page = test::ForwardingStore::list(request, task);
            if (page && request.prefix.empty())
                std::erase_if(page->objects,
                              [](const ObjectInfo& object) { return object.key.find("000015") != std::string::npos; });
            return page;
        }
    };
    GoldenRun run("trl-v2-gap");
    recorded(run);
    const auto opened = run.session.open(std::make_shared<Forgetful>(localStore(run.bucket())));
    ASSERT_TRUE(opened);
    EXPECT_TRUE(opened->gone.empty());
}

TEST(GoneVersion, MayBeOneObjectOfAVersionThatIsThere)
{
    GoldenRun run("slime-v1-indices");
    const deltascope::Run before = recorded(run);
    const auto version = std::find_if(before.versions.begin(), before.versions.end(),
                                      [](const Version& one) { return one.objects.objects.size() > 1; });
    ASSERT_NE(version, before.versions.end());
    std::filesystem::remove(run.file(version->objects.objects.back().key));
    auto after = run.open();
    ASSERT_TRUE(after);
    const Version& cut = step(*after, version->step());
    ASSERT_TRUE(cut.obstacle);
    EXPECT_EQ(cut.obstacle->code, Code::Vanished);
}

TEST(GoneVersion, IsNotAPartThatWasNeverThere)
{
    GoldenRun run("prime-rl");
    std::filesystem::remove(run.file("run_default/broadcasts/step_4/STABLE"));
    recorded(run);
    const auto opened = run.open();
    EXPECT_EQ(step(*opened, 4).failure->code, Code::Unfinished);
}

TEST(GoneVersion, IsNotAPartOfWhatATrainerWritesAgain)
{
    for (const bool hasSameBytes : { true, false }) {
        GoldenRun run("prime-rl");
        const deltascope::Run before = recorded(run);
        for (const ObjectInfo& object : before.versions.back().objects.objects) {
            const std::string bytes = run.read(object.key);
            if (object.key.ends_with("/STABLE"))
                std::filesystem::remove(run.file(object.key));
            else if (hasSameBytes)
                run.write(object.key, bytes);
            else
                run.flip(object.key, bytes.size() - 1);
        }
        const auto opened = run.open();
        EXPECT_EQ(step(*opened, 4).failure->code, Code::Unfinished) << hasSameBytes;
    }
}

TEST(GoneVersion, ThatLostItsIndexIsNoLeftoverThatAPublisherReplaces)
{
    GoldenRun run("slime-v2-xor");
    recorded(run);
    std::filesystem::remove(run.file("weight_v000009/model.safetensors.index.json"));
    PublishOptions options;
    options.layout = "slime-v2";
    OpenOptions how;
    how.layout = options.layout;
    how.base = run.base;
    const auto writers = WriterChoice::of(options, {});
    ASSERT_TRUE(writers);
    const auto end = findRunEnd(run.session.bench, run.store, how, options, *writers, run.session.task);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, Code::Vanished) << end.error().text;
}

TEST(GoneVersion, OfASourceThatIsEmptyNowIsMissedFromTheRecordsAlone)
{
    GoldenRun run("hf-sharded");
    const deltascope::Run before = recorded(run);
    for (const Version& version : before.versions)
        removeVersion(run, version.objects);
    Session without; // a cache that was emptied
    without.bench.records = run.session.bench.records;
    const auto opened = without.open(localStore(run.bucket()));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::ListSuspect);
}

// --- records --------------------------------------------------------------------------------------------------------

class LostRecords : public testing::TestWithParam<const char*> { };

TEST_P(LostRecords, AreReportedAndActsRefuseUntilTheyBeginAgain)
{
    GoldenRun run(GetParam());
    recorded(run);
    std::filesystem::remove(run.session.folder.path("records.sqlite"));
    run.session.openRecords();
    auto opened = run.open();
    ASSERT_TRUE(opened);
    ASSERT_TRUE(opened->recordsLost);
    EXPECT_NE(opened->recordsLost->text.find("are lost"), std::string::npos) << opened->recordsLost->text;
    EXPECT_EQ(countNotes(opened->problems, Code::Catalog), 1U);
    const Plan plan = planFor(*opened, *opened->find(3)).value();
    const auto refused = openChecked(run.session.bench, *opened, plan, false, run.session.task);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Catalog);
    EXPECT_EQ(run.verify(*opened, 2)->verdict, Verdict::Unverified);
    EXPECT_TRUE(run.open()->recordsLost) << "a verification alone does not begin new records";

    OpenOptions accepting;
    accepting.acceptLosses = true;
    accepting.base = run.base;
    ASSERT_TRUE(openRun(run.session.bench, localStore(run.bucket()), accepting, run.session.task));
    EXPECT_FALSE(run.open()->recordsLost);
}

INSTANTIATE_TEST_SUITE_P(All, LostRecords, testing::Values("trl-v2-gap", "slime-v2-xor"), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(LostRecordsAlone, AreNotAnEmptiedCacheNorANewMachine)
{
    GoldenRun run("trl-v2-gap");
    recorded(run);
    std::filesystem::remove(run.session.folder.path("catalog.sqlite"));
    run.session.openCatalog();
    EXPECT_FALSE(run.open()->recordsLost);
    Session other;
    other.openCatalog();
    other.openRecords();
    EXPECT_FALSE(other.open(localStore(run.bucket()))->recordsLost);
    EXPECT_FALSE(other.open(localStore(run.bucket()))->recordsLost);
}

} // namespace
} // namespace deltascope
