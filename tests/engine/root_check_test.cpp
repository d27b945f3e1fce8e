#include "publish_fixture.h"
#include "run_steps.h"

#include "support/temp_dir.h"

#include <filesystem>

// What the roots in published versions prove: damage at the very step, lost deltas from headers alone, empty steps, the
// right base.

namespace deltascope {
namespace {

using namespace layout_test;
using EngineRun = deltascope::Run;

/// A run that is verified at level 3.
struct Verified {
    explicit Verified(Publishing& p)
        : run(p.view())
    {
        VerifyOptions options;
        options.level = 3;
        auto verified = verifyRun(p.bench, run, options, p.task);
        EXPECT_TRUE(verified) << verified.error().text;
        report = verified ? std::move(*verified) : VerifyReport();
        words = wordsOf(run, report);
    }
    EngineRun run;
    VerifyReport report;
    Words words;
};

/// Turns one bit of the last stored value of a step's first tensor.
void flipValue(Publishing& p, std::int64_t step)
{
    const EngineRun run = p.view();
    const VersionIndex index = p.indexOf(step);
    const Extent extent = index.tensors.at(0).extents.back();
    const std::string key = run.find(step)->objects.objects.at(extent.object).key;
    std::string bytes = readObject(*p.run, key);
    bytes.at(extent.begin + extent.bytes - 1) ^= 0x01;
    ASSERT_TRUE(putText(*p.run, key, bytes));
}

void removeStep(Publishing& p, std::int64_t step)
{
    const EngineRun run = p.view();
    const Version& version = *run.find(step);
    for (const ObjectInfo& object : version.objects.objects)
        ASSERT_TRUE(p.run->remove(object.key));
}

Code digestCode(Publishing& p, std::int64_t step)
{
    const auto root = p.rootOfStep(step);
    return root ? Code::Internal : root.error().code;
}

Words all(std::int64_t first, std::int64_t last, const std::string& word)
{
    Words words;
    for (std::int64_t step = first; step <= last; ++step)
        words[step] = word;
    return words;
}

// --- damage ----------------------------------------------------------------------------------------------------------

TEST(RootCheck, ASoundRunIsVerifiedWithoutForeignDigests)
{
    for (const char* encoding : { "gap_delta", "raw" }) {
        Publishing p;
        p.options.encoding = encoding;
        p.options.anchorEvery = 4;
        p.publishAll(1, 9);
        const Verified verified(p);
        EXPECT_EQ(verified.words, all(1, 9, "verified"));
        for (const StepVerdict& step : verified.report.steps) {
            EXPECT_EQ(step.digestsChecked, 0U);
            EXPECT_TRUE(step.problems.empty()) << step.problems.front().text;
        }
    }
}

TEST(RootCheck, AFlippedValueIsFoundAtItsStep)
{
    for (const char* encoding : { "gap_delta", "raw" }) {
        SCOPED_TRACE(encoding);
        Publishing p;
        p.options.encoding = encoding;
        p.options.anchorEvery = 5;
        p.publishAll(1, 8);
        flipValue(p, 3);
        const Verified verified(p);
        EXPECT_EQ(verified.words,
                  (Words { { 1, "verified" },
                           { 2, "verified" },
                           { 3, "damaged" },
                           { 4, "incomplete" },
                           { 5, "incomplete" },
                           { 6, "verified" },
                           { 7, "verified" },
                           { 8, "verified" } }));
        const Version& third = *verified.run.find(3);
        ASSERT_TRUE(third.obstacle);
        EXPECT_EQ(third.obstacle->code, Code::Digest);
        EXPECT_EQ(third.obstacle->step, 3);
        EXPECT_EQ(third.state, VersionState::Broken);
        const Version& fifth = *verified.run.find(5);
        ASSERT_TRUE(fifth.obstacle);
        EXPECT_EQ(fifth.obstacle->code, Code::ChainGap);
        EXPECT_EQ(fifth.obstacleAt, static_cast<std::size_t>(&third - verified.run.versions.data()));
        EXPECT_EQ(errorOf(planFor(verified.run, fifth)).step, 3);
        EXPECT_TRUE(planFor(verified.run, *verified.run.find(8)));
    }
}

TEST(RootCheck, AFlippedValueInAnAnchorIsFoundAtItsStep)
{
    Publishing p;
    p.options.anchorEvery = 3;
    p.publishAll(1, 8);
    flipValue(p, 4);
    const Verified verified(p);
    EXPECT_EQ(verified.words,
              (Words { { 1, "verified" },
                       { 2, "verified" },
                       { 3, "verified" },
                       { 4, "damaged" },
                       { 5, "incomplete" },
                       { 6, "incomplete" },
                       { 7, "verified" },
                       { 8, "verified" } }));
    ASSERT_TRUE(verified.run.find(4)->obstacle);
    EXPECT_EQ(verified.run.find(4)->obstacle->code, Code::Digest);
}

TEST(RootCheck, TheFirstAnchorIsCheckedToo)
{
    Publishing p;
    p.publishAll(1, 3);
    flipValue(p, 1);
    EXPECT_EQ(Verified(p).words, (Words { { 1, "damaged" }, { 2, "incomplete" }, { 3, "incomplete" } }));
}

TEST(RootCheck, SlimeIsCheckedToo)
{
    for (const char* encoding : { "xor", "overwrite" }) {
        SCOPED_TRACE(encoding);
        Publishing p("slime-v2");
        p.options.encoding = encoding;
        p.publishAll(1, 4);
        EXPECT_EQ(Verified(p).words, all(1, 4, "verified"));
        flipValue(p, 2);
        EXPECT_EQ(Verified(p).words,
                  (Words { { 1, "verified" }, { 2, "damaged" }, { 3, "incomplete" }, { 4, "incomplete" } }));
        EXPECT_FALSE(p.rootOfStep(2));
    }
}

TEST(RootCheck, DigestRefusesAStateThatIsNotTheRecordedOne)
{
    Publishing p;
    p.options.anchorEvery = 4;
    p.publishAll(1, 6);
    flipValue(p, 3);
    for (const std::int64_t sound : { 1, 2, 5, 6 })
        EXPECT_EQ(p.rootOfStep(sound).value_or("refused"), p.rootOfCheckpoint(sound));
    EXPECT_EQ(digestCode(p, 3), Code::Digest);
    EXPECT_EQ(digestCode(p, 4), Code::Digest); // nobody has replayed step 3 alone
}

TEST(RootCheck, MaterializeRefusesAStateThatIsNotTheRecordedOne)
{
    test::TempDir folder;
    const std::unique_ptr<FileSystem> disk = makeFileSystem();
    for (const unsigned threads : { 1U, 3U }) {
        Publishing p;
        p.bench.disk = disk.get();
        p.bench.threads = threads;
        p.publishAll(1, 3);
        flipValue(p, 3);
        const EngineRun run = p.view();
        for (const std::int64_t step : { 2, 3 }) {
            const Version& version = *run.find(step);
            MaterializeOptions options;
            options.destination = folder.path(fmt::format("out-{}-{}", threads, step));
            const auto plan = planFor(run, version);
            ASSERT_TRUE(plan);
            const auto report = materialize(p.bench, run, version, *plan, options, p.task);
            if (step == 2) {
                ASSERT_TRUE(report) << report.error().text;
                EXPECT_EQ(report->root, p.rootOfCheckpoint(2));
                continue;
            }
            EXPECT_EQ(errorOf(report).code, Code::Digest);
            EXPECT_FALSE(std::filesystem::exists(options.destination));
        }
    }
}

// --- lost and empty steps --------------------------------------------------------------------------------------------

TEST(RootCheck, ALostDeltaIsKnownFromHeadersAlone)
{
    Publishing p;
    p.options.anchorEvery = 5;
    p.publishAll(1, 7);
    removeStep(p, 3);
    for (const std::int64_t step : { 1, 2, 4, 5, 6, 7 }) { // what they hold does not matter: it is not read
        const std::string key = p.view().find(step)->objects.objects.at(0).key;
        std::string bytes = readObject(*p.run, key);
        const std::uint64_t data = 8 + loadLe<std::uint64_t>(asBytes(bytes), 0);
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(data), bytes.end(), '\x5a');
        ASSERT_TRUE(putText(*p.run, key, bytes));
    }
    const EngineRun run = p.view();
    for (const Version& version : run.versions) {
        SCOPED_TRACE(version.step());
        const bool behind = version.step() == 4 || version.step() == 5;
        EXPECT_EQ(version.obstacle.has_value(), behind);
        if (behind) {
            EXPECT_EQ(version.obstacle->code, Code::ChainGap);
            EXPECT_EQ(run.versions[version.obstacleAt].step(), 4);
        }
    }
    EXPECT_EQ(errorOf(planFor(run, *run.find(5), { .acrossGap = true })).code,
              Code::ChainGap); // --across-gap does not help: it is proven
    ASSERT_EQ(run.problems.size(), 1U);
    EXPECT_EQ(run.problems.front().code, Code::ChainGap);
    EXPECT_NE(run.problems.front().text.find("lost"), std::string::npos) << run.problems.front().text;
}

TEST(RootCheck, ALostSlimeVersionIsKnownFromHeadersAlone)
{
    Publishing p("slime-v2");
    p.publishAll(1, 5);
    removeStep(p, 3);
    const EngineRun run = p.view();
    EXPECT_FALSE(run.find(2)->obstacle);
    for (const std::int64_t step : { 4, 5 }) {
        ASSERT_TRUE(run.find(step)->obstacle) << step;
        EXPECT_EQ(run.find(step)->obstacle->code, Code::ChainGap);
    }
}

/// Puts a delta from one state to another as step `number`.
void putDelta(Publishing& p, std::int64_t number, std::int64_t from, std::int64_t to)
{
    TrlV2WriterOptions options;
    options.step = number;
    options.facts = { { std::string(fact::Form), "1" },
                      { std::string(fact::Run), p.factOf(1, fact::Run) },
                      { std::string(fact::Base), p.rootOfCheckpoint(from) },
                      { std::string(fact::Root), p.rootOfCheckpoint(to) } };
    auto writer = makeTrlV2DeltaWriter(options);
    ASSERT_TRUE(writer);
    const std::vector<FileTensor> before = Publishing::tensorsOf(from);
    const std::vector<FileTensor> after = Publishing::tensorsOf(to);
    for (std::size_t i = 0; i < after.size(); ++i)
        ASSERT_TRUE(writeTensor(**writer, before[i], after[i], 192));
    ASSERT_TRUE((*writer)->finish(*p.run, p.task));
}

TEST(RootCheck, AMissingNumberWithMatchingRootsIsAnEmptyStep)
{
    Publishing p;
    p.publishAll(1, 2);
    putDelta(p, 4, 2, 3);
    putDelta(p, 5, 3, 4);
    const Verified verified(p);
    EXPECT_EQ(verified.words, (Words { { 1, "verified" }, { 2, "verified" }, { 4, "verified" }, { 5, "verified" } }));
    EXPECT_TRUE(verified.run.find(4)->proven);
    EXPECT_TRUE(verified.run.find(5)->proven);
    EXPECT_EQ(verified.run.find(4)->baseStep, 2);
    ASSERT_EQ(verified.run.gaps.size(), 1U); // shown, but nothing is wrong
    EXPECT_TRUE(verified.run.problems.empty()) << verified.run.problems.front().text;
    EXPECT_EQ(p.rootOfStep(5).value_or("none"), p.rootOfCheckpoint(4));
}

TEST(RootCheck, ADeltaFindsItsBaseWhateverTheNumbersSay)
{
    Publishing p;
    p.publishAll(1, 3);
    putDelta(p, 4, 2, 3); // written against step 2, in spite of step 3
    const EngineRun run = p.view();
    EXPECT_EQ(run.find(4)->baseStep, 2);
    EXPECT_EQ(p.rootOfStep(4).value_or("none"), p.rootOfCheckpoint(3));
}

TEST(RootCheck, AStateThatComesBackIsNoConfusion)
{
    Publishing p;
    p.publishAll(1, 2);
    p.publishAll(1, 2); // steps 3 and 4 are the states of 1 and 2 again
    p.publishAll(3, 3);
    EXPECT_EQ(Verified(p).words, all(1, 5, "verified"));
    EXPECT_EQ(p.view().find(5)->baseStep, 4);
    EXPECT_EQ(p.rootOfStep(5).value_or("none"), p.rootOfCheckpoint(3));
}

// --- the external base -----------------------------------------------------------------------------------------------

TEST(RootCheck, AWrongExternalBaseIsABaseMismatch)
{
    for (const char* encoding :
         { "xor", "overwrite" }) { // what overwrite leaves alone has no digest: only the root sees it
        SCOPED_TRACE(encoding);
        Publishing p("slime-v2");
        p.options.encoding = encoding;
        p.publishAll(1, 3);
        std::vector<FileTensor> other = Publishing::tensorsOf(0);
        other[0].data[7] ^= 0x01;
        const auto store = std::make_shared<MemoryStore>();
        ASSERT_TRUE(putText(*store, "model.safetensors", safetensorsFile(other)));
        p.base.base = store;
        const Verified verified(p);
        EXPECT_EQ(verified.report.verdict, Verdict::Incomplete);
        EXPECT_EQ(verified.words, all(1, 3, "incomplete"));
        for (const std::int64_t step : { 1, 3 }) {
            ASSERT_TRUE(verified.run.find(step)->obstacle);
            EXPECT_EQ(verified.run.find(step)->obstacle->code, Code::BaseMismatch);
        }
        EXPECT_FALSE(p.rootOfStep(3));
    }
}

/// A run of slime on a base whose tensors `change` turns into others; it has no roots, so that the bytes must tell.
struct OnChangedBase {
    explicit OnChangedBase(const std::function<void(FileTensor&)>& change)
        : p("slime-v2")
    {
        p.options.encoding = "xor";
        p.publishAll(1, 3);
        std::vector<FileTensor> tensors = Publishing::tensorsOf(0);
        for (FileTensor& tensor : tensors)
            change(tensor);
        const auto store = std::make_shared<MemoryStore>();
        EXPECT_TRUE(putText(*store, "model.safetensors", safetensorsFile(tensors)));
        p.base.base = store;
    }

    /// The words of all steps, and why the first one cannot be used.
    std::pair<Words, Error> verified()
    {
        const Verified verified(p);
        const auto& obstacle = verified.run.find(1)->obstacle;
        return { verified.words, obstacle ? *obstacle : Error() };
    }
    Publishing p;
};

void widen(FileTensor& tensor)
{
    std::string wide;
    for (std::size_t i = 0; i < tensor.data.size(); i += 2)
        wide.append(2, '\0').append(tensor.data, i, 2);
    tensor.info.dtype = Dtype::F32;
    tensor.data = wide;
}

TEST(RootCheck, ABaseOfAnotherFormIsBlamedAndNoStep)
{
    const auto rename = [](FileTensor& tensor) { tensor.info.name = "language_model." + tensor.info.name; };
    const std::vector<std::pair<std::function<void(FileTensor&)>, std::string>> changes { { widen, "F32" },
                                                                                          { rename, "\"a\"" } };
    for (const auto& [change, reason] : changes) {
        SCOPED_TRACE(reason);
        OnChangedBase run(change);
        const auto [words, obstacle] = run.verified();
        EXPECT_EQ(words, all(1, 3, "incomplete"));
        EXPECT_EQ(obstacle.code, Code::BaseMismatch);
        EXPECT_NE(obstacle.text.find("the base checkpoint is not the one"), std::string::npos) << obstacle.text;
        EXPECT_NE(obstacle.text.find("2 of the 2 tensors"), std::string::npos) << obstacle.text;
        EXPECT_NE(obstacle.text.find(reason), std::string::npos) << obstacle.text;
        EXPECT_EQ(digestCode(run.p, 3), Code::BaseMismatch);
    }
}

TEST(RootCheck, ABaseThatFitsIsNotBlamed)
{
    OnChangedBase same([](FileTensor&) {});
    EXPECT_EQ(same.verified().second.text, "");
    OnChangedBase one([](FileTensor& tensor) {
        if (tensor.info.name == "a")
            widen(tensor);
    });
    const Error obstacle = one.verified().second;
    EXPECT_NE(obstacle.text, "");
    EXPECT_EQ(obstacle.text.find("the base checkpoint is not the one"), std::string::npos) << obstacle.text;
}

TEST(RootCheck, AnotherModelAsBaseIsABaseMismatch)
{
    Publishing p("slime-v2");
    p.publishAll(1, 3);
    const auto store = std::make_shared<MemoryStore>();
    ASSERT_TRUE(putText(*store, "model.safetensors", Publishing::fileOf(9)));
    p.base.base = store;
    const Verified verified(p);
    ASSERT_TRUE(verified.run.find(1)->obstacle);
    EXPECT_EQ(verified.run.find(1)->obstacle->code, Code::BaseMismatch);
    EXPECT_EQ(digestCode(p, 3), Code::BaseMismatch);
    const auto before = p.keys();
    EXPECT_EQ(errorOf(p.open()).code, Code::BaseMismatch); // what is replayed on it is not the newest state
    EXPECT_EQ(p.keys(), before);
}

// --- the catalog -----------------------------------------------------------------------------------------------------

TEST(RootCheck, TheCatalogKeepsRootsAndWhatTheyShowed)
{
    test::TempDir folder;
    Publishing p;
    p.publishAll(1, 4);
    flipValue(p, 3);
    const auto look = [&](bool replay) {
        auto catalog = Catalog::open(folder.path("catalog.sqlite"));
        EXPECT_TRUE(catalog);
        p.bench.catalog = catalog->get();
        EngineRun run = p.view();
        if (replay) {
            EXPECT_TRUE(analyzeRun(p.bench, run, {}, p.task));
        }
        p.bench.catalog = nullptr;
        return run;
    };
    const EngineRun before = look(true);
    const EngineRun after = look(false); // from what the catalog knows
    using Check = VersionFacts::RootCheck;
    for (const std::int64_t step : { 1, 2, 3, 4 }) {
        SCOPED_TRACE(step);
        const Version& then = *before.find(step);
        const Version& now = *after.find(step);
        ASSERT_TRUE(now.facts && now.summary);
        EXPECT_EQ(now.facts->rootCheck, step < 3 ? Check::Matches : Check::Differs);
        EXPECT_EQ(now.facts->rootCheck, then.facts->rootCheck);
        EXPECT_EQ(now.facts->actualRoot, then.facts->actualRoot);
        EXPECT_EQ(now.summary->root, p.rootOfCheckpoint(step));
        EXPECT_EQ(now.summary->baseRoot, then.summary->baseRoot);
        EXPECT_EQ(now.summary->run, then.summary->run);
        EXPECT_EQ(now.summary->origin, Publishing::originOf(step));
        EXPECT_EQ(now.obstacle.has_value(), step >= 3);
    }
    EXPECT_FALSE(after.find(3)->facts->actualRoot.empty());
    EXPECT_EQ(after.find(3)->obstacle->code, Code::Digest);
}

} // namespace
} // namespace deltascope
