#include "format/common/shard_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace deltascope {
namespace {

VersionObjects version(std::initializer_list<const char*> keys)
{
    VersionObjects objects;
    objects.step = 7;
    for (const char* key : keys) {
        ObjectInfo object;
        object.key = key;
        objects.objects.push_back(object);
    }
    return objects;
}

TEST(ShardNames, AreCompleteFromZeroAndFromOne)
{
    EXPECT_TRUE(
        shardProblems(version({ "v/model-00001-of-00002.safetensors", "v/model-00002-of-00002.safetensors" })).empty());
    EXPECT_TRUE(
        shardProblems(version({ "v/model-00000-of-00002.safetensors", "v/model-00001-of-00002.safetensors" })).empty());
    EXPECT_TRUE(shardProblems(version({ "v/model.safetensors", "v/notes-of-2.txt", "v/a-of-b.safetensors" })).empty());
}

TEST(ShardNames, TellWhichOneIsMissing)
{
    const auto problems =
        shardProblems(version({ "v/model-00001-of-00003.safetensors", "v/model-00003-of-00003.safetensors" }));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].code, Code::MissingTensor);
    EXPECT_EQ(problems[0].step, 7);
    EXPECT_EQ(problems[0].where, "v/model");
    EXPECT_NE(problems[0].text.find("number 2"), std::string::npos) << problems[0].text;
}

TEST(ShardNames, TellTwoSavesInOneFolder)
{
    const auto one = shardProblems(version({ "model-00001-of-00001.safetensors", "model-00001-of-00002.safetensors" }));
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].code, Code::Stray) << "one of them is complete";
    const auto none =
        shardProblems(version({ "model-00001-of-00003.safetensors", "model-00001-of-00002.safetensors" }));
    ASSERT_EQ(none.size(), 2U);
    EXPECT_EQ(none[0].code, Code::Stray);
    EXPECT_EQ(none[1].code, Code::MissingTensor);
}

TEST(ShardNames, TellOfShardsThatLieApartInTime)
{
    const auto problems = [](std::initializer_list<int> minutes) {
        VersionObjects objects;
        for (const int minute : minutes) {
            ObjectInfo object;
            object.key = fmt::format("model-{:05}-of-{:05}.safetensors", objects.objects.size() + 1, minutes.size());
            object.modifiedUs = 60'000'000LL * minute;
            objects.objects.push_back(object);
        }
        return shardProblems(objects);
    };
    EXPECT_TRUE(problems({ 0, 0, 0, 0 }).empty());
    EXPECT_TRUE(problems({ 5 }).empty());
    EXPECT_TRUE(problems({ 0, 30, 60, 90, 150 }).empty()) << "a slow save";
    EXPECT_TRUE(problems({ 0, 0, 59, 59 }).empty());
    const auto two = problems({ 300, 301, 2, 3 }); // saved over from the front on, and stopped
    ASSERT_EQ(two.size(), 1U);
    EXPECT_EQ(two[0].code, Code::Unproven);
    EXPECT_NE(two[0].text.find("2 of its 4 shards were written 5.0 hours before"), std::string::npos) << two[0].text;
}

TEST(ShardNames, ListFewOfManyThatAreMissing)
{
    const auto problems = shardProblems(version({ "model-00001-of-99999.safetensors" }));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems[0].text.find("99998 of them are not here"), std::string::npos) << problems[0].text;
    EXPECT_LT(problems[0].text.size(), 200U);
}

TEST(ShardNames, AreNoNumbersWhereTheyAreAbsurd)
{
    EXPECT_TRUE(shardProblems(version({ "model-00001-of-99999999999999999999.safetensors", "-of-2.safetensors",
                                        "model-00009-of-00002.safetensors", "of-00002.safetensors" }))
                    .empty());
}

} // namespace
} // namespace deltascope
