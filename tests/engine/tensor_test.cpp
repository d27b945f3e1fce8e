#include "deltascope/engine/tensor.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace deltascope {
namespace {

constexpr std::uint64_t power(unsigned exponent) { return std::uint64_t(1) << exponent; }

TensorInfo shaped(Dtype dtype, std::vector<std::uint64_t> shape) { return { "a", dtype, std::move(shape) }; }

/// The text of the refusal, empty if there is none.
std::string refusalOf(const TensorInfo& info, Code code = Code::Malformed)
{
    const auto size = checkedSize(info);
    if (size)
        return "";
    EXPECT_EQ(size.error().code, code);
    return size.error().text;
}

TEST(Dtype, WordsAndBitsAreThoseOfTheLibraryInItsOrder)
{
    const std::vector<std::pair<std::string, unsigned>> expected {
        { "BOOL", 8 },    { "F4", 4 },      { "F6_E2M3", 6 }, { "F6_E3M2", 6 },     { "U8", 8 },          { "I8", 8 },
        { "F8_E5M2", 8 }, { "F8_E4M3", 8 }, { "F8_E8M0", 8 }, { "F8_E4M3FNUZ", 8 }, { "F8_E5M2FNUZ", 8 }, { "I16", 16 },
        { "U16", 16 },    { "F16", 16 },    { "BF16", 16 },   { "I32", 32 },        { "U32", 32 },        { "F32", 32 },
        { "C64", 64 },    { "F64", 64 },    { "I64", 64 },    { "U64", 64 }
    };
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto dtype = static_cast<Dtype>(i);
        EXPECT_EQ(word(dtype), expected[i].first);
        EXPECT_EQ(bitsOf(dtype), expected[i].second) << expected[i].first;
        EXPECT_EQ(parseDtype(expected[i].first), dtype);
    }
    EXPECT_EQ(static_cast<std::size_t>(Dtype::U64) + 1, expected.size());
}

TEST(Dtype, UnknownWordsAreNothing)
{
    for (const std::string_view unknown : { "", "BF17", "bf16", "BF16 ", "F8" })
        EXPECT_FALSE(parseDtype(unknown)) << unknown;
}

TEST(TensorInfo, CountsElementsAndBytes)
{
    EXPECT_EQ(shaped(Dtype::BF16, { 2, 4 }).elements(), 8U);
    EXPECT_EQ(shaped(Dtype::BF16, { 2, 4 }).bytes(), 16U);
    EXPECT_EQ(shaped(Dtype::F64, {}).bytes(), 8U) << "a scalar has one element";
    EXPECT_EQ(shaped(Dtype::F32, { 0, 3 }).bytes(), 0U);
    EXPECT_EQ(shaped(Dtype::F6E2M3, { 4 }).bytes(), 3U);
}

TEST(CheckedSize, AcceptsWhatFits)
{
    EXPECT_EQ(checkedSize(shaped(Dtype::BF16, { 2, 4 })), 16U);
    EXPECT_EQ(checkedSize(shaped(Dtype::U8, {})), 1U);
    EXPECT_EQ(checkedSize(shaped(Dtype::U64, { 0 })), 0U);
    EXPECT_EQ(checkedSize(shaped(Dtype::F4, { 6 })), 3U);
    EXPECT_EQ(checkedSize(shaped(Dtype::U8, std::vector<std::uint64_t>(16, 1))), 1U);
    EXPECT_EQ(checkedSize(shaped(Dtype::U8, { power(60) })), power(60));
}

TEST(CheckedSize, RefusesMoreThanSixteenDimensions)
{
    EXPECT_EQ(refusalOf(shaped(Dtype::U8, std::vector<std::uint64_t>(17, 1))),
              "tensor \"a\" has 17 dimensions, more than the 16 allowed");
}

TEST(CheckedSize, RefusesTooManyElements)
{
    for (const auto& shape :
         { std::vector { power(62) }, std::vector { power(31), power(31) }, std::vector { power(33), power(33) },
           std::vector { power(32), power(32), std::uint64_t(0) } })
        EXPECT_NE(refusalOf(shaped(Dtype::F4, shape), Code::Hostile).find("2^62 elements or more"), std::string::npos);
}

TEST(CheckedSize, RefusesBitsBeyond64)
{
    EXPECT_EQ(refusalOf(shaped(Dtype::BF16, { power(61) }), Code::Hostile),
              "tensor \"a\" with BF16 elements in the shape [2305843009213693952] is larger than any file: 2^64 bits "
              "or more");
    EXPECT_EQ(refusalOf(shaped(Dtype::BF16, { power(60) - 1 })), "");
}

TEST(CheckedSize, RefusesSizesThatAreNotWholeBytes)
{
    EXPECT_EQ(refusalOf(shaped(Dtype::F4, { 3 })),
              "tensor \"a\" with F4 elements in the shape [3] takes 12 bits, which are not whole bytes");
    EXPECT_NE(refusalOf(shaped(Dtype::F6E3M2, { 2 })), "");
}

TEST(CheckedSize, EscapesAndShortensNamesInItsText)
{
    const TensorInfo info { std::string("a\n\0\x9b\"\xe2\x80\xae\xc3\xb6", 10) + std::string(500, 'x'),
                            Dtype::F4,
                            { 1 } };
    const std::string text = refusalOf(info);
    EXPECT_EQ(text.rfind("tensor \"a\\u000a\\u0000\\x9b\\\"\\u202e\xc3\xb6xxx", 0), 0U) << text;
    EXPECT_NE(text.find("xxx...\" with F4"), std::string::npos) << text;
    EXPECT_LT(text.size(), 300U);
}

TEST(CanonicalBefore, PutsWideTypesFirstThenNamesByBytes)
{
    std::vector<TensorInfo> tensors { { "b", Dtype::BF16, {} },        { "a", Dtype::Bool, {} },
                                      { "\xc3\xb6", Dtype::BF16, {} }, { "z", Dtype::F32, {} },
                                      { "B", Dtype::BF16, {} },        { "c", Dtype::U64, {} } };
    std::sort(tensors.begin(), tensors.end(), canonicalBefore);
    std::string order;
    for (const TensorInfo& info : tensors)
        order += info.name + " ";
    EXPECT_EQ(order, "c z B b \xc3\xb6 a ");
    EXPECT_FALSE(canonicalBefore(tensors[0], tensors[0]));
}

} // namespace
} // namespace deltascope
