#include "run_steps.h"
#include "support/faulty_store.h"
#include "support/sanitizer.h"
#include "ways_run.h"

#include <fstream>

// A source with a second folder that holds the same objects: what the source lost or damaged is read there, what is
// another object is not, and what the source merely offers is not even looked at.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;

void writeFile(const std::string& path, const std::string& bytes)
{
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
}

/// A run and a copy of it.
class MirroredRun {
public:
    explicit MirroredRun(std::int64_t steps, bool roots = true)
        : ways(steps, roots)
        , mirror(ways.session.folder.path("mirror"))
    {
        for (const std::string& key : ways.keys())
            copy(key);
    }

    void copy(const std::string& key) const { writeFile(mirror + '/' + key, ways.read(key)); }
    void remove(const std::string& key) { EXPECT_TRUE(ways.store->remove(key)); }
    std::string mirrored(const std::string& key) const
    {
        std::ifstream file(mirror + '/' + key, std::ios::binary);
        return { std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
    }
    void flipCopy(const std::string& key) const
    {
        std::string bytes = mirrored(key);
        bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 4);
        writeFile(mirror + '/' + key, bytes);
    }
    Result<deltascope::Run> tryOpen(const std::vector<std::string>& mirrors)
    {
        OpenOptions options;
        options.mirrors.emplace(mirrors.begin(), mirrors.end());
        return openRun(ways.session.bench, ways.store, options, ways.session.task);
    }
    deltascope::Run open() { return openWith({ mirror }); }
    deltascope::Run openWith(const std::vector<std::string>& mirrors)
    {
        auto run = tryOpen(mirrors);
        EXPECT_TRUE(run) << run.error().text;
        return std::move(*run);
    }
    deltascope::Run analyzed()
    {
        auto run = open();
        const auto outcome = analyzeRun(ways.session.bench, run, {}, ways.session.task);
        EXPECT_TRUE(outcome) << outcome.error().text;
        return run;
    }
    /// The root of a step by whatever way holds, read as an act reads it.
    Result<std::string> root(const deltascope::Run& run, std::int64_t step, std::vector<Error>& notices)
    {
        DS_TRY(FallbackPlans plans, FallbackPlans::of(run, *run.find(step)));
        return tryPlans(plans, [&](const Plan& plan) -> Result<std::string> {
            DS_TRY(const PathPtr path, openChecked(ways.session.bench, run, plan, false, ways.session.task));
            DS_TRY(const CheckpointDigest digest, digestState(ways.session.bench, *path, ways.session.task));
            notices = path->readNotices();
            return toHex(digest.root.fast);
        });
    }
    Result<std::string> root(const deltascope::Run& run, std::int64_t step)
    {
        std::vector<Error> notices;
        return root(run, step, notices);
    }
    void expectAllRight(const deltascope::Run& run, std::int64_t stride)
    {
        ASSERT_EQ(run.versions.back().step() + 1, static_cast<std::int64_t>(run.versions.size()));
        for (const Version& version : run.versions) {
            EXPECT_FALSE(version.obstacle) << version.step() << ": " << version.obstacle->text;
            if (version.step() % stride != 0)
                continue;
            const auto found = root(run, version.step());
            ASSERT_TRUE(found) << version.step() << ": " << found.error().text;
            EXPECT_EQ(*found, ways.rootOf(version.step())) << version.step();
        }
    }

    WaysRun ways;
    std::string mirror;
};

std::size_t told(const std::vector<Error>& problems, std::string_view words)
{
    return static_cast<std::size_t>(std::count_if(problems.begin(), problems.end(), [&](const Error& problem) {
        return problem.code == Code::Mirror && problem.text.find(words) != std::string::npos;
    }));
}

const std::string Only = WaysRun::deltaKey(7, 6); ///< nothing else leads to step 7

TEST(Mirror, NoSingleObjectOfTheSourceIsMissed)
{
    MirroredRun copied(1000);
    const auto run = copied.open();
    for (const auto& [key, lost] : Planner(run).versionsLostByObject())
        EXPECT_EQ(lost, 0U) << key;
}

TEST(Mirror, ALostObjectIsReadThere)
{
    MirroredRun copied(1000);
    const std::vector<std::string> keys = copied.ways.keys();
    for (std::size_t at = 0; at < keys.size(); at += test::UnderSanitizer ? 1191 : 397) {
        const std::string bytes = copied.ways.read(keys[at]);
        copied.remove(keys[at]);
        copied.expectAllRight(copied.open(), 211);
        ASSERT_TRUE(putText(*copied.ways.store, keys[at], bytes));
    }
}

TEST(Mirror, AFlippedObjectIsReadThere)
{
    MirroredRun copied(64);
    for (const std::string& key : { Only, WaysRun::fullKey("anchor", 0), WaysRun::deltaKey(16, 8) }) {
        const std::string bytes = copied.ways.read(key);
        copied.ways.flip(key);
        copied.expectAllRight(copied.open(), 7); // found while it is read
        const auto run = copied.analyzed();
        copied.expectAllRight(run, 7); // known before
        const Version& damaged = step(run, WaysLayout::parse(key)->step);
        EXPECT_TRUE(std::any_of(damaged.problems.begin(), damaged.problems.end(), [&](const Error& problem) {
            return problem.code == Code::Digest && problem.where == key;
        })) << key;
        ASSERT_TRUE(putText(*copied.ways.store, key, bytes));
    }
}

TEST(Mirror, WhatIsReadThereIsToldAndKept)
{
    MirroredRun copied(40);
    copied.ways.session.openRecords();
    copied.remove(Only);
    const auto run = copied.open();
    EXPECT_EQ(told(run.problems, "objects of step 7 are gone from the source"), 1U);
    EXPECT_TRUE(step(run, 7).objects.name.ends_with("/mirror/" + Only)) << step(run, 7).objects.name;
    std::vector<Error> notices;
    ASSERT_TRUE(copied.root(run, 7, notices));
    EXPECT_EQ(told(notices, "1 object of this state is read from the mirror; of 1 of them nothing is on record"), 1U);
    ASSERT_TRUE(copied.root(copied.open(), 7));
    const auto events = copied.openWith({}).events; // without the mirror, what has happened is still known
    EXPECT_EQ(told(events, "are gone from the source"), 1U);
    EXPECT_EQ(told(events, "is read from the mirror"), 1U); // once, however often
}

TEST(Mirror, WhatIsOnRecordOfTheSourceDecides)
{
    MirroredRun copied(40, false); // no digest of the publisher
    copied.ways.session.openRecords();
    auto run = copied.openWith({});
    VerifyOptions options;
    options.level = 2;
    ASSERT_TRUE(verifyRun(copied.ways.session.bench, run, options, copied.ways.session.task));
    copied.remove(Only);
    std::vector<Error> notices;
    const auto right = copied.root(copied.open(), 7, notices);
    ASSERT_TRUE(right) << right.error().text;
    EXPECT_EQ(*right, copied.ways.rootOf(7));
    EXPECT_EQ(told(notices, "is compared with the digests on record"), 1U);
    copied.flipCopy(Only);
    const auto wrong = copied.root(copied.open(), 7);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Code::Rewritten);
    EXPECT_EQ(wrong.error().step, 7);
    EXPECT_NE(wrong.error().text.find("the mirror holds other bytes"), std::string::npos) << wrong.error().text;
    EXPECT_EQ(told(copied.openWith({}).events, "is compared with the digests on record"), 1U)
        << "it is told before anything is read";
    const auto analyzed = copied.analyzed();
    const std::optional<VersionFacts>& facts = step(analyzed, 7).facts;
    ASSERT_TRUE(facts && facts->damage) << "it is not counted as if it were the source's";
    EXPECT_EQ(facts->damage->text, wrong.error().text);
}

TEST(Mirror, ACopyThatIsUnlikeTheRecordIsDamagedAndTheSourceIsNot)
{
    MirroredRun copied(40, false); // no digest of the publisher
    copied.ways.session.openRecords();
    auto source = copied.openWith({});
    ASSERT_TRUE(verifyRun(copied.ways.session.bench, source, {}, copied.ways.session.task));
    copied.flipCopy(Only);
    const auto run = copied.analyzed();
    const Version& version = step(run, 7);
    EXPECT_FALSE(version.facts->damage);
    ASSERT_EQ(version.forms(), 2U);
    const FormFacts* const copy = version.factsOf(1);
    ASSERT_TRUE(copy && copy->damage);
    EXPECT_NE(copy->damage->text.find("the mirror holds other bytes"), std::string::npos) << copy->damage->text;
    EXPECT_EQ(*copied.root(run, 7), copied.ways.rootOf(7));
    for (const Error& problem : version.problems)
        EXPECT_NE(problem.code, Code::Rewritten) << "the source's own object is as it was";
    EXPECT_TRUE(std::any_of(version.problems.begin(), version.problems.end(),
                            [](const Error& problem) { return problem.code == Code::Mirror; }));
}

/// What was copied from an object that had rotted is no proof of either.
TEST(Mirror, ACopyOfWhatRottedIsHeldAgainstTheRecord)
{
    MirroredRun copied(40, false); // no digest of the publisher
    copied.ways.session.openRecords();
    const auto faulty = std::make_shared<FaultyStore>(copied.ways.store);
    const auto openRotten = [&] {
        OpenOptions options;
        options.mirrors = std::vector { Address(copied.mirror) };
        auto run = openRun(copied.ways.session.bench, faulty, options, copied.ways.session.task);
        EXPECT_TRUE(run) << run.error().text;
        EXPECT_TRUE(analyzeRun(copied.ways.session.bench, *run, {}, copied.ways.session.task));
        return std::move(*run);
    };
    auto source = copied.openWith({});
    ASSERT_TRUE(verifyRun(copied.ways.session.bench, source, {}, copied.ways.session.task));
    const auto sound = openRotten();
    const FormFacts* const same = step(sound, 7).factsOf(1);
    ASSERT_TRUE(same);
    EXPECT_FALSE(same->damage);
    EXPECT_EQ(same->differs, 0U);

    const std::uint64_t place = copied.ways.read(Only).size() - 2;
    faulty->flipBit(Only, place, 2);
    copied.flipCopy(Only);
    const auto run = openRotten();
    const FormFacts* const copy = step(run, 7).factsOf(1);
    ASSERT_TRUE(copy && copy->damage) << "the same bytes in both places are not those on record";
    EXPECT_NE(copy->damage->text.find("the mirror holds other bytes"), std::string::npos) << copy->damage->text;
}

TEST(Mirror, WithoutRecordAndDigestNobodyCallsItProven)
{
    MirroredRun copied(40, false);
    copied.remove(Only);
    copied.flipCopy(Only);
    const auto run = copied.open();
    const auto plan = planFor(run, *run.find(7));
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->weakest, Evidence::FirstSight);
    std::vector<Error> notices;
    ASSERT_TRUE(copied.root(run, 7, notices));
    EXPECT_EQ(told(notices, "nothing is on record"), 1U);
}

TEST(Mirror, AnObjectOfAnotherSizeIsNotUsed)
{
    MirroredRun copied(40);
    writeFile(copied.mirror + '/' + Only, copied.ways.read(Only) + "more");
    const auto run = copied.open();
    EXPECT_EQ(told(run.problems, "holds another object"), 1U);
    EXPECT_EQ(step(run, 7).forms(), 1U);
    EXPECT_EQ(*copied.root(run, 7), copied.ways.rootOf(7));
}

TEST(Mirror, ATruncatedObjectIsReadThereWhereItsSizeIsOnRecord)
{
    MirroredRun copied(40);
    copied.ways.session.openRecords();
    auto run = copied.openWith({});
    VerifyOptions options;
    options.level = 2;
    ASSERT_TRUE(verifyRun(copied.ways.session.bench, run, options, copied.ways.session.task));
    const std::string bytes = copied.ways.read(Only);
    ASSERT_TRUE(putText(*copied.ways.store, Only, bytes.substr(0, bytes.size() / 2)));
    const auto found = copied.root(copied.open(), 7);
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(*found, copied.ways.rootOf(7));
}

TEST(Mirror, ACopyWithOtherBytesIsNamedWhereNothingTellsWhichIsRight)
{
    MirroredRun copied(40, false);
    copied.flipCopy(Only);
    const auto run = copied.analyzed();
    EXPECT_EQ(countNotes(step(run, 7).problems, Code::FormsDiffer), 1U);
    EXPECT_EQ(countNotes(step(run, 9).problems, Code::FormsDiffer), 0U);
}

TEST(Mirror, ACopyWithOtherBytesIsLeftOutWhereTheSourceHasADigest)
{
    MirroredRun copied(40);
    copied.flipCopy(Only);
    const auto run = copied.analyzed();
    EXPECT_EQ(countNotes(step(run, 7).problems, Code::FormsDiffer), 0U);
    EXPECT_FALSE(step(run, 7).obstacle);
    EXPECT_EQ(*copied.root(run, 7), copied.ways.rootOf(7));
}

TEST(Mirror, WhatItStandsInForIsDamagedAllTheSame)
{
    MirroredRun copied(40);
    copied.ways.flip(Only);
    auto run = copied.open();
    VerifyOptions options;
    options.level = 3;
    const auto report = verifyRun(copied.ways.session.bench, run, options, copied.ways.session.task);
    ASSERT_TRUE(report);
    for (const StepVerdict& verdict : report->steps)
        EXPECT_EQ(verdict.verdict == Verdict::Damaged, run.versions[verdict.version].step() == 7) << verdict.version;
    EXPECT_EQ(report->verdict, Verdict::Damaged);
    EXPECT_EQ(*copied.root(run, 7), copied.ways.rootOf(7));
}

TEST(Mirror, AWipedSourceIsReadThere)
{
    MirroredRun copied(40);
    for (const std::string& key : copied.ways.keys())
        copied.remove(key);
    const auto run = copied.open();
    copied.expectAllRight(run, 5);
    EXPECT_EQ(told(run.problems, "objects of steps 0, 1, 2, 3, 4 and 36 more are gone"), 1U);
}

TEST(Mirror, LostVersionsDoNotLookLikeAnotherRun)
{
    MirroredRun copied(40); // copied later than anything was published
    copied.remove(WaysRun::fullKey("anchor", 0));
    copied.remove(Only);
    const auto run = copied.open();
    EXPECT_EQ(run.epochs(), 1);
    copied.expectAllRight(run, 5);
}

TEST(Mirror, TwoMirrorsMakeUpForEachOther)
{
    MirroredRun copied(40);
    const std::string second = copied.ways.session.folder.path("second");
    std::filesystem::copy(copied.mirror, second, std::filesystem::copy_options::recursive);
    copied.remove(Only);
    copied.flipCopy(Only);
    const auto run = copied.openWith({ copied.mirror, second });
    EXPECT_EQ(run.versions.size(), 41U);
    const auto found = copied.root(run, 7);
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(*found, copied.ways.rootOf(7));
}

TEST(Mirror, WhatTheSourceOffersIsReadOnceItWasNamed)
{
    MirroredRun copied(40);
    copied.ways.session.openRecords();
    const std::string offer = R"({"mirrors": [")" + copied.mirror + R"("]})";
    ASSERT_TRUE(putText(*copied.ways.store, ".deltascope/v1/mirror.json", offer));
    auto run = copied.openWith({});
    EXPECT_EQ(told(run.problems, "the source offers a mirror at"), 1U);
    EXPECT_TRUE(run.mirrors.empty());
    EXPECT_EQ(step(run, 7).forms(), 1U);
    run = copied.open();
    EXPECT_EQ(run.mirrors.size(), 1U);
    run = copied.openWith({});
    EXPECT_EQ(run.mirrors.size(), 1U);
    EXPECT_EQ(told(run.problems, "offers"), 0U);
    EXPECT_EQ(step(run, 7).forms(), 2U);
    OpenOptions writing; // who writes to the source counts the source alone
    EXPECT_TRUE(
        openRun(copied.ways.session.bench, copied.ways.store, writing, copied.ways.session.task)->mirrors.empty());
}

TEST(Mirror, AnOfferThatPointsElsewhereIsNotFollowed)
{
    MirroredRun copied(10);
    copied.ways.session.openRecords();
    const auto offered = [&](const std::string& text) {
        EXPECT_TRUE(putText(*copied.ways.store, ".deltascope/v1/mirror.json", text));
        return copied.openWith({});
    };
    static_cast<void>(copied.open()); // named once, but these are not that address
    for (const std::string address : { "mirror", "../mirror", "./mirror", "" })
        EXPECT_EQ(told(offered(R"({"mirrors": [")" + address + R"("]})").problems, "is no absolute address"), 1U)
            << address;
    EXPECT_EQ(told(offered(R"({"mirrors": ["s3://elsewhere/run"]})").problems, "it is not read"), 1U);
    EXPECT_EQ(told(offered(R"({"mirrors": ["/etc"]})").problems, "it is not read"), 1U);
    for (const char* text : { "", "[]", "{", R"({"mirrors": 1})", R"({"mirrors": [1]})" })
        EXPECT_EQ(told(offered(text).problems, "cannot be read"), 1U) << text;
    EXPECT_EQ(told(offered(std::string(70'000, ' ')).problems, "cannot be read"), 1U);
}

TEST(Mirror, WhatIsNamedMustBeThere)
{
    MirroredRun copied(10);
    EXPECT_EQ(copied.tryOpen({ copied.mirror + "-not" }).error().code, Code::NotFound);
    EXPECT_EQ(copied.tryOpen({ "gs://bucket/run" }).error().code, Code::Unsupported);
    auto itself = openLocalStore(copied.mirror);
    ASSERT_TRUE(itself);
    OpenOptions options;
    options.mirrors = { copied.mirror + "/." };
    const auto run = openRun(copied.ways.session.bench, std::move(*itself), options, copied.ways.session.task);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, Code::Usage);
}

} // namespace
} // namespace deltascope
