#include "deltascope/base/bytes.h"
#include "deltascope/base/code.h"

#include <array>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace deltascope {

TEST(Bytes, HexIsLowerCaseAndTwoDigitsEach)
{
    const std::array bytes = { std::byte { 0x00 }, std::byte { 0x0f }, std::byte { 0xa5 }, std::byte { 0xff } };
    EXPECT_EQ(toHex(bytes), "000fa5ff");
    EXPECT_EQ(toHex({}), "");
}

TEST(Bytes, ParsesWholeNumbers)
{
    EXPECT_EQ(parseNumber("0"), 0);
    EXPECT_EQ(parseNumber("000042"), 42);
    EXPECT_EQ(parseNumber("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
}

TEST(Bytes, RefusesWhatIsNoWholeNumber)
{
    for (const char* text :
         { "", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "a", "9223372036854775808", "99999999999999999999999999" })
        EXPECT_EQ(parseNumber(text), std::nullopt) << text;
    EXPECT_EQ(parseNumber(std::string_view("1\0", 2)), std::nullopt);
}

TEST(Bytes, LoadsAndStoresLittleEndian)
{
    std::array<std::byte, 6> bytes = {};
    storeLe<std::uint32_t>(bytes, 1, 0x04030201);
    EXPECT_EQ(toHex(bytes), "000102030400");
    EXPECT_EQ(loadLe<std::uint16_t>(bytes, 2), 0x0302);
}

TEST(Bytes, CheckedArithmeticSeesOverflow)
{
    constexpr auto Max = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(checkedAdd(Max, 0), Max);
    EXPECT_EQ(checkedAdd(Max, 1), std::nullopt);
    EXPECT_EQ(checkedMul(Max, 1), Max);
    EXPECT_EQ(checkedMul(std::uint64_t { 1 } << 32, std::uint64_t { 1 } << 32), std::nullopt);
}

TEST(Code, EveryCodeHasItsOwnWordAndARemedy)
{
    std::set<std::string_view> words;
    for (int i = 0; i <= static_cast<int>(Code::Internal); ++i) {
        const auto code = static_cast<Code>(i);
        EXPECT_TRUE(words.insert(word(code)).second) << word(code);
        EXPECT_TRUE(word(code).starts_with("DS-"));
        EXPECT_TRUE(remedy(code).ends_with('.')) << remedy(code);
    }
    EXPECT_EQ(words.size(), 45U);
}

TEST(Code, WordsAreThoseThatScriptsKnow)
{
    EXPECT_EQ(word(Code::ChainGap), "DS-CHAIN-GAP");
    EXPECT_EQ(word(Code::NoSpace), "DS-NOSPACE");
    EXPECT_EQ(word(Code::Transient), "DS-NETWORK");
    EXPECT_EQ(word(Code::Internal), "DS-INTERNAL");
}

} // namespace deltascope
