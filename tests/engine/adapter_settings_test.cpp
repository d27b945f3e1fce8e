#include "ops/adapter_settings.h"

#include "state_fixture.h"

#include <gtest/gtest.h>

// Which settings of two adapters differ, and which differences say nothing about what they do.

namespace deltascope {
namespace {

using namespace layout_test;

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

using Tensors = std::vector<FileTensor>;

const Tensors Lora { { tensor("base_model.model.q.lora_A.weight", { 2 }), "1234" },
                     { tensor("base_model.model.q.lora_B.weight", { 2 }), "5678" } };

/// A file of weights, with the config beside it unless that is empty.
FileState fileOf(const std::string& key, const Tensors& tensors, const std::string& config)
{
    const auto store = std::make_shared<MemoryStore>();
    EXPECT_TRUE(putText(*store, key, safetensorsFile(tensors)));
    if (!config.empty()) {
        EXPECT_TRUE(putText(*store, "lora/adapter_config.json", config));
    }
    auto state = FileState::open(store, key, test::anyTask());
    EXPECT_TRUE(state) << state.error().text;
    return std::move(*state);
}

DiffReport diffOf(const State& a, const State& b)
{
    const auto report = diffStates(bench(), a, b, {}, test::anyTask(), { TensorGlobs(), true, {} });
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : DiffReport();
}

FileState adapterOf(const std::string& config) { return fileOf("lora/adapter_model.safetensors", Lora, config); }

TEST(AdapterFiles, HaveTheSettingsBesideThem)
{
    const FileState half = adapterOf(R"({"lora_alpha":16})");
    const DiffReport report = diffOf(half, adapterOf(R"({"lora_alpha":32})"));
    EXPECT_FALSE(report.equal());
    ASSERT_EQ(report.settings.size(), 1U);
    EXPECT_EQ(report.settings[0].name, "lora_alpha");
    const DiffReport same = diffOf(half, adapterOf(R"({"lora_alpha":16})"));
    EXPECT_TRUE(same.equal());
    EXPECT_EQ(same.adapters, "");
    const auto broken = diffStates(bench(), half, adapterOf("["), {}, test::anyTask());
    EXPECT_EQ(errorOf(broken).where, "lora/adapter_config.json");
}

TEST(AdapterFiles, OfWhichOneHasNoSettingsAreNotJustEqual)
{
    const FileState known = adapterOf(R"({"lora_alpha":16})");
    EXPECT_NE(diffOf(known, adapterOf("")).adapters.find("settings of B are not known"), std::string::npos);
    EXPECT_NE(diffOf(adapterOf(""), known).adapters.find("settings of A are not known"), std::string::npos);
    EXPECT_NE(diffOf(adapterOf(""), adapterOf("")).adapters.find("neither are known"), std::string::npos);
    EXPECT_NE(diffOf(known, fileOf("lora/copy.safetensors", Lora, "")).adapters, "") << "its names tell";
    const Tensors model { { tensor("q.weight", { 2 }), "1234" } };
    EXPECT_EQ(diffOf(fileOf("a.safetensors", model, ""), fileOf("b.safetensors", model, "")).adapters, "");
}

TEST(AdapterFiles, BesideAModelSayWhatTheyAre)
{
    const FileState model = stateOf({ { tensor("model.q.weight", { 2 }), "1234" } });
    const FileState lora = adapterOf("{}");
    for (const bool back : { false, true }) {
        const DiffReport report = back ? diffOf(model, lora) : diffOf(lora, model);
        EXPECT_NE(report.adapters.find(back ? "B is an adapter (PEFT, " : "A is an adapter (PEFT, "), std::string::npos)
            << report.adapters;
        EXPECT_NE(report.adapters.find("merge_and_unload"), std::string::npos);
        EXPECT_FALSE(report.equal());
    }
}

TEST(AdapterFiles, AreNoModelsThatAreWrappedWithThem)
{
    const FileTensor part { tensor("m.q.lora_A.weight", { 2 }), "1234" };
    EXPECT_TRUE(holdsAdapter(stateOf({ part })));
    EXPECT_TRUE(holdsAdapter(stateOf({ part, { tensor("m.norm.weight", { 2 }), "1234" } }))) << "modules_to_save";
    EXPECT_FALSE(holdsAdapter(stateOf({ part, { tensor("m.q.base_layer.weight", { 2 }), "1234" } })));
    EXPECT_FALSE(holdsAdapter(stateOf({ part, { tensor("m.q.weight", { 2 }), "1234" } })));
    EXPECT_FALSE(holdsAdapter(stateOf({ { tensor("m.norm.weight", { 2 }), "1234" } })));
}

} // namespace
} // namespace deltascope
