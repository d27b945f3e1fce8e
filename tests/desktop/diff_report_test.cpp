#include "pages/diff/diff_report.h"

#include <gtest/gtest.h>

// A comparison as it is saved.

namespace deltascope::desktop {
namespace {

std::string markdownOf(const app::DiffView& diff)
{
    return makeReport(diff, QStringLiteral("r"), QStringLiteral("1"), QStringLiteral("2")).markdown().toStdString();
}

app::DiffView compared()
{
    app::DiffView diff;
    diff.tensorsTotal = 290;
    diff.elementsTotal = 290;
    return diff;
}

TEST(DiffReport, SaysHowItsSidesWereComparedAndOfWhichBytes)
{
    app::DiffView diff = compared();
    diff.forms = { { "dtypes", "F32", "BF16", 290, "F32 is compared as rounded to BF16" } };
    diff.settings = { { "r", "8", "null" } };
    diff.reads.rewritten = { "deltas/3" };
    const std::string text = markdownOf(diff);
    EXPECT_NE(text.find("- tensors different: 0 of 290\n"), std::string::npos) << text;
    EXPECT_NE(text.find("- compared as: F32 is compared as rounded to BF16\n"), std::string::npos) << text;
    EXPECT_NE(text.find("- settings: r is 8 in A and null in B\n"), std::string::npos) << text;
    EXPECT_NE(text.find("- read: ⚑ rewritten and used: deltas/3\n"), std::string::npos) << text;
}

TEST(DiffReport, SaysNoMoreWhereThereIsNoMoreToKnow)
{
    const std::string text = markdownOf(compared());
    for (const char* name : { "compared as", "settings", "- read", "nothing was compared" })
        EXPECT_EQ(text.find(name), std::string::npos) << text;
}

TEST(DiffReport, StatesOfWhichNothingWasComparedAreNeitherEqualNorNot)
{
    app::DiffView diff;
    diff.reshaped = { { "w", "BF16", "F16", { 4 }, { 4 } } };
    const std::string text = markdownOf(diff);
    EXPECT_NE(text.find("- equal: not known\n"), std::string::npos) << text;
    EXPECT_NE(text.find("- tensors different: each tensor has another dtype or shape in B than in A: nothing was "
                        "compared\n"),
              std::string::npos)
        << text;
}

}
} // namespace deltascope::desktop
