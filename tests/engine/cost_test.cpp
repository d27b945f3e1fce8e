#include "deltascope/engine/cost.h"

#include "layout_fixture.h"
#include "support/faulty_store.h"
#include "support/times.h"

#include <cmath>

// What a run costs: numbers that can be computed by hand, and the best cadence against trying all of them.

namespace deltascope {
namespace {

using namespace layout_test;

using EngineRun = deltascope::Run;

using test::Begin;
using test::LongAfter;
using test::Second;

/// Versions with sizes and times, linked as a run of some layout.
class Published {
public:
    explicit Published(std::string_view layout = "trl-v2", std::int64_t secondsPerStep = 30)
        : m_layout(builtinLayouts().find(layout))
        , m_secondsPerStep(secondsPerStep)
    {
    }

    Published& anchor(std::int64_t step, std::uint64_t bytes) { return add(step, bytes, true); }
    Published& delta(std::int64_t step, std::uint64_t bytes) { return add(step, bytes, false); }
    Published& beingWritten(std::int64_t step, std::uint64_t bytes)
    {
        delta(step, bytes);
        m_versions.back().summary.reset();
        m_versions.back().failure = Error { Code::Truncated, "it is cut short", {}, {}, {} };
        return *this;
    }
    /// The version added last is there complete, too.
    Published& alsoComplete(std::uint64_t bytes, std::string mirror = {})
    {
        IndexedObjects& version = m_versions.back();
        VersionObjects form = objects(version.objects.step, bytes);
        form.name = mirror + "/full_" + form.name;
        form.objects[0].key = form.name;
        form.mirror = std::move(mirror);
        version.objects.otherForms.push_back(std::move(form));
        OtherForm read;
        read.summary = summary(true);
        version.otherForms.push_back(std::move(read));
        return *this;
    }
    /// Elements that the delta added last changed, of 400.
    Published& changed(std::uint64_t elements)
    {
        m_changed[m_versions.back().objects.step] = elements;
        return *this;
    }
    Published& base(std::uint64_t bytes)
    {
        ExternalBase base;
        base.store = std::make_shared<MemoryStore>();
        base.layout = builtinLayouts().find("hf");
        base.objects = objects(0, bytes);
        base.summary.storedElements = 400;
        m_base = base;
        return *this;
    }

    EngineRun build() const
    {
        EngineRun run = buildLineage(std::make_shared<MemoryStore>(), m_layout, m_base, m_versions, LongAfter);
        for (Version& version : run.versions) {
            const auto at = m_changed.find(version.step());
            if (at == m_changed.end())
                continue;
            VersionFacts facts;
            facts.changedElements = facts.assigned = at->second;
            version.facts = facts;
        }
        assess(run);
        return run;
    }

private:
    VersionObjects objects(std::int64_t step, std::uint64_t bytes) const
    {
        VersionObjects version;
        version.step = step;
        version.name = fmt::format("step_{}", step);
        version.objects = { ObjectInfo {
            version.name, bytes, fmt::format("id{}", step), Begin + step * m_secondsPerStep * Second, false, {} } };
        return version;
    }
    static VersionSummary summary(bool full)
    {
        VersionSummary summary;
        summary.full = full;
        summary.tensors = full ? 4 : 2;
        summary.storedElements = full ? 400 : 10;
        summary.countsKnown = true;
        return summary;
    }
    Published& add(std::int64_t step, std::uint64_t bytes, bool full)
    {
        m_versions.push_back(IndexedObjects { objects(step, bytes), summary(full), {}, {} });
        return *this;
    }

    std::shared_ptr<const Layout> m_layout;
    std::int64_t m_secondsPerStep;
    std::optional<ExternalBase> m_base;
    std::vector<IndexedObjects> m_versions;
    std::map<std::int64_t, std::uint64_t> m_changed;
};

/// Anchors of 1000 bytes at steps 1, 5 and 9, deltas of 100 between them, a step every 30 seconds.
EngineRun threeAnchors()
{
    Published run;
    for (std::int64_t step = 1; step <= 10; ++step)
        step % 4 == 1 ? run.anchor(step, 1000) : run.delta(step, 100);
    return run.build();
}

const CadenceRow* rowFor(const CostReport& report, std::uint64_t every)
{
    for (const CadenceRow& row : report.cadences) {
        if (row.every == every)
            return &row;
    }
    return nullptr;
}

// --- inputs ----------------------------------------------------------------------------------------------------------

TEST(CostInputs, ComeFromSizesTimesAndLinks)
{
    const CostInputs inputs = costInputsOf(threeAnchors());
    EXPECT_EQ(inputs.versions, 10U);
    EXPECT_EQ(inputs.anchors, 3U);
    EXPECT_EQ(inputs.deltas, 7U);
    EXPECT_EQ(inputs.deltaBytes, 100.0);
    EXPECT_EQ(inputs.versionBytes, 370.0);
    EXPECT_EQ(inputs.fullBytes, 1000U);
    EXPECT_EQ(inputs.secondsPerStep, 30.0);
    EXPECT_EQ(inputs.cadence, 4U);
    EXPECT_EQ(inputs.restoreBytes, 1100U);
    EXPECT_EQ(inputs.restoreDeltas, 1U);
    EXPECT_FALSE(inputs.fullIsBase);
    EXPECT_EQ(inputs.changedFraction, std::nullopt);
}

TEST(CostInputs, NameTheStepThatCanBeRebuiltAndCountWhatIsLeftOut)
{
    EngineRun run = threeAnchors();
    const CostInputs sound = costInputsOf(run);
    EXPECT_EQ(sound.restoreStep, 10);
    EXPECT_TRUE(sound.restoreIsNewest);
    EXPECT_EQ(sound.broken, 0U);
    Version& anchor = run.versions[8];
    ASSERT_EQ(anchor.kind, VersionKind::Anchor);
    anchor.facts = VersionFacts();
    anchor.facts->damage = Error { Code::Digest, "it is damaged", anchor.objects.name, anchor.step(), {} };
    assess(run);
    const CostInputs damaged = costInputsOf(run);
    EXPECT_EQ(damaged.restoreStep, 8);
    EXPECT_FALSE(damaged.restoreIsNewest);
    EXPECT_EQ(damaged.anchors, 2U);
    EXPECT_EQ(damaged.broken, 1U);
}

TEST(CostInputs, TheChangedShareIsTheMedianOfWhatWasReplayed)
{
    const CostInputs inputs = costInputsOf(Published()
                                               .anchor(1, 1000)
                                               .delta(2, 100)
                                               .changed(4)
                                               .delta(3, 100)
                                               .changed(40)
                                               .delta(4, 100)
                                               .changed(8)
                                               .delta(5, 100)
                                               .build());
    EXPECT_EQ(inputs.replayedDeltas, 3U);
    EXPECT_DOUBLE_EQ(inputs.changedFraction.value_or(0), 0.02);
}

TEST(CostInputs, WhatIsNotWholeIsLeftOut)
{
    const CostInputs inputs = costInputsOf(Published().anchor(1, 1000).delta(2, 100).beingWritten(3, 7).build());
    EXPECT_EQ(inputs.versions, 2U);
    EXPECT_EQ(inputs.deltaBytes, 100.0);
}

TEST(CostInputs, TimesOfACopyTellNothing)
{
    EXPECT_EQ(costInputsOf(Published("trl-v2", 0).anchor(1, 1000).delta(2, 100).delta(3, 100).build()).secondsPerStep,
              std::nullopt);
}

TEST(CostInputs, AMissingStepDoesNotStretchTheInterval)
{
    const CostInputs inputs = costInputsOf(Published().anchor(1, 1000).delta(2, 100).delta(9, 100).build());
    EXPECT_EQ(inputs.secondsPerStep, 30.0);
}

TEST(CostInputs, CountEveryFormThatThePublisherWrote)
{
    Published run;
    run.anchor(1, 1000).delta(2, 100).delta(3, 100).delta(4, 100).alsoComplete(1200).delta(5, 100);
    const CostInputs inputs = costInputsOf(run.build());
    EXPECT_EQ(inputs.versions, 5U);
    EXPECT_EQ(inputs.anchors, 2U);
    EXPECT_EQ(inputs.deltas, 4U);
    EXPECT_EQ(inputs.versionBytes, (1000 + 4 * 100 + 1200) / 5.0);
    EXPECT_EQ(inputs.versionRequests, 2 * 6 / 5.0);
    EXPECT_EQ(inputs.deltaBytes, 100.0);
    EXPECT_EQ(inputs.fullBytes, 1200U);
    EXPECT_EQ(inputs.cadence, 3U);
}

TEST(CostInputs, CountNoCopyInAMirror)
{
    Published run;
    run.anchor(1, 1000).delta(2, 100).delta(3, 100).delta(4, 100).alsoComplete(1200, "/mirror").delta(5, 100);
    const CostInputs inputs = costInputsOf(run.build());
    EXPECT_EQ(inputs.anchors, 1U);
    EXPECT_EQ(inputs.versionBytes, 1400 / 5.0);
    EXPECT_EQ(inputs.fullBytes, 1000U);
    EXPECT_EQ(inputs.cadence, std::nullopt);
}

TEST(CostInputs, TwoCompleteStatesThatARunBeginsWithAreNoCadence)
{
    EXPECT_EQ(costInputsOf(Published().anchor(1, 1000).anchor(2, 1000).delta(3, 100).delta(4, 100).build()).cadence,
              std::nullopt);
    Published later;
    later.anchor(1, 1000).anchor(2, 1000).delta(3, 100).delta(4, 100).anchor(5, 1000).delta(6, 100);
    EXPECT_EQ(costInputsOf(later.build()).cadence, 3U);
}

TEST(CostInputs, ARunOfCompleteStatesAloneHasACadenceOfOne)
{
    EXPECT_EQ(costInputsOf(Published().anchor(1, 1000).anchor(2, 1000).build()).cadence, 1U);
    EXPECT_EQ(costInputsOf(Published().anchor(1, 1000).anchor(2, 1000).anchor(3, 1000).build()).cadence, 1U);
}

TEST(Cost, OfARunThatNobodyCanReadSaysNothingOfItsVersions)
{
    CostInputs inputs;
    inputs.standAlone = true;
    inputs.broken = 2;
    EXPECT_EQ(adviseCost(inputs, {}).recommendation.find("No version of this run can be read"), 0U);
    inputs.versions = 1;
    EXPECT_EQ(adviseCost(inputs, {}).recommendation.find("Every version of this layout is complete"), 0U);
}

// --- report ----------------------------------------------------------------------------------------------------------

TEST(Cost, OfAStepADayAndAFullSync)
{
    CostOptions options;
    options.pricePerGb = 2;
    options.linkGbps = 8; // 10^9 bytes per second
    options.restoresPerDay = 10;
    const CostReport report = adviseCost(threeAnchors(), options);
    EXPECT_EQ(report.stepsPerDay, 2880.0);
    EXPECT_FALSE(report.stepsPerDayGiven);
    ASSERT_TRUE(report.delta && report.published && report.full);
    EXPECT_DOUBLE_EQ(report.delta->money, 2e-7);
    EXPECT_DOUBLE_EQ(report.delta->linkSeconds, 1e-7);
    EXPECT_DOUBLE_EQ(report.delta->bytesPerDay.value(), 288'000);
    EXPECT_DOUBLE_EQ(report.delta->moneyPerDay.value(), 5.76e-4);
    EXPECT_DOUBLE_EQ(report.delta->timesSmaller.value(), 10);
    EXPECT_DOUBLE_EQ(report.published->bytesPerDay.value(), 1'065'600);
    EXPECT_DOUBLE_EQ(report.full->bytesPerDay.value(), 2'880'000);
    EXPECT_DOUBLE_EQ(report.full->linkSeconds, 1e-6);
    EXPECT_DOUBLE_EQ(report.restoreSeconds.value(), 1.1e-6);

    const CadenceRow* own = rowFor(report, 4);
    ASSERT_NE(own, nullptr);
    EXPECT_TRUE(own->own);
    EXPECT_DOUBLE_EQ(own->publishedPerDay.value(), 2880 * (1000 + 3 * 100) / 4.0);
    EXPECT_DOUBLE_EQ(own->restoreBytes, 1150);
    EXPECT_DOUBLE_EQ(own->restoreSeconds, 1.15e-6);
    EXPECT_DOUBLE_EQ(own->bytesPerDay.value(), 936'000 + 11'500);
    EXPECT_DOUBLE_EQ(own->moneyPerDay.value(), 947'500 * 2e-9);
    // sqrt(2 * 2880 * 900 / (10 * 100)) = 72
    EXPECT_EQ(report.recommended, 72U);
    ASSERT_NE(rowFor(report, 72), nullptr);
    EXPECT_TRUE(rowFor(report, 72)->recommended);
    EXPECT_NE(report.recommendation.find("every 72 steps"), std::string::npos) << report.recommendation;
    EXPECT_NE(report.recommendation.find("2880 steps / 72 x (1.0 kB - 100 B) = 36.0 kB per day"), std::string::npos)
        << report.recommendation;
    EXPECT_NE(report.recommendation.find("10 x 71 / 2 deltas of 100 B = 35.5 kB per day"), std::string::npos)
        << report.recommendation;
    EXPECT_NE(report.recommendation.find("cadence of 4"), std::string::npos) << report.recommendation;
}

TEST(Cost, RequestsHaveTheirPriceToo)
{
    CostOptions options;
    options.pricePerGb = 0;
    options.pricePerThousandRequests = 5;
    options.restoresPerDay = 10;
    const CostReport report = adviseCost(threeAnchors(), options);
    ASSERT_TRUE(report.delta && report.full);
    EXPECT_DOUBLE_EQ(report.delta->requests, 2); // a small object: its begin, and one window
    EXPECT_DOUBLE_EQ(report.delta->money, 0.01);
    EXPECT_DOUBLE_EQ(report.delta->moneyPerDay.value(), 28.8);
    // every version takes two: 2880 are published, and ten restores read an anchor and 1.5 deltas each
    EXPECT_DOUBLE_EQ(rowFor(report, 4)->moneyPerDay.value(), (2880 * 2 + 10 * (2 + 1.5 * 2)) / 1000 * 5);

    const CostInputs large = costInputsOf(Published().anchor(1, 9U << 20).delta(2, 100).build());
    EXPECT_DOUBLE_EQ(large.fullRequests.value(), 4); // three windows
    EXPECT_DOUBLE_EQ(large.versionRequests.value(), 3);
    options.pricePerThousandRequests = -1;
    EXPECT_FALSE(options.check());
}

TEST(Cost, AssumptionsAreMarked)
{
    const CostReport assumed = adviseCost(threeAnchors(), {});
    EXPECT_TRUE(assumed.pricePerGb.assumed && assumed.linkGbps.assumed && assumed.restoresPerDay.assumed);
    EXPECT_EQ(assumed.pricePerGb.value, 0.09);
    EXPECT_EQ(assumed.linkGbps.value, 10);
    EXPECT_EQ(assumed.restoresPerDay.value, 4);
    const CostReport given = adviseCost(threeAnchors(), { 0.09, 10, 100, 4, {} });
    EXPECT_FALSE(given.pricePerGb.assumed || given.linkGbps.assumed || given.restoresPerDay.assumed);
    EXPECT_TRUE(given.stepsPerDayGiven);
    EXPECT_EQ(given.stepsPerDay, 100.0);
}

TEST(Cost, OfAnEmptyRunIsUnknown)
{
    const CostReport report = adviseCost(Published().build(), {});
    EXPECT_FALSE(report.delta || report.published || report.full || report.restoreSeconds || report.recommended
                 || report.stepsPerDay);
    EXPECT_TRUE(report.cadences.empty());
    EXPECT_NE(report.recommendation.find("no complete anchor"), std::string::npos) << report.recommendation;
}

TEST(Cost, OfOneVersionIsThatOfAFullSync)
{
    const CostReport report = adviseCost(Published().anchor(1, 1000).build(), {});
    EXPECT_FALSE(report.delta || report.stepsPerDay || report.inputs.cadence);
    ASSERT_TRUE(report.full);
    EXPECT_EQ(report.full->bytes, 1000);
    EXPECT_EQ(report.full->bytesPerDay, std::nullopt);
    EXPECT_TRUE(report.cadences.empty());
    EXPECT_NE(report.recommendation.find("size of a delta"), std::string::npos) << report.recommendation;
}

TEST(Cost, WithoutTimesKnowsRestoresButNoDays)
{
    const EngineRun run = Published("trl-v2", 0).anchor(1, 1000).delta(2, 100).delta(3, 100).build();
    const CostReport report = adviseCost(run, {});
    EXPECT_EQ(report.delta->bytesPerDay, std::nullopt);
    ASSERT_NE(rowFor(report, 10), nullptr);
    EXPECT_DOUBLE_EQ(rowFor(report, 10)->restoreBytes, 1450);
    EXPECT_EQ(rowFor(report, 10)->bytesPerDay, std::nullopt);
    EXPECT_EQ(report.recommended, std::nullopt);
    EXPECT_NE(report.recommendation.find("--steps-per-day"), std::string::npos) << report.recommendation;
    CostOptions options;
    options.stepsPerDay = 1000;
    EXPECT_TRUE(adviseCost(run, options).recommended);
}

TEST(Cost, OfAChainOnAnExternalBaseAdvisesANewBase)
{
    Published source("slime-v2");
    source.delta(1, 100).delta(2, 100).delta(3, 100);
    const CostReport without = adviseCost(source.build(), {});
    EXPECT_FALSE(without.full || without.recommended);
    EXPECT_NE(without.recommendation.find("--base DIR"), std::string::npos) << without.recommendation;

    const CostReport report = adviseCost(source.base(1000).build(), {});
    EXPECT_TRUE(report.inputs.baseOutside && report.inputs.fullIsBase);
    EXPECT_EQ(report.inputs.fullBytes, 1000U);
    EXPECT_EQ(report.inputs.cadence, std::nullopt);
    EXPECT_TRUE(report.recommended);
    EXPECT_TRUE(report.recommendation.starts_with("A new base every ")) << report.recommendation;
}

TEST(Cost, OfPlainCheckpointsHasNoCadenceToChoose)
{
    const CostReport report = adviseCost(Published("hf").anchor(10, 1000).anchor(20, 1000).build(), {});
    EXPECT_FALSE(report.delta || report.recommended);
    EXPECT_TRUE(report.cadences.empty());
    EXPECT_NE(report.recommendation.find("complete"), std::string::npos) << report.recommendation;
}

TEST(Cost, WithoutRestoresNoAnchorPays)
{
    CostOptions options;
    options.restoresPerDay = 0;
    const CostReport report = adviseCost(threeAnchors(), options);
    EXPECT_EQ(report.recommended, std::nullopt);
    EXPECT_NE(report.recommendation.find("no anchor pays"), std::string::npos) << report.recommendation;
}

TEST(CostOptions, AreRefusedWhereTheyMakeNoSense)
{
    EXPECT_TRUE(CostOptions {}.check());
    EXPECT_TRUE((CostOptions { 0, 400, 1e5, 0, 1e-6 }.check()));
    for (const CostOptions& wrong :
         { CostOptions { -1, {}, {}, {}, {} }, CostOptions { {}, 0, {}, {}, {} }, CostOptions { {}, {}, 0, {}, {} },
           CostOptions { {}, {}, {}, -1, {} }, CostOptions { {}, {}, {}, {}, 0 },
           CostOptions { {}, {}, {}, {}, std::nan("") }, CostOptions { INFINITY, {}, {}, {}, {} } })
        EXPECT_EQ(errorOf(wrong.check()).code, Code::Usage);
}

// --- cadence ---------------------------------------------------------------------------------------------------------

TEST(CostCadence, TheBestIsTheBestOfAll)
{
    constexpr std::uint64_t Longest = 3000;
    for (const double full : { 900.0, 1000.0, 64'000.0 }) {
        for (const double delta : { 1.0, 37.0, 899.0, 1000.0, 2000.0 }) {
            for (const double steps : { 0.5, 30.0, 2880.0 }) {
                for (const double restores : { 0.5, 4.0, 1000.0 }) {
                    const CadenceModel model { full, delta, steps, restores };
                    std::uint64_t best = 1;
                    for (std::uint64_t k = 1; k <= Longest; ++k) {
                        if (model.bytesPerDay(k) < model.bytesPerDay(best))
                            best = k;
                    }
                    const std::optional<std::uint64_t> found = model.best();
                    ASSERT_TRUE(found);
                    if (best < Longest)
                        EXPECT_DOUBLE_EQ(model.bytesPerDay(*found), model.bytesPerDay(best))
                            << full << ' ' << delta << ' ' << steps << ' ' << restores;
                    else
                        EXPECT_GE(*found, Longest);
                }
            }
        }
    }
}

TEST(CostCadence, ByHand)
{
    const CadenceModel model { 1000, 100, 60, 4 };
    EXPECT_DOUBLE_EQ(model.publishedPerDay(1), 60'000);
    EXPECT_DOUBLE_EQ(model.publishedPerDay(10), 11'400);
    EXPECT_DOUBLE_EQ(model.restoreBytes(1), 1000);
    EXPECT_DOUBLE_EQ(model.restoreBytes(10), 1450);
    EXPECT_DOUBLE_EQ(model.bytesPerDay(10), 11'400 + 5'800);
    EXPECT_EQ((CadenceModel { 1000, 1000, 60, 4 }.best()), 1U);
    EXPECT_EQ((CadenceModel { 1000, 100, 60, 0 }.best()), std::nullopt);
    EXPECT_EQ((CadenceModel { 1e18, 1, 1e6, 1e-6 }.best()), 1'000'000'000U);
}

TEST(CostAnchor, PaysWhereItSavesMoreThanItWeighs)
{
    const AnchorDecision pays = anchorPays(1'000'000'000, 400'000'000, 3);
    EXPECT_TRUE(pays.pays);
    EXPECT_EQ(pays.arithmetic,
              "3 restores until the next anchor x 400.0 MB of deltas since the last one = 1.2 GB, more than the 1.0 GB "
              "of an anchor.");
    const AnchorDecision equal = anchorPays(1'200, 400, 3);
    EXPECT_FALSE(equal.pays);
    EXPECT_EQ(equal.arithmetic,
              "3 restores until the next anchor x 400 B of deltas since the last one = 1.2 kB, not more than the 1.2 "
              "kB of an anchor.");
    EXPECT_TRUE(anchorPays(1'199, 400, 3).pays);
    EXPECT_FALSE(anchorPays(1, 0, 100).pays);
    EXPECT_FALSE(anchorPays(1, 100, 0).pays);
    EXPECT_TRUE(anchorPays(0, 1, 0.5).arithmetic.starts_with("0.5 restores"));
    EXPECT_TRUE(anchorPays(0, 1, 1).arithmetic.starts_with("1 restore until"));
}

// --- predicted changes -----------------------------------------------------------------------------------------------

TEST(CostPrediction, FollowsTheFormula)
{
    // step 1.8e-7: 102 * 1.8e-7 / 0.02 * (log2(0.02 / 2.304e-5) + 1)
    EXPECT_NEAR(predictedChangedFraction(1e-6, 0.02).value(), 9.18e-4 * (9.7616 + 1), 1e-6);
    EXPECT_NEAR(predictedChangedFraction(3e-6, 0.02).value(), 0.0253, 1e-4);
    EXPECT_NEAR(predictedChangedFraction(1e-5, 0.02).value(), 0.0683, 1e-4);
    EXPECT_EQ(predictedChangedFraction(1e-6, 128 * 1.8e-7), std::nullopt);
    EXPECT_EQ(predictedChangedFraction(1e-6, 0), std::nullopt);
    EXPECT_EQ(predictedChangedFraction(0, 0.02), std::nullopt);
    EXPECT_LE(predictedChangedFraction(1e-6, 129 * 1.8e-7).value(), 1.0);
    EXPECT_EQ(predictedChangedFraction(1e-6, 0.02, 23), std::nullopt) << "nearly every F32 weight changes";
    EXPECT_DOUBLE_EQ(predictedChangedFraction(1e-6, 0.16, 10).value(), predictedChangedFraction(1e-6, 0.02, 7).value());
}

TEST(CostPrediction, IsTheMeanOverElements)
{
    const ChangePrediction prediction = predictChanges({ WeightScale { "a", Dtype::BF16, 3000, 100, 0.02 },
                                                         WeightScale { "b", Dtype::BF16, 1000, 100, 0.04 },
                                                         WeightScale { "c", Dtype::BF16, 500, 50, 0 } },
                                                       1e-6);
    EXPECT_EQ(prediction.elements, 4000U);
    EXPECT_EQ(prediction.elementsOutside, 500U);
    EXPECT_EQ(prediction.sampledBytes, 250U);
    EXPECT_NEAR(prediction.fraction.value(),
                0.75 * predictedChangedFraction(1e-6, 0.02).value()
                    + 0.25 * predictedChangedFraction(1e-6, 0.04).value(),
                1e-12);
    EXPECT_NEAR(prediction.sigma.value(), std::sqrt((3000 * 4e-4 + 1000 * 16e-4) / 4500), 1e-12);
    const ChangePrediction none = predictChanges({}, 1e-6);
    EXPECT_FALSE(none.fraction || none.sigma);
}

class CostSample : public testing::Test {
protected:
    CostSample()
    {
        bench.layouts = builtinLayouts();
        bench.nowUs = [] { return LongAfter; };
    }

    /// Every element has the size of `bits`, with alternating signs: its standard deviation is that size.
    template <class Bits>
    static FileTensor alternating(const std::string& name, Dtype dtype, std::vector<std::uint64_t> shape, Bits bits)
    {
        FileTensor tensor { TensorInfo { name, dtype, std::move(shape) }, {} };
        tensor.data.resize(tensor.info.bytes());
        constexpr Bits Sign = static_cast<Bits>(Bits(1) << (sizeof(Bits) * 8 - 1));
        for (std::size_t i = 0; i * sizeof(Bits) < tensor.data.size(); ++i)
            storeLe<Bits>(writable(tensor.data), i * sizeof(Bits), i % 2 ? static_cast<Bits>(bits | Sign) : bits);
        return tensor;
    }
    std::map<std::string, WeightScale> sample(std::vector<FileTensor> tensors)
    {
        std::sort(tensors.begin(), tensors.end(),
                  [](const FileTensor& a, const FileTensor& b) { return canonicalBefore(a.info, b.info); });
        auto store = std::make_shared<MemoryStore>();
        EXPECT_TRUE(putText(*store, "model.safetensors", safetensorsFile(tensors, { { "format", "pt" } })));
        const auto counting = std::make_shared<test::FaultyStore>(store);
        const auto run = openRun(bench, counting, {}, task);
        EXPECT_TRUE(run) << run.error().text;
        const std::uint64_t before = counting->bytesRead();
        const auto scales = sampleWeightScales(bench, *run, task);
        bytesRead = counting->bytesRead() - before;
        EXPECT_TRUE(scales) << scales.error().text;
        std::map<std::string, WeightScale> byName;
        for (const WeightScale& scale : *scales)
            byName[scale.name] = scale;
        return byName;
    }

    Workbench bench;
    TaskContext task;
    std::uint64_t bytesRead = 0; ///< by the last sample
};

TEST_F(CostSample, MeasuresEveryTypeThatWeightsHave)
{
    const auto scales = sample({
        alternating<std::uint16_t>("bf16", Dtype::BF16, { 64, 128 }, 0x3e80), // 0.25
        alternating<std::uint16_t>("half", Dtype::F16, { 64, 64 }, 0x3400), // 0.25
        alternating<std::uint16_t>("tiny", Dtype::F16, { 64, 64 }, 0x0200), // 2^-15, subnormal
        alternating<std::uint32_t>("single", Dtype::F32, { 2, 64, 64 }, 0x3f000000), // 0.5
        alternating<std::uint16_t>("vector", Dtype::BF16, { 8192 }, 0x3f80),
        alternating<std::uint16_t>("small", Dtype::BF16, { 4, 4 }, 0x3f80),
        alternating<std::uint32_t>("ids", Dtype::I32, { 64, 64 }, 7),
    });
    ASSERT_EQ(scales.size(), 4U);
    EXPECT_DOUBLE_EQ(scales.at("bf16").sigma, 0.25);
    EXPECT_EQ(scales.at("bf16").elements, 8192U);
    EXPECT_EQ(scales.at("bf16").sampledBytes, 16'384U);
    EXPECT_DOUBLE_EQ(scales.at("half").sigma, 0.25);
    EXPECT_DOUBLE_EQ(scales.at("tiny").sigma, std::exp2(-15));
    EXPECT_DOUBLE_EQ(scales.at("single").sigma, 0.5);
}

TEST_F(CostSample, LeavesOutWhatIsNotFinite)
{
    FileTensor tensor = alternating<std::uint16_t>("w", Dtype::BF16, { 64, 128 }, 0x3e80);
    storeLe<std::uint16_t>(writable(tensor.data), 0, 0x7f80);
    storeLe<std::uint16_t>(writable(tensor.data), 2, 0x7fc1);
    FileTensor broken = alternating<std::uint16_t>("x", Dtype::F16, { 64, 128 }, 0x7c00);
    const auto scales = sample({ tensor, broken });
    EXPECT_DOUBLE_EQ(scales.at("w").sigma, 0.25);
    EXPECT_EQ(scales.at("x").sigma, 0);
}

TEST_F(CostSample, OfALargeTensorIsBoundedAndSpread)
{
    FileTensor tensor = alternating<std::uint16_t>("w", Dtype::BF16, { 2048, 1024 }, 0x3e80);
    for (std::size_t at = tensor.data.size() / 2; at < tensor.data.size(); at += 2)
        storeLe<std::uint16_t>(writable(tensor.data), at, 0);
    const auto scales = sample({ tensor });
    EXPECT_EQ(scales.at("w").sampledBytes, 1U << 20);
    EXPECT_DOUBLE_EQ(scales.at("w").sigma, 0.25 / std::sqrt(2.0));
    EXPECT_LT(bytesRead, (1U << 20) + 64 * 1024) << "nothing is read but the sample and the header";
}

TEST_F(CostSample, ReadsTheAnchorOrTheBaseThatTheNewestStepStartsFrom)
{
    const Golden trl("trl-v2-gap");
    const auto anchored = openRun(bench, *openLocalStore(trl.folder + "/bucket"), {}, task);
    ASSERT_TRUE(anchored);
    const auto ofAnchor = sampleWeightScales(bench, *anchored, task);
    ASSERT_TRUE(ofAnchor);
    EXPECT_NEAR(predictChanges(*ofAnchor, 1e-6).sigma.value(), 0.02, 0.001);

    const Golden slime("slime-v2-xor");
    OpenOptions options;
    const auto alone = openRun(bench, *openLocalStore(slime.folder + "/bucket"), options, task);
    ASSERT_TRUE(alone);
    EXPECT_TRUE(sampleWeightScales(bench, *alone, task)->empty());
    options.base = *openLocalStore(slime.folder + "/base");
    const auto based = openRun(bench, *openLocalStore(slime.folder + "/bucket"), options, task);
    ASSERT_TRUE(based);
    EXPECT_NEAR(predictChanges(*sampleWeightScales(bench, *based, task), 1e-6).sigma.value(), 0.02, 0.001);
}

} // namespace
} // namespace deltascope
