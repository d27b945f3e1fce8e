#include "service/address.h"

#include "support/memory_store.h"
#include "support/temp_dir.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

// How people name versions: SOURCE@STEP and what may stand behind the @.

namespace deltascope::app {
namespace {

using test::TempDir;

struct Split {
    std::string source;
    std::string version;
    bool operator==(const Split&) const = default;
};

void PrintTo(const Split& split, std::ostream* out) { *out << split.source << " | " << split.version; }

Split split(const std::string& address)
{
    const VersionRequest request = VersionRequest::parse(address);
    return { request.source.source.text(), request.version };
}

TEST(AddressSplit, APlainPathHasNoVersion)
{
    EXPECT_EQ(split("/runs/one"), (Split { "/runs/one", "" }));
    EXPECT_EQ(split("hf://buckets/me/run/prefix"), (Split { "hf://buckets/me/run/prefix", "" }));
    EXPECT_EQ(split(""), (Split { "", "" }));
}

TEST(AddressSplit, EveryKindOfVersionIsTakenOff)
{
    for (const char* version : { "12", "0", "latest", "latest~3", "anchor", "0:12", "3..9", "0:3..9", "0:3..0:9" })
        EXPECT_EQ(split(std::string("hf://buckets/me/run@") + version), (Split { "hf://buckets/me/run", version }));
}

TEST(AddressSplit, TheLastAtSeparates)
{
    EXPECT_EQ(split("s3://user@host/run@7"), (Split { "s3://user@host/run", "7" }));
    EXPECT_EQ(split("s3://b/a@3@latest"), (Split { "s3://b/a@3", "latest" }));
}

TEST(AddressSplit, AnAtInsideAnExistingPathSeparatesNothing)
{
    const TempDir folder;
    std::filesystem::create_directories(folder.path("me@home/run"));
    EXPECT_EQ(split(folder.path("me@home/run")), (Split { folder.path("me@home/run"), "" }));
    EXPECT_EQ(split(folder.path("me@home/run@5")), (Split { folder.path("me@home/run"), "5" }));
}

TEST(AddressSplit, AnAtInAFileAddressIsLookedForWhereItLeads)
{
    const TempDir folder;
    std::filesystem::create_directories(folder.path("run@5"));
    const std::string uri = "file://" + folder.path("run@5");
    EXPECT_EQ(split(uri), (Split { uri, "" }));
    EXPECT_EQ(split(uri + "@7"), (Split { uri, "7" }));
}

TEST(AddressSplit, AFolderWhoseNameLooksLikeAVersionIsAFolder)
{
    const TempDir folder;
    std::filesystem::create_directories(folder.path("run@5"));
    EXPECT_EQ(split(folder.path("run@5")), (Split { folder.path("run@5"), "" }));
    EXPECT_EQ(split(folder.path("run@5@6")), (Split { folder.path("run@5"), "6" }));
}

TEST(AddressSplit, AMistypedVersionOfAnExistingSourceIsStillAVersion)
{
    const TempDir folder;
    EXPECT_EQ(split(folder.path() + "@lastest"), (Split { folder.path(), "lastest" }));
    EXPECT_EQ(split(folder.path() + "@"), (Split { folder.path(), "" }));
}

TEST(AddressSplit, TextThatIsNeitherStaysWhole)
{
    EXPECT_EQ(split("/nowhere/me@home"), (Split { "/nowhere/me@home", "" }));
    EXPECT_EQ(split("@5"), (Split { "@5", "" }));
}

// --- resolving -------------------------------------------------------------------------------------------------------

struct Entry {
    int epoch;
    std::int64_t step;
    VersionKind kind = VersionKind::Delta;
    bool broken = false;
};

Run runOf(const std::vector<Entry>& entries, int epochs = 1)
{
    Run run;
    run.store = std::make_shared<test::MemoryStore>();
    run.totalElements.resize(static_cast<std::size_t>(epochs));
    for (const Entry& entry : entries) {
        Version version;
        version.epoch = entry.epoch;
        version.objects.step = entry.step;
        version.kind = entry.kind;
        if (entry.broken)
            version.obstacle = Error { Code::Truncated, "cut short", "object", entry.step, {} };
        run.versions.push_back(std::move(version));
    }
    return run;
}

/// Epoch 0: the tail 7-12 of an old run; epoch 1: steps 1-6, of which 6 is broken and 4 an anchor.
Run twoEpochs()
{
    Run run = runOf({ { 0, 7 },
                      { 0, 8 },
                      { 0, 10, VersionKind::Anchor },
                      { 0, 12 },
                      { 1, 1, VersionKind::Anchor },
                      { 1, 2 },
                      { 1, 4, VersionKind::Anchor },
                      { 1, 5 },
                      { 1, 6, VersionKind::Delta, true } },
                    2);
    run.gaps = { Gap { 0, 9, 9 }, Gap { 0, 11, 11 }, Gap { 1, 3, 3 } };
    return run;
}

std::string named(const Run& run, const std::string& selector)
{
    const auto version = resolveVersion(run, selector);
    return version ? fmt::format("{}:{}", (*version)->epoch, (*version)->step())
                   : std::string(word(version.error().code));
}

TEST(AddressVersion, ANumberIsTheNewestEpochThatHasIt)
{
    const auto run = twoEpochs();
    EXPECT_EQ(named(run, "2"), "1:2");
    EXPECT_EQ(named(run, "8"), "0:8");
}

TEST(AddressVersion, AnEpochCanBeNamed)
{
    const auto run = twoEpochs();
    EXPECT_EQ(named(run, "0:10"), "0:10");
    EXPECT_EQ(named(run, "1:10"), "DS-NOT-FOUND");
    EXPECT_EQ(named(run, "9:1"), "DS-NOT-FOUND");
}

TEST(AddressVersion, LatestIsTheNewestRestorableOfTheNewestEpoch)
{
    const auto run = twoEpochs();
    EXPECT_EQ(named(run, "latest"), "1:5");
    EXPECT_EQ(named(run, ""), "1:5");
}

TEST(AddressVersion, LatestCountsBackOverRestorableOnes)
{
    const auto run = twoEpochs();
    EXPECT_EQ(named(run, "latest~0"), "1:5");
    EXPECT_EQ(named(run, "latest~1"), "1:4");
    EXPECT_EQ(named(run, "latest~3"), "1:1");
}

TEST(AddressVersion, LatestDoesNotCountBackIntoAnotherEpoch)
{
    EXPECT_EQ(named(twoEpochs(), "latest~4"), "DS-NOT-FOUND");
}

TEST(AddressVersion, AnchorIsTheNewestCompleteOne)
{
    EXPECT_EQ(named(twoEpochs(), "anchor"), "1:4");
    EXPECT_EQ(named(runOf({ { 0, 1, VersionKind::Anchor }, { 0, 2, VersionKind::PartialAnchor } }), "anchor"), "0:1");
    EXPECT_EQ(named(runOf({ { 0, 2 } }), "anchor"), "DS-NOT-FOUND");
}

TEST(AddressVersion, WhatIsNoVersionIsAUsageError)
{
    const auto run = twoEpochs();
    for (const char* selector : { "latest~", "latest~x", "latest~-1", "x", "-3", "1.5", "0x5", "1:", ":1", "1:2:3",
                                  " 4", "99999999999999999999", "latest~99999999999999999999", "99999999999:1" })
        EXPECT_EQ(named(run, selector), "DS-USAGE") << selector;
}

TEST(AddressVersion, AMissingStepNamesTheNearestOne)
{
    const auto run = twoEpochs();
    const auto version = resolveVersion(run, "100");
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().code, Code::NotFound);
    EXPECT_NE(version.error().text.find("nearest is step 12"), std::string::npos) << version.error().text;
}

TEST(AddressVersion, AStepThatIsUnfinishedSaysSo)
{
    auto run = runOf({ { 0, 1, VersionKind::Anchor }, { 0, 5 } });
    run.problems = { Error { Code::Unfinished, "data files without .metadata", "step-7", 7, "wait" },
                     Error { Code::PartialAnchor, "the first full version is gone", "step-8", 8, {} } };
    EXPECT_EQ(named(run, "7"), "DS-UNFINISHED");
    EXPECT_EQ(named(run, "8"), "DS-NOT-FOUND");
    EXPECT_EQ(named(run, "5"), "0:5");
}

TEST(AddressVersion, AStepInAGapSaysSo)
{
    auto run = runOf({ { 0, 1, VersionKind::Anchor }, { 0, 5 } });
    run.gaps = { Gap { 0, 2, 4 } };
    EXPECT_EQ(named(run, "3"), "DS-CHAIN-GAP");
    EXPECT_EQ(named(run, "0:4"), "DS-CHAIN-GAP");
    EXPECT_EQ(named(run, "6"), "DS-NOT-FOUND");
}

TEST(AddressVersion, ASourceWithoutVersionsHasNone) { EXPECT_EQ(named(runOf({}), "latest"), "DS-NOT-FOUND"); }

TEST(AddressVersion, WithoutARestorableStepLatestIsTheNewest)
{
    EXPECT_EQ(named(runOf({ { 0, 1, VersionKind::Delta, true }, { 0, 2, VersionKind::Delta, true } }), "latest"),
              "0:2");
    EXPECT_EQ(named(runOf({ { 0, 1, VersionKind::Delta, true } }), "latest~0"), "DS-NOT-FOUND");
}

// --- ranges ----------------------------------------------------------------------------------------------------------

std::string ranged(const Run& run, const std::string& text)
{
    const auto range = resolveRange(run, text);
    if (!range)
        return std::string(word(range.error().code));
    if (!*range)
        return "all";
    const auto name = [&](std::size_t at) {
        return fmt::format("{}:{}", run.versions[at].epoch, run.versions[at].step());
    };
    return name((*range)->first) + "-" + name((*range)->second);
}

TEST(AddressRange, NothingMeansAll) { EXPECT_EQ(ranged(twoEpochs(), ""), "all"); }

TEST(AddressRange, AVersionIsARangeOfOne)
{
    EXPECT_EQ(ranged(twoEpochs(), "4"), "1:4-1:4");
    EXPECT_EQ(ranged(twoEpochs(), "0:12"), "0:12-0:12");
    EXPECT_EQ(ranged(twoEpochs(), "latest"), "1:5-1:5");
}

TEST(AddressRange, EndsMayLieInGaps)
{
    EXPECT_EQ(ranged(twoEpochs(), "2..5"), "1:2-1:5");
    EXPECT_EQ(ranged(twoEpochs(), "3..6"), "1:4-1:6");
    EXPECT_EQ(ranged(twoEpochs(), "1..3"), "1:1-1:2");
    EXPECT_EQ(ranged(twoEpochs(), "0..1"), "1:1-1:1");
}

TEST(AddressRange, ThatGoesBeyondTheEndIsNotFound) { EXPECT_EQ(ranged(twoEpochs(), "3..100"), "DS-NOT-FOUND"); }

TEST(AddressRange, LiesInOneEpoch)
{
    EXPECT_EQ(ranged(twoEpochs(), "0:8..12"), "0:8-0:12");
    EXPECT_EQ(ranged(twoEpochs(), "0:8..0:11"), "0:8-0:10");
    EXPECT_EQ(ranged(twoEpochs(), "0:8..1:2"), "DS-USAGE");
}

TEST(AddressRange, WithoutAnEpochItIsTheNewestThatHasOneOfItsSteps)
{
    EXPECT_EQ(ranged(twoEpochs(), "7..9"), "0:7-0:8");
}

TEST(AddressRange, ThatRunsBackwardsIsAUsageError) { EXPECT_EQ(ranged(twoEpochs(), "5..2"), "DS-USAGE"); }

TEST(AddressRange, ThatHoldsNothingIsNotFound) { EXPECT_EQ(ranged(twoEpochs(), "50..60"), "DS-NOT-FOUND"); }

TEST(AddressRange, OfNoNumbersIsAUsageError)
{
    for (const char* range : { "..", "1..", "..5", "a..b", "1..b", "1...5", "latest..5" })
        EXPECT_EQ(ranged(twoEpochs(), range), "DS-USAGE") << range;
}

} // namespace
} // namespace deltascope::app
