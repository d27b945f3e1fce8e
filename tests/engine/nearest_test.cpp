#include "deltascope/base/nearest.h"

#include "support/sanitizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace deltascope {
namespace {

using Words = std::vector<std::string>;

Words near(std::string_view typed, const Words& words, std::size_t most = 3)
{
    return nearestWords(typed, { words.begin(), words.end() }, most);
}

const Words Commands { "log", "ls", "show", "watch" };

TEST(NearestWords, AreThoseWithTheFewestEdits)
{
    EXPECT_EQ(near("lg", Commands), (Words { "log", "ls" }));
    EXPECT_EQ(near("lg", Commands, 1), Words { "log" });
    EXPECT_EQ(near("wacth", Commands), Words { "watch" });
    EXPECT_EQ(near("show", Commands), Words { "show" });
}

TEST(NearestWords, AreNoneWhereNothingIsNear)
{
    EXPECT_EQ(near("completely", Commands), Words());
    EXPECT_EQ(near("xy", Commands), Words());
    EXPECT_EQ(near("", Commands), Words());
    EXPECT_EQ(near("lg", {}), Words());
    EXPECT_EQ(near(std::string(100'000, 'l'), { std::string(100'000, 'l') }), Words());
}

TEST(NearestWords, TakeAStarForAnyLetters)
{
    const Words names { "lm_head.weight", "model.norm.weight", "model.layers.3.mlp.weight" };
    EXPECT_EQ(near("lm_haed*", names), Words { "lm_head.weight" });
    EXPECT_EQ(near("model.layer.*.mlp.*", names), Words { "model.layers.3.mlp.weight" });
    EXPECT_EQ(near("*.norm.wieght", names), Words { "model.norm.weight" });
    EXPECT_EQ(near("visual.*", names), Words());
    EXPECT_EQ(near("x*", names), Words());
}

/// Many long names that begin alike: what is looked at has an end.
TEST(NearestWords, TakeABoundedAmountOfWork)
{
    const std::string start = "model.language_model.layers.self_attention.experts.";
    Words names;
    constexpr int Names = test::UnderSanitizer ? 10'000 : 100'000;
    for (int i = 0; i < Names; ++i)
        names.push_back(fmt::format("{}{}.gate_up_projection.weight", start, i));
    EXPECT_EQ(near(fmt::format("{}{}.gate_up_porjection.weight", start, Names - 1), names), Words { names.back() });
    EXPECT_EQ(near("*" + start + "*.gate_up_projection.wieght", names).size(), 3U);
}

/// Against the definition: every edit tried.
TEST(NearestWords, CountEditsAsTheirDefinitionDoes)
{
    const auto distance = [](const std::string& a, const std::string& b) {
        std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
        for (std::size_t i = 0; i <= a.size(); ++i) {
            for (std::size_t j = 0; j <= b.size(); ++j)
                table[i][j] = i == 0 ? j
                    : j == 0         ? i
                                     : std::min({ table[i - 1][j] + 1, table[i][j - 1] + 1,
                                                  table[i - 1][j - 1] + (a[i - 1] != b[j - 1]) });
        }
        return table[a.size()][b.size()];
    };
    std::uint32_t state = 7;
    const auto word = [&](std::size_t letters) {
        std::string text;
        for (std::size_t i = 0; i < letters; ++i)
            text += static_cast<char>('a' + ((state = state * 1664525 + 1013904223) >> 24) % 3);
        return text;
    };
    for (int round = 0; round < 2000; ++round) {
        const std::string typed = word(6 + round % 10);
        const std::string other = word(5 + round % 12);
        const std::size_t limit = std::max<std::size_t>(2, typed.size() / 3);
        EXPECT_EQ(!near(typed, { other }).empty(), distance(typed, other) <= limit) << typed << " " << other;
    }
}

} // namespace
} // namespace deltascope
