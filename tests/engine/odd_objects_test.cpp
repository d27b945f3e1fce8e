#include "golden_copy.h"

#include <algorithm>

// Links that lead nowhere, FIFOs and folders in the place of objects are called what they are, at their step.

namespace deltascope {
namespace {

using namespace layout_test;

enum class Odd : std::uint8_t { Link, Pipe, Folder };

void putOdd(const std::string& path, Odd odd)
{
    std::filesystem::remove(path);
    if (odd == Odd::Link)
        std::filesystem::create_symlink("not-there-any-more", path);
    else if (odd == Odd::Folder)
        std::filesystem::create_directory(path);
    else
        ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
}

struct OddCase {
    const char* golden;
    const char* key;
    std::int64_t step;
};

class OddObjectsOf : public testing::TestWithParam<OddCase> { };

TEST_P(OddObjectsOf, AreNamedAtTheirStep)
{
    const OddCase& wanted = GetParam();
    for (const auto& [odd, word] : { std::pair(Odd::Link, "a link that leads nowhere"), std::pair(Odd::Pipe, "a FIFO"),
                                     std::pair(Odd::Folder, "a folder") }) {
        GoldenCopy golden(wanted.golden);
        putOdd(golden.file(wanted.key), odd);
        Session session;
        const auto run = session.open(golden.store, golden.base);
        ASSERT_TRUE(run) << run.error().text;
        const Version* version = run->find(wanted.step);
        ASSERT_TRUE(version) << wanted.golden;
        ASSERT_TRUE(version->obstacle) << wanted.golden << ", " << word;
        EXPECT_NE(version->obstacle->text.find(word), std::string::npos) << version->obstacle->text;
        EXPECT_EQ(version->obstacle->step, wanted.step);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, OddObjectsOf,
    testing::Values(OddCase { "trl-v2-gap", "deltas/step_000004.safetensors", 4 },
                    OddCase { "hf-sharded", "checkpoint-20/model-00002-of-00002.safetensors", 20 },
                    OddCase { "hf-sharded", "checkpoint-20/model.safetensors.index.json", 20 },
                    OddCase { "slime-v2-xor", "weight_v000003/model.safetensors.index.json", 3 },
                    OddCase { "trl-adapter", "out/.vllm_lora/trl-policy-v5/adapter_model.safetensors", 5 },
                    OddCase { "trl-adapter", "out/.vllm_lora/trl-policy-v5/adapter_config.json", 5 }));

TEST(OddObjects, BesideTheObjectsOfAVersionTakeNothingAway)
{
    GoldenCopy golden("hf-sharded");
    putOdd(golden.file("checkpoint-20/optimizer.pt"), Odd::Link);
    putOdd(golden.file("checkpoint-20/notes.txt"), Odd::Pipe);
    Session session;
    const auto run = session.open(golden.store);
    ASSERT_TRUE(run) << run.error().text;
    EXPECT_FALSE(run->find(20)->obstacle);
    EXPECT_TRUE(run->problems.empty());
}

TEST(OddObjects, GiveWayToTheMirror)
{
    GoldenCopy golden("trl-v2-gap");
    const GoldenCopy mirror("trl-v2-gap");
    putOdd(golden.file("deltas/step_000004.safetensors"), Odd::Pipe);
    Session session;
    OpenOptions options;
    options.mirrors.emplace({ Address(mirror.bucket()) });
    const auto run = openRun(session.bench, golden.store, options, session.task);
    ASSERT_TRUE(run) << run.error().text;
    EXPECT_FALSE(run->find(4)->obstacle);
    EXPECT_FALSE(run->find(5)->obstacle);
}

TEST(OddObjects, ALinkThatIsNotFollowedIsNamed)
{
    GoldenCopy golden("trl-v2-gap");
    std::filesystem::create_directory_symlink("/", golden.file("more"));
    Session session;
    const auto run = session.open(golden.store);
    ASSERT_TRUE(run) << run.error().text;
    const bool named = std::any_of(run->problems.begin(), run->problems.end(), [](const Error& problem) {
        return problem.where == "more" && problem.text.find("link to a folder") != std::string::npos;
    });
    EXPECT_TRUE(named);
}

} // namespace
} // namespace deltascope
