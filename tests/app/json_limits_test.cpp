#include "recorded/json_limits.h"

#include <gtest/gtest.h>
#include <string>

namespace deltascope::app {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string listOf(std::size_t values)
{
    std::string text = "[1";
    for (std::size_t i = 1; i < values; ++i)
        text += ",1";
    return text + "]";
}

TEST(JsonLimits, AreKeptByWhatBundlesHold)
{
    EXPECT_TRUE(keepsJsonLimits(R"({"rows":[{"name":"a","codes":"AAAA"}],"more":null,"x":[1,2.5,true]})"));
    EXPECT_TRUE(keepsJsonLimits(nested(MostJsonDepth)));
    EXPECT_TRUE(keepsJsonLimits(listOf(MostJsonValues - 1))); // and the list itself
}

TEST(JsonLimits, EndADocumentThatIsTooDeepOrTooLarge)
{
    EXPECT_FALSE(keepsJsonLimits(nested(MostJsonDepth + 1)));
    EXPECT_FALSE(keepsJsonLimits(nested(1'000'000)));
    EXPECT_FALSE(keepsJsonLimits(listOf(MostJsonValues)));
    EXPECT_FALSE(keepsJsonLimits("[[["));
}

} // namespace
} // namespace deltascope::app
