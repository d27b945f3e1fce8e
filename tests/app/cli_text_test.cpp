#include "cli/terminal.h"
#include "cli_fixture.h"

// Text in columns, bars and numbers.

namespace deltascope::cli {
namespace {

using namespace cli_test;

TEST(SafeText, LeavesPrintableTextAlone)
{
    for (const char* text : { "", "model.layers.0.weight", "größe", "模型", "😀", "a b" })
        EXPECT_EQ(safe(text), text);
}

TEST(SafeText, EscapesWhatATerminalObeys)
{
    EXPECT_EQ(safe("\x1b[31m"), "\\u{1b}[31m");
    EXPECT_EQ(safe("\u202e"), "\\u{202e}");
    EXPECT_EQ(safe("\u009b"), "\\u{9b}");
    EXPECT_EQ(safe(std::string_view("\0", 1)), "\\u{0}");
    EXPECT_EQ(safe("\x7f\n\t"), "\\u{7f}\\u{a}\\u{9}");
}

TEST(SafeText, EscapesBrokenUtf8)
{
    EXPECT_EQ(safe("\xff"), "\\xff");
    EXPECT_EQ(safe("a\xc3"), "a\\xc3");
    EXPECT_EQ(safe("\x9b"), "\\x9b"); // C1 in Latin-1
}

TEST(SafeText, OverlongFormsHideNoControl)
{
    for (const char* overlong : { "\xc0\x9b", "\xe0\x80\x9b", "\xf0\x80\x80\x9b", "\xc1\x9b", "\xe0\x82\x9b" })
        expectHarmless(safe(overlong), overlong);
}

TEST(NumberText, HasThreeDigitGroupsAndUnits)
{
    EXPECT_EQ(countText(0), "0");
    EXPECT_EQ(countText(999), "999");
    EXPECT_EQ(countText(92'352), "92,352");
    EXPECT_EQ(countText(1'000'000), "1,000,000");
    EXPECT_EQ(bytesText(0), "0 B");
    EXPECT_EQ(bytesText(999), "999 B");
    EXPECT_EQ(bytesText(187'384), "187.4 kB");
    EXPECT_EQ(bytesText(999'999), "1.0 MB");
    EXPECT_EQ(bytesText(~0ULL), "18.4 EB");
}

TEST(NumberText, SmallSharesAreNotZero)
{
    EXPECT_EQ(percentText(0), "0 %");
    EXPECT_EQ(percentText(0.00001), "<0.01 %");
    EXPECT_EQ(percentText(0.0083), "0.83 %");
    EXPECT_EQ(percentText(0.5), "50.0 %");
    EXPECT_EQ(percentText(0.9994), "99.9 %");
    EXPECT_EQ(percentText(0.9999999), ">99.9 %");
    EXPECT_EQ(percentText(1), "100.0 %");
}

TEST(NumberText, AgesAreWholeUnitsAndNeverNegative)
{
    EXPECT_EQ(ageText(10'000'000, 17'000'000), "7 s");
    EXPECT_EQ(ageText(17'000'000, 10'000'000), "0 s");
    EXPECT_EQ(ageText(0, 172'800'000'000), "2 d");
}

TEST(NumberText, BarsHaveTheirWidth)
{
    const auto cells = [](const std::string& bar) {
        return std::count_if(bar.begin(), bar.end(),
                             [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    };
    for (const double fraction : { 0.0, 0.0001, 0.1, 0.49, 0.5, 0.999, 1.0, 2.0 })
        EXPECT_EQ(cells(barText(fraction, 8)), 8) << fraction;
    EXPECT_EQ(barText(0, 4), "    ");
    EXPECT_NE(barText(0.0001, 4), "    ");
}

} // namespace
} // namespace deltascope::cli
