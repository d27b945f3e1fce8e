#include "golden_copy.h"

// Versions with a sparse and a full form (grail): how they are compared, and which one is read.

namespace deltascope {
namespace {

using namespace layout_test;

const std::string Root = "grail/checkpoints/checkpoint-2700/";

bool hasProblem(const Version& version, Code code) { return countNotes(version.problems, code) > 0; }

/// The golden case without any digest of 2700 and the windows behind it, so that only the two forms speak.
void forgetDigests(const GoldenCopy& run, std::vector<int> windows = { 2730, 2790, 2820, 2850 })
{
    std::vector<std::string> keys { Root + "FULL/metadata.json", Root + "DELTA/metadata.json" };
    for (const int window : windows)
        keys.push_back(fmt::format("grail/checkpoints/checkpoint-{}/DELTA/metadata.json", window));
    for (const std::string& key : keys) {
        Json metadata = Json::parse(run.read(key));
        metadata["weights_hash"] = nullptr;
        metadata["file_manifest"] = Json::object();
        run.write(key, metadata.dump());
    }
}

TEST(FullForm, AgreesWithItsDeltaAndIsReadInItsPlace)
{
    GoldenRun run("grail");
    const auto opened = run.analyzed();
    const Version& version = *opened.find(2700);
    EXPECT_EQ(version.kind, VersionKind::Delta);
    EXPECT_EQ(version.fullFormDiffers(), 0U);
    EXPECT_EQ(version.facts->rootCheck, VersionFacts::RootCheck::Matches);
    EXPECT_TRUE(version.problems.empty());
    const auto plan = planFor(opened, version);
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->links.size(), 1U);
    EXPECT_EQ(plan->links.front().form, 1U);
    const auto next = planFor(opened, *opened.find(2730));
    EXPECT_EQ(next->links.size(), 2U); // from the full form on
}

TEST(FullForm, StandsWhereTheChainBeforeItIsGone)
{
    GoldenRun run("grail");
    for (const char* window : { "2610", "2640", "2670" })
        std::filesystem::remove_all(run.file(fmt::format("grail/checkpoints/checkpoint-{}", window)));
    const auto opened = run.analyzed();
    const Version& version = *opened.find(2700);
    EXPECT_FALSE(version.obstacle);
    EXPECT_TRUE(version.ownFormObstacle.has_value());
    EXPECT_TRUE(hasProblem(version, Code::Retired)) << "that is how retention looks";
    EXPECT_FALSE(version.facts->replayed);
    EXPECT_TRUE(run.digest(opened, 2850, StateChoice::Served));
}

TEST(FullForm, IsNotUsedOnceItIsDamaged)
{
    GoldenRun run("grail");
    const std::string key = Root + "FULL/model.safetensors";
    run.flip(key, run.read(key).size() - 5);
    const auto opened = run.analyzed();
    const Version& version = *opened.find(2700);
    ASSERT_TRUE(version.factsOf(1)->damage);
    EXPECT_EQ(version.factsOf(1)->damage->code, Code::Digest);
    EXPECT_EQ(version.factsOf(1)->damage->where, key);
    EXPECT_FALSE(version.obstacle); // its delta is sound
    const auto plan = planFor(opened, version);
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->links.back().form == 1U);
    EXPECT_TRUE(run.digest(opened, 2730, StateChoice::Trained));
}

TEST(FullForm, IsRefusedWhereOnlyTheDeltaHasTheRecordedDigest)
{
    GoldenRun run("grail");
    const std::string key = Root + "FULL/model.safetensors";
    run.flip(key, run.read(key).size() - 5);
    Json metadata = Json::parse(run.read(Root + "FULL/metadata.json"));
    metadata["weights_hash"] = nullptr;
    metadata["file_manifest"] = Json::object();
    run.write(Root + "FULL/metadata.json", metadata.dump());
    const auto opened = run.analyzed();
    const Version& version = *opened.find(2700);
    EXPECT_EQ(version.factsOf(1)->differs, 1U);
    ASSERT_TRUE(version.factsOf(1)->damage);
    EXPECT_EQ(version.factsOf(1)->damage->code, Code::Digest);
    EXPECT_FALSE(planFor(opened, version)->links.back().form == 1U);
}

TEST(FullForm, LeavesTwoStatesWhereNothingTellsWhichIsRight)
{
    GoldenRun run("grail");
    forgetDigests(run);
    const std::string key = Root + "FULL/model.safetensors";
    run.flip(key, run.read(key).size() - 5);
    const auto opened = run.analyzed();
    const Version& version = *opened.find(2700);
    EXPECT_EQ(version.fullFormDiffers(), 1U);
    EXPECT_FALSE(version.factsOf(1)->damage);
    EXPECT_TRUE(hasProblem(version, Code::AnchorDrift));
    const std::size_t at = static_cast<std::size_t>(&version - opened.versions.data());
    ASSERT_TRUE(driftAt(opened, at));
    EXPECT_EQ(driftAt(opened, at)->estimate, 1U);
    const auto served = run.digest(opened, 2700, StateChoice::Served);
    const auto trained = run.digest(opened, 2700, StateChoice::Trained);
    ASSERT_TRUE(served && trained);
    EXPECT_NE(toHex(served->root.fast), toHex(trained->root.fast));
    for (const TensorDigest& tensor : served->tensors)
        EXPECT_EQ((*Golden("grail").step(2700))["tensors"][tensor.tensor.name]["sha256"], toHex(tensor.sha256.value()));
}

TEST(FullForm, RaisesTheAlarmWhereItIsFurtherAwayThanDeltasExplain)
{
    GoldenRun run("grail");
    const std::string key = Root + "FULL/model.safetensors";
    std::string file = run.read(key);
    const std::size_t data = 8 + loadLe<std::uint64_t>(asBytes(file), 0);
    for (std::size_t at = data; at < file.size(); at += 2)
        file[at] = static_cast<char>(file[at] ^ 1);
    run.write(key, file);
    for (const bool isProven : { true, false }) {
        forgetDigests(run, { isProven ? 2730 : 2670, 2730, 2790, 2820, 2850 });
        const auto opened = run.analyzed();
        const auto alarmAt = [&](std::int64_t step) { return opened.find(step)->driftAlarm; };
        EXPECT_TRUE(alarmAt(2700));
        EXPECT_EQ(alarmAt(2670), !isProven); // one of the deltas, or the full form: the files do not tell
        EXPECT_FALSE(alarmAt(2730));
        EXPECT_FALSE(alarmAt(opened.versions.front().step()));
    }
}

TEST(FullForm, IsReadWhereItsDeltaIsDamaged)
{
    GoldenRun run("grail");
    const std::string key = Root + "DELTA/delta_sparse.bin.zst";
    run.flip(key, run.read(key).size() / 2);
    const auto opened = run.analyzed();
    const Version& version = *opened.find(2700);
    EXPECT_FALSE(version.obstacle);
    EXPECT_TRUE(version.ownFormObstacle.has_value());
    EXPECT_TRUE(hasProblem(version, Code::Digest));
    EXPECT_FALSE(opened.find(2730)->obstacle);
}

TEST(FullForm, MakesItsStepDamagedAndNoOther)
{
    GoldenRun run("grail");
    const std::string key = Root + "FULL/model.safetensors";
    run.flip(key, run.read(key).size() - 5);
    for (const int level : { 2, 3, 4 }) {
        auto opened = run.open();
        ASSERT_TRUE(opened);
        const auto report = run.verify(*opened, level);
        ASSERT_TRUE(report) << report.error().text;
        for (const StepVerdict& step : report->steps) {
            const bool isIts = opened->versions[step.version].step() == 2700;
            EXPECT_EQ(step.verdict == Verdict::Damaged, isIts) << level << ' ' << step.version;
        }
    }
}

/// The full form of 2610 once more as that of 2700.
void repeatFullForm(const GoldenCopy& run)
{
    const std::string older = "grail/checkpoints/checkpoint-2610/FULL/";
    run.write(Root + "FULL/model.safetensors", run.read(older + "model.safetensors"));
    Json metadata = Json::parse(run.read(older + "metadata.json"));
    metadata["window"] = 2700;
    run.write(Root + "FULL/metadata.json", metadata.dump());
}

void expectGolden(const CheckpointDigest& digest, std::int64_t window)
{
    for (const TensorDigest& tensor : digest.tensors)
        EXPECT_EQ((*Golden("grail").step(window))["tensors"][tensor.tensor.name]["sha256"],
                  toHex(tensor.sha256.value()))
            << window;
}

TEST(FullForm, IsNotOfItsStepWhereOnlyTheDeltaLeadsToTheDigestsBehind)
{
    GoldenRun run("grail");
    repeatFullForm(run);
    const auto opened = run.analyzed();
    const Version& version = *opened.find(2700);
    ASSERT_TRUE(version.factsOf(1)->damage);
    EXPECT_EQ(version.factsOf(1)->damage->code, Code::Digest);
    EXPECT_EQ(version.factsOf(1)->damage->where, Root + "FULL");
    EXPECT_EQ(opened.latest()->step(), 2850);
    for (const std::int64_t window : { 2670, 2700, 2730, 2850 }) {
        const auto digest = run.digest(opened, window, StateChoice::Served);
        ASSERT_TRUE(digest) << digest.error().text;
        expectGolden(*digest, window);
    }
    const auto again = run.open(); // what was decided is remembered
    ASSERT_TRUE(again);
    EXPECT_EQ(again->latest()->step(), 2850);
}

TEST(FullForm, IsRightWhereOnlyItLeadsToTheDigestsBehind)
{
    GoldenRun run("grail");
    // The delta of 2670 once more as that of 2700: it changes nothing, and has the digest that fits that.
    const std::string older = "grail/checkpoints/checkpoint-2670/DELTA/";
    for (const char* file : { "delta_sparse.bin.zst", "delta_metadata.json" })
        run.write(Root + "DELTA/" + file, run.read(older + file));
    Json metadata = Json::parse(run.read(older + "metadata.json"));
    metadata["window"] = 2700;
    metadata["prev_window"] = 2670;
    run.write(Root + "DELTA/metadata.json", metadata.dump());
    const auto opened = run.analyzed();
    const Version& version = *opened.find(2700);
    ASSERT_TRUE(version.ownFormObstacle);
    EXPECT_EQ(version.ownFormObstacle->where, Root + "DELTA");
    for (const std::int64_t window : { 2670, 2700, 2730, 2850 }) {
        const auto digest = run.digest(opened, window, StateChoice::Served);
        ASSERT_TRUE(digest) << digest.error().text;
        expectGolden(*digest, window);
    }
}

TEST(FullForm, IsLeftOutOfARebuildWhereADigestBehindItFails)
{
    GoldenRun run("grail");
    repeatFullForm(run);
    const auto opened = run.open(); // nothing was compared before
    ASSERT_TRUE(opened);
    auto plans = FallbackPlans::of(*opened, *opened->find(2850));
    ASSERT_TRUE(plans);
    EXPECT_EQ(plans->plan().links.front().form, 1U);
    const auto digest = tryPlans(*plans, [&](const Plan& plan) -> Result<CheckpointDigest> {
        DS_TRY(const PathPtr path, openPath(*opened, plan, { 2 }, run.session.task));
        return digestState(run.session.bench, *path, run.session.task);
    });
    ASSERT_TRUE(digest) << digest.error().text;
    expectGolden(*digest, 2850);
    ASSERT_EQ(plans->replaced().size(), 1U);
    EXPECT_EQ(plans->replaced().front().where, Root + "FULL");
}

TEST(FullForm, IsRememberedWithTheFactsOfItsVersion)
{
    GoldenRun run("grail");
    const std::string key = Root + "FULL/model.safetensors";
    run.flip(key, run.read(key).size() - 5);
    static_cast<void>(run.analyzed());
    const auto again = run.open();
    ASSERT_TRUE(again);
    ASSERT_TRUE(again->find(2700)->facts);
    EXPECT_TRUE(again->find(2700)->factsOf(1)->damage);
}

TEST(Lossy, IsNeverCalledVerified)
{
    // A window of the first days: F32 differences beside a BF16 model.
    GoldenRun run("grail");
    const std::string window = "grail/checkpoints/checkpoint-2640/";
    for (const char* other : { "2670", "2700", "2730", "2790", "2820", "2850" })
        std::filesystem::remove_all(run.file(fmt::format("grail/checkpoints/checkpoint-{}", other)));
    std::filesystem::remove(run.file(window + "DELTA/delta_sparse.bin.zst"));
    std::filesystem::remove(run.file(window + "DELTA/delta_metadata.json"));
    run.write(window + "DELTA/delta_sparse.safetensors",
              safetensorsFile({ { tensor("model.norm.weight.indices", { 1 }, Dtype::I32), fromHex("00000000") },
                                { tensor("model.norm.weight.values", { 1 }, Dtype::F32), fromHex("0000803b") } }));
    Json metadata = Json::parse(run.read(window + "DELTA/metadata.json"));
    metadata["file_manifest"] = Json::object(); // and the digest of another state stays
    metadata["weights_hash"] = std::string(32, '0');
    run.write(window + "DELTA/metadata.json", metadata.dump());
    metadata["weights_hash"] = run.analyzed().find(2640)->facts->actualRoot; // now it matches, and proves nothing still
    run.write(window + "DELTA/metadata.json", metadata.dump());
    auto opened = run.analyzed();
    const Version& version = *opened.find(2640);
    EXPECT_EQ(version.facts->rootCheck, VersionFacts::RootCheck::Matches);
    EXPECT_TRUE(version.lossy);
    EXPECT_FALSE(version.obstacle) << version.obstacle->text;
    EXPECT_TRUE(hasProblem(version, Code::Lossy));
    const auto report = run.verify(opened, 4);
    ASSERT_TRUE(report);
    EXPECT_GE(report->steps.back().verdict, Verdict::FirstSight);
    EXPECT_TRUE(planFor(opened, *opened.find(2640))->lossy);
}

} // namespace
} // namespace deltascope
