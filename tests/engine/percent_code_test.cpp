#include "base/percent_code.h"

#include <gtest/gtest.h>

namespace deltascope {
namespace {

TEST(PercentCode, EncodesAllThatIsNotPlain)
{
    EXPECT_EQ(percentEncode("a/b c#?%+\xc3\xbc~-._", "/"), "a/b%20c%23%3F%25%2B%C3%BC~-._");
    EXPECT_EQ(percentEncode("refs/pr/1"), "refs%2Fpr%2F1");
    std::string all;
    for (int c = 1; c < 256; ++c)
        all += static_cast<char>(c);
    EXPECT_EQ(*percentDecode(percentEncode(all)), all);
}

TEST(PercentCode, RefusesWhatEncodesNothing)
{
    for (const char* wrong : { "%", "%4", "%zz", "a%2", "%g0", "%00" })
        EXPECT_EQ(percentDecode(wrong).error().code, Code::Usage) << wrong;
    EXPECT_EQ(percentDecode(std::string_view("a\0b", 3)).error().code, Code::Usage);
    EXPECT_EQ(*percentDecode("%2f%2F"), "//");
}

} // namespace
} // namespace deltascope
