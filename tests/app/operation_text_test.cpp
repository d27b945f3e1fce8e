#include "cli/terminal.h"
#include "cli/text.h"

#include "deltascope/app/view/act_words.h"

#include <gtest/gtest.h>

namespace deltascope::cli {
namespace {

app::StepVerdictView step(std::int64_t number, const std::string& result, const std::string& code = {})
{
    app::StepVerdictView verdict;
    verdict.step = number;
    verdict.result = result;
    if (!code.empty())
        verdict.problems.push_back(app::ProblemView { code, number, {}, "something about it", {} });
    return verdict;
}

/// A report whose steps are consistent to step 2.
app::VerifyView reportOf(const std::string& result, std::vector<app::StepVerdictView> behind)
{
    app::VerifyView report;
    report.level = 4;
    report.result = result;
    report.steps = { step(1, "first_sight"), step(2, "consistent") };
    report.steps.insert(report.steps.end(), behind.begin(), behind.end());
    report.consistentTo = { app::ConsistentToView { 0, 2 } };
    return report;
}

bool says(const app::VerifyView& report, const std::string& words)
{
    return verifyText(report, Style {}).find(words) != std::string::npos;
}

TEST(VerifyText, NamesTheWordOfEachStretch)
{
    EXPECT_TRUE(says(reportOf("first_sight", { step(3, "first_sight"), step(4, "first_sight") }),
                     "Epoch 0: consistent to step 2, 3 to 4 as first read: no complete anchor follows"));
    const app::VerifyView mixed =
        reportOf("unverified",
                 { step(3, "unverified", "DS-SUSPECT-VALUES"), step(4, "unverified", "DS-SUSPECT-VALUES"),
                   step(5, "consistent"), step(6, "first_sight") });
    EXPECT_TRUE(says(mixed, "Epoch 0: consistent to step 2, 3 to 4 unverified, 5 consistent, 6 as first read\n"));
}

TEST(VerifyText, SaysWhyARunIsUnverified)
{
    EXPECT_TRUE(says(reportOf("unverified", { step(3, "unverified") }), "nothing was compared"));
    EXPECT_TRUE(says(reportOf("unverified", { step(3, "unverified", "DS-MISSED") }), "nothing was compared"))
        << "a notice speaks against nothing";
    const app::VerifyView doubted = reportOf(
        "unverified", { step(3, "unverified", "DS-SUSPECT-VALUES"), step(4, "unverified", "DS-ANCHOR-DRIFT") });
    EXPECT_FALSE(says(doubted, "nothing was compared"));
    EXPECT_TRUE(says(doubted, "what is listed above speaks against 2 of its steps, although no damage is proven"));
}

TEST(VerifyText, SaysWhyARunIsIncomplete)
{
    const app::StepVerdictView unread = step(3, "incomplete", "DS-UNSUPPORTED");
    app::VerifyView none = reportOf("incomplete", {});
    none.steps = { unread };
    EXPECT_TRUE(says(none, "its encoding cannot be read, so that nothing of it was checked"));
    const app::VerifyView some = reportOf("incomplete", { step(2, "verified"), unread });
    EXPECT_TRUE(says(some, "the encoding of some steps cannot be read, so that nothing of these was checked"));
    EXPECT_TRUE(says(reportOf("incomplete", { unread, step(4, "incomplete", "DS-CHAIN-GAP") }),
                     "something that it builds on is missing"));
    const app::VerifyView gone = reportOf("incomplete", { step(3, "verified"), step(4, "verified") });
    EXPECT_FALSE(says(gone, "nothing of")) << "all that is here was checked";
    EXPECT_TRUE(says(gone, "a step that was published is not here"));
}

TEST(VerifyText, CountsStepsBehindADamagedOneByTheirOwnNumbers)
{
    std::vector<app::StepVerdictView> behind { step(3, "damaged", "DS-TRUNCATED") };
    for (const std::int64_t number : { 4, 5, 6 }) {
        behind.push_back(step(number, "incomplete", "DS-CHAIN-GAP"));
        behind.back().problems.front().step = 3; // the cause
    }
    EXPECT_TRUE(says(reportOf("damaged", behind), "and 2 more of that kind for the same object, up to step 6\n"));
    behind.resize(2);
    EXPECT_FALSE(says(reportOf("damaged", behind), "more of that kind"));
}

TEST(VerifyText, SaysWhatTheDigestsOfTheStoreHaveShown)
{
    app::VerifyView report = reportOf("verified", { step(3, "verified") });
    EXPECT_FALSE(says(report, "the store keeps")) << "a folder keeps none";
    report.storeDigests = app::StoreDigestsView { 1, 0, 0 };
    EXPECT_TRUE(says(report, "\n1 of 1 object read whole has the digest that the store keeps\n"));
    report.storeDigests = app::StoreDigestsView { 9, 1, 2 };
    EXPECT_TRUE(
        says(report,
             "\n9 of 12 objects read whole have the digest that the store keeps; 1 was not compared with it as a "
             "whole; of 2 the store keeps none\n"));
    report.storeDigests = app::StoreDigestsView { 0, 3, 0 };
    EXPECT_TRUE(says(report, "\n0 of 3 objects read whole have the digest that the store keeps; 3 were not compared"));
    report.storeDigests = app::StoreDigestsView {};
    EXPECT_TRUE(says(report, "\nno object was read whole\n"));
}

TEST(ListingText, SaysHowManyStepsNeedAnObjectUnlessItIsItsOwnAlone)
{
    const auto line = [](std::optional<std::uint64_t> neededBy) {
        app::ListingView listing;
        listing.objects = { { { "the key", 2048, 0 }, 7, "delta", neededBy } };
        return listingText(listing, Style {});
    };
    EXPECT_NE(line(12).find("delta 7             12 steps need it    the key\n"), std::string::npos) << line(12);
    EXPECT_NE(line(0).find("delta 7             no step needs it    the key\n"), std::string::npos) << line(0);
    for (const std::optional<std::uint64_t> usual : { std::optional<std::uint64_t>(1), std::optional<std::uint64_t>() })
        EXPECT_NE(line(usual).find("delta 7                                 the key\n"), std::string::npos)
            << line(usual);
}

TEST(TensorFirstsText, ClaimsAFirstOnlyWhereEverythingBeforeWasRead)
{
    app::TensorFirstsView view;
    view.tensor = "w";
    view.dtype = "BF16";
    view.begin = 1;
    view.end = view.stepsRead = view.stepsInAll = 9;
    view.changed = { 3, true };
    view.nan = app::FirstView { {}, true };
    const std::string known = tensorFirstsText(view, Style {});
    EXPECT_NE(known.find("first changed  step 3  (from what step 1 holds)\n"), std::string::npos) << known;
    EXPECT_NE(known.find("first NaN      at none of 9 steps\n"), std::string::npos) << known;
    view.changed.certain = view.nan->certain = false;
    view.stepsRead = 7;
    view.unread = { { 2, 2, "it is damaged" } };
    const std::string doubtful = tensorFirstsText(view, Style {});
    EXPECT_NE(doubtful.find("step 3 at the latest: not every step before it could be read"), std::string::npos);
    EXPECT_NE(doubtful.find("at none of 7 steps read; the others could not be"), std::string::npos) << doubtful;
    EXPECT_NE(doubtful.find("not read       step 2: it is damaged\n"), std::string::npos) << doubtful;
    view.nan.reset();
    EXPECT_NE(tensorFirstsText(view, Style {}).find("first NaN      not known"), std::string::npos);
}

TEST(StatisticsHistoryText, NamesStepsThatWereNotRead)
{
    app::StatisticsHistoryView view;
    view.tensor = "w";
    EXPECT_EQ(statisticsHistoryText(view, Style {}).find("not read"), std::string::npos);
    view.unread = { { 2, 4, "there is no such tensor" } };
    const std::string text = statisticsHistoryText(view, Style {});
    EXPECT_NE(text.find("not read       steps 2 to 4: there is no such tensor\n"), std::string::npos) << text;
}

TEST(DiffText, HasNoTableWhereNoTensorDiffers)
{
    app::DiffView diff;
    diff.tensorsTotal = 2;
    diff.elementsTotal = 8;
    const std::string none = diffText(diff, Style {});
    EXPECT_NE(none.find("0 of 2 tensors differ, 0 of 8 elements\n"), std::string::npos) << none;
    EXPECT_EQ(none.find("max ulp"), std::string::npos) << none;
    diff.tensorsTotal = diff.tensorsDifferent = 1;
    diff.tensors.resize(1);
    const std::string one = diffText(diff, Style {});
    EXPECT_NE(one.find("1 of 1 tensor differs, "), std::string::npos) << one;
    EXPECT_NE(one.find("max ulp"), std::string::npos) << one;
}

TEST(DiffText, HasDashesForWhatIsNotMeasured)
{
    app::DiffView diff;
    diff.tensorsTotal = diff.tensorsDifferent = 3;
    diff.tensors.resize(3);
    diff.tensors[0].name = "scales";
    diff.tensors[1].name = "integers";
    diff.tensors[1].maxAbs = 4;
    diff.tensors[1].signFlips = 0;
    diff.tensors[2].name = "weights";
    diff.tensors[2].signFlips = 0;
    diff.tensors[2].maxAbs = 0.5;
    diff.tensors[2].maxUlp = 3;
    const std::string text = diffText(diff, Style {});
    for (const char* row :
         { "  –        –       –  scales\n", "  4        –       0  integers\n", "0.5        3       0  weights\n" })
        EXPECT_NE(text.find(row), std::string::npos) << row << text;
}

TEST(DiffText, SaysWhatMakesValuesInfinite)
{
    app::DiffView diff;
    diff.tensorsTotal = diff.tensorsDifferent = 1;
    EXPECT_EQ(app::notFiniteText(diff), "");
    diff.notFiniteA = 1;
    diff.notFiniteB = 2;
    EXPECT_EQ(app::notFiniteText(diff),
              "NaN or infinite: 1 element of A, 2 elements of B; max |Δ| and the relative L2 leave them out");
    diff.forms = { { "names", "", "_orig_mod.", 1, "" } };
    EXPECT_TRUE(app::notFiniteText(diff).starts_with("NaN or infinite: "));
    diff.forms = { { "dtypes", "F32", "F16", 1, "" } };
    EXPECT_TRUE(
        app::notFiniteText(diff).starts_with("NaN or infinite as rounded, which makes values infinite that are"));
}

TEST(ActText, SaysInWordsWhatComesBesideTheRun)
{
    app::ActPlanView plan;
    EXPECT_EQ(app::besideWords(plan), "");
    plan.beside = { { "journal", "2" }, { "lease", "1" }, { "spans", "1" }, { "refs", "1" } };
    EXPECT_EQ(app::besideWords(plan), "2 journal entries, 1 lease, 1 list of spans, 1 ref");
    plan.beside = { { "journal", "1" }, { "spans", "3" }, { "pins", "1" }, { "news", "4" } };
    EXPECT_EQ(app::besideWords(plan), "1 journal entry, 3 lists of spans, 1 pin, 4 news")
        << "a kind of a later version stays as it is";
    app::AnnotatedView view;
    view.text = "good: step 12";
    view.plan = plan;
    EXPECT_NE(actText(view, {}, Style {}).find("beside the run: 1 journal entry, 3 lists of spans"), std::string::npos);
}

} // namespace
} // namespace deltascope::cli
