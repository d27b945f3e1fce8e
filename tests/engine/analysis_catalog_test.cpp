#include "deltascope/engine/operations.h"

#include "golden_copy.h"
#include "run_steps.h"
#include "support/faulty_store.h"
#include "support/test_name.h"
#include "tiny_run.h"

#include <filesystem>

// openRun and analyzeRun: what they remember, and what they do not read again.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;
using test::StoreOperation;
using test::TempDir;

/// A catalog of which nothing can be had at the moment.
class UnavailableCatalog final : public Catalog {
public:
    Result<std::map<std::string, KnownVersion>> summaries(const std::string&) override { return busy(); }
    Result<void> putSummaries(const std::string&, const std::vector<std::pair<std::string, KnownVersion>>&) override
    {
        return busy();
    }
    Result<void> forget(const std::string&, const std::vector<std::string>&) override { return busy(); }
    Result<std::map<std::string, KnownFacts>> facts(const std::string&) override { return busy(); }
    Result<void> putFacts(const std::string&, const std::string&, const KnownFacts&,
                          const std::vector<TensorCount>&) override
    {
        return busy();
    }
    Result<std::vector<TensorCount>> counts(const std::string&, const std::string&, const std::string&) override
    {
        return busy();
    }
    Result<std::optional<std::string>> layoutOf(const std::string&, const std::string&) override { return busy(); }
    Result<void> putLayout(const std::string&, const std::string&, const std::string&) override { return busy(); }
    Result<std::int64_t> seenSince(const std::string&, const std::string&, const std::string&, std::int64_t) override
    {
        return busy();
    }
    Result<void> check() override { return busy(); }

private:
    static tl::unexpected<Error> busy() { return fail(Code::Transient, "the database is locked"); }
};

class Reopened : public testing::TestWithParam<const char*> { };

TEST_P(Reopened, ReadsNothingAndKnowsEverything)
{
    const GoldenCopy golden(GetParam());
    CatalogSession session;
    const auto first = session.analyzed(golden.store, golden.base);
    const auto counting = std::make_shared<FaultyStore>(golden.store);
    auto second = session.open(counting, golden.base);
    ASSERT_TRUE(second);
    EXPECT_EQ(counting->calls(StoreOperation::Read), 0U);
    EXPECT_EQ(withFacts(*second), withFacts(first));
    EXPECT_EQ(obstructed(*second), obstructed(first));
    for (std::size_t i = 0; i < first.versions.size(); ++i) {
        EXPECT_EQ(second->versions[i].problems, first.versions[i].problems);
        EXPECT_EQ(second->versions[i].kind, first.versions[i].kind);
    }
    EXPECT_EQ(second->problems, first.problems);
    ASSERT_TRUE(analyzeRun(session.bench, *second, {}, session.task));
    EXPECT_EQ(counting->calls(StoreOperation::Read), 0U);
}

INSTANTIATE_TEST_SUITE_P(Buckets, Reopened,
                         testing::Values("trl-v2-gap", "trl-v2-partial-anchor", "trl-v2-drift-bf16",
                                         "trl-v2-gap-in-chain", "trl-v2-restart", "slime-v2-xor",
                                         "slime-v2-badchecksum", "slime-v2-wrongbase", "slime-v2-dup-name",
                                         "hf-sharded"),
                         [](const auto& info) { return test::testName(info.param); });

TEST(AnalysisCatalog, ANewStepCostsOneHeaderAndItsStretch)
{
    TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    session.analyzed(tiny.store);
    tiny.delta(7, { 4 }, { 4 });
    const auto counting = std::make_shared<FaultyStore>(tiny.store);
    auto run = session.open(counting);
    ASSERT_TRUE(run);
    EXPECT_EQ(withFacts(*run), Steps({ 1, 2, 3, 4, 5, 6 }));
    EXPECT_LE(counting->calls(StoreOperation::Read), 2U); // length and header of the new file
    ASSERT_TRUE(analyzeRun(session.bench, *run, {}, session.task));
    EXPECT_EQ(withFacts(*run), Steps({ 1, 2, 3, 4, 5, 6, 7 }));
}

TEST(AnalysisCatalog, ARewrittenDeltaForgetsItselfAndWhatStandsOnIt)
{
    TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    session.analyzed(tiny.store);
    tiny.delta(3, { 2 }, { 1 }); // equal bytes, another identity
    auto run = session.open(tiny.store);
    ASSERT_TRUE(run);
    EXPECT_EQ(withFacts(*run), Steps({ 1, 2, 6 }));
    ASSERT_TRUE(analyzeRun(session.bench, *run, {}, session.task));
    EXPECT_EQ(withFacts(*run), Steps({ 1, 2, 3, 4, 5, 6 }));
}

TEST(AnalysisCatalog, ARewrittenAnchorForgetsItsWholeStretch)
{
    TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    session.analyzed(tiny.store);
    tiny.anchor(1, { 0, 0, 0, 0, 0, 0, 0, 7 });
    const auto run = session.open(tiny.store);
    ASSERT_TRUE(run);
    EXPECT_EQ(withFacts(*run), Steps({ 6 }));
}

TEST(AnalysisCatalog, AnotherBaseForgetsWhatStandsOnIt)
{
    const GoldenCopy golden("slime-v2-xor");
    const TempDir copy;
    std::filesystem::copy(goldenPath("slime-v2-xor/base"), copy.path("base"), std::filesystem::copy_options::recursive);
    CatalogSession session;
    session.analyzed(golden.store, golden.base);
    const auto run = session.open(golden.store, localStore(copy.path("base")));
    ASSERT_TRUE(run);
    EXPECT_TRUE(withFacts(*run).empty());
}

TEST(AnalysisCatalog, AMissingDeltaForgetsWhatStoodOnIt)
{
    TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    session.analyzed(tiny.store);
    ASSERT_TRUE(tiny.store->remove(TinyRun::keyOf(3, false)));
    const auto run = session.open(tiny.store);
    ASSERT_TRUE(run);
    EXPECT_EQ(withFacts(*run), Steps({ 1, 2, 6 }));
}

TEST(AnalysisCatalog, WithoutOneEverythingWorks)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    session.bench.catalog = nullptr;
    EXPECT_EQ(withFacts(session.analyzed(tiny.store)), Steps({ 1, 2, 3, 4, 5, 6 }));
}

TEST(AnalysisCatalog, OneThatCannotBeReadNowStopsNothing)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    UnavailableCatalog unavailable;
    session.bench.catalog = &unavailable;
    auto run = session.open(tiny.store);
    ASSERT_TRUE(run) << run.error().text;
    ASSERT_TRUE(analyzeRun(session.bench, *run, {}, session.task));
    EXPECT_EQ(withFacts(*run), Steps({ 1, 2, 3, 4, 5, 6 }));
}

TEST(AnalysisOptions, ARangeLeavesTheOtherStretchesAlone)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    auto run = session.open(tiny.store);
    ASSERT_TRUE(run);
    AnalyzeOptions options;
    options.range = { 5, 5 }; // step 6
    ASSERT_TRUE(analyzeRun(session.bench, *run, options, session.task));
    EXPECT_EQ(withFacts(*run), Steps({ 6 }));
}

TEST(AnalysisOptions, AgainReplaysWhatIsKnown)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    session.analyzed(tiny.store);
    const auto counting = std::make_shared<FaultyStore>(tiny.store);
    auto run = session.open(counting);
    ASSERT_TRUE(run);
    AnalyzeOptions options;
    options.again = true;
    ASSERT_TRUE(analyzeRun(session.bench, *run, options, session.task));
    EXPECT_GT(counting->calls(StoreOperation::Read), 0U);
}

} // namespace
} // namespace deltascope
