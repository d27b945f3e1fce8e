#include "deltascope/app/view/operation_view.h"

#include "cli/text.h"

#include <gtest/gtest.h>

// What is said of two states of which no tensor could be compared.

namespace deltascope::app {
namespace {

/// How many tensors have another form, are in A alone, in B alone, and are not meant.
DiffView apart(std::size_t reshaped, std::size_t onlyInA, std::size_t onlyInB, std::uint64_t leftOut = 0)
{
    DiffView diff;
    diff.reshaped.resize(reshaped, { "w", "BF16", "F16", { 4 }, { 4 } });
    diff.onlyInA.resize(onlyInA, "a");
    diff.onlyInB.resize(onlyInB, "b");
    diff.tensorsLeftOut = leftOut;
    if (leftOut > 0)
        diff.globs = { "lora_*" };
    return diff;
}

TEST(NothingCompared, SaysTheReasonThatHolds)
{
    const auto reason = [](const DiffView& diff) {
        const std::string text = nothingComparedText(diff);
        return text.substr(0, text.find(": nothing was compared"));
    };
    EXPECT_EQ(reason(apart(0, 3, 2)), "no tensor of A is one of B");
    EXPECT_EQ(reason(apart(3, 0, 0)), "each tensor has another dtype or shape in B than in A");
    EXPECT_EQ(reason(apart(1, 2, 0)), "1 tensor has another dtype or shape in B than in A, 2 are in A alone");
    EXPECT_EQ(reason(apart(2, 1, 1)),
              "2 tensors have another dtype or shape in B than in A, 1 is in A alone, 1 is in B alone");
    EXPECT_EQ(reason(apart(0, 3, 0)), "B has no tensor");
    EXPECT_EQ(reason(apart(0, 0, 0)), "neither A nor B has a tensor");
    EXPECT_EQ(reason(apart(0, 0, 3, 290)), "each tensor that is meant is in B alone");
    EXPECT_EQ(reason(apart(3, 0, 0, 290)), "each tensor that is meant has another dtype or shape in B than in A");
    EXPECT_EQ(reason(apart(0, 3, 3, 290)), "no tensor of A that is meant is one of B");
    DiffView compared = apart(1, 1, 1);
    compared.tensorsTotal = compared.elementsTotal = 1;
    EXPECT_EQ(nothingComparedText(compared), "");
}

TEST(NothingCompared, NorIsWhereNoTensorHasAnElement)
{
    DiffView hollow = apart(0, 1, 0);
    hollow.tensorsTotal = 2;
    EXPECT_EQ(nothingComparedText(hollow), "the 2 tensors that A and B share have no elements: nothing was compared");
    EXPECT_EQ(cli::diffText(hollow, {}).find("0 of 0 elements"), std::string::npos);
    DiffView same = apart(0, 0, 0);
    same.tensorsTotal = 2;
    same.equal = true;
    EXPECT_EQ(nothingComparedText(same), "");
    EXPECT_EQ(cli::diffText(same, {}).find("A and B are bit-identical (2 tensors without elements, "), 0U);
    same.elementsTotal = 1;
    EXPECT_EQ(cli::diffText(same, {}).find("A and B are bit-identical (2 tensors, "), 0U);
}

TEST(NothingCompared, SaysWhyFloatsAreNotRounded)
{
    DiffView diff;
    diff.reshaped = { { "v", "BF16", "F8_E4M3", { 4 }, { 4 } }, { "w", "BF16", "F8_E4M3", { 4 }, { 4 } } };
    const std::string text = cli::diffText(diff, {});
    EXPECT_NE(text.find("BF16 in A and F8_E4M3 in B are not compared as rounded: values of F8_E4M3 count with scales"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("rounded"), text.rfind("rounded")) << "once for two dtypes";
    diff.reshaped = { { "w", "BF16", "F16", { 4 }, { 4 } } };
    EXPECT_EQ(notRoundedText(diff),
              "BF16 in A and F16 in B are not compared as rounded: neither is a rounded form of the "
              "other");
    diff.reshaped = { { "w", "BF16", "I8", { 4 }, { 4 } }, { "w", "BF16", "BF16", { 4 }, { 2 } } };
    EXPECT_EQ(notRoundedText(diff), "");
}

TEST(NothingCompared, EqualTensorsOfAdaptersAreNotAllThatCounts)
{
    DiffView diff;
    diff.tensorsTotal = diff.elementsTotal = 2;
    diff.equal = true;
    diff.adapters = "the settings of B are not known";
    const std::string text = cli::diffText(diff, {});
    EXPECT_EQ(text.find("the settings of B are not known\nThe tensors of A and B are bit-identical (2 tensors, "), 0U)
        << text;
}

TEST(NothingCompared, NamesTheDocumentOfDigests)
{
    DigestCheckView check;
    check.onlyInDigests = { "w" };
    EXPECT_EQ(nothingComparedText(check), "the state has no tensor: nothing was compared");
    check.onlyInState = { "v" };
    EXPECT_EQ(nothingComparedText(check), "no tensor of the state is one of the document: nothing was compared");
    EXPECT_NE(cli::digestCheckText(check, "d.json", {}).find("no tensor of the state is one of the document"),
              std::string::npos);
    check.tensorsCompared = 1;
    EXPECT_EQ(nothingComparedText(check), "");
}

TEST(NothingCompared, TensorsOfAnotherFormAreNotCountedAsCompared)
{
    const std::string none = cli::diffText(apart(2, 1, 0, 297), {});
    EXPECT_NE(none.find("0 of 300 tensors compared (lora_*), 3 of one side alone or of another dtype or shape; nothing "
                        "is known of the other 297\n"),
              std::string::npos)
        << none;
    DiffView some = apart(0, 0, 0, 297);
    some.tensorsTotal = 3;
    some.equal = true;
    EXPECT_NE(cli::diffText(some, {}).find("3 of 300 tensors compared (lora_*); nothing is known of the other 297\n"),
              std::string::npos);
    EXPECT_EQ(cli::diffText(apart(2, 0, 0), {}).find("no tensor of A is one of B"), std::string::npos);
}

}
} // namespace deltascope::app
