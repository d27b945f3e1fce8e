#include "ops/adapter_settings.h"

#include <gtest/gtest.h>

// Which settings of two adapters differ, and which differences say nothing about what they do.

namespace deltascope {
namespace {

std::string different(std::string_view a, std::string_view b)
{
    const auto settings = settingsThatDiffer(a, b, "a", "b");
    EXPECT_TRUE(settings);
    std::string text;
    for (const SettingDiff& setting : settings ? *settings : std::vector<SettingDiff>())
        text += setting.name + " " + setting.a + " " + setting.b + "\n";
    return text;
}

TEST(AdapterSettings, AreNamedWithBothValues)
{
    EXPECT_EQ(different(R"({"r":8,"lora_alpha":8})", R"({"r":8,"lora_alpha":32})"), "lora_alpha 8 32\n");
    EXPECT_EQ(different(R"({"target_modules":["q","v"]})", R"({"target_modules":["q"]})"),
              "target_modules [\"q\",\"v\"] [\"q\"]\n");
    EXPECT_EQ(different(R"({"use_dora":true})", R"({})"), "use_dora true null\n");
    EXPECT_EQ(different(R"({"rank_pattern":{"q":4}})", R"({"rank_pattern":{"q":8}})"),
              "rank_pattern {\"q\":4} {\"q\":8}\n");
    EXPECT_EQ(different(R"({"init_lora_weights":"pissa"})", R"({"init_lora_weights":true})"),
              "init_lora_weights \"pissa\" true\n");
}

TEST(AdapterSettings, OrderAndWhatChangesNothingAreNoDifference)
{
    EXPECT_EQ(different(R"({"r":8,"target_modules":["q","v"],"inference_mode":true,"bias":"none"})",
                        R"({"target_modules":["v","q"],"inference_mode":false,"r":8})"),
              "");
    EXPECT_EQ(different(R"({"base_model_name_or_path":"/a","revision":null,"use_dora":false,"rank_pattern":{}})",
                        R"({"base_model_name_or_path":"/b","revision":"main","lora_dropout":0.1})"),
              "");
    EXPECT_EQ(different(R"({"init_lora_weights":"gaussian"})", R"({"init_lora_weights":true})"), "");
}

TEST(AdapterSettings, ATextThatIsNoObjectIsAnErrorWithItsPlace)
{
    const auto settings = settingsThatDiffer("{}", "[", "a", "b");
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().where, "b");
}

} // namespace
} // namespace deltascope
