#include "golden_copy.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

// Which files materialize writes beside the tensors, and which it leaves out and names.

namespace deltascope {
namespace {

using namespace layout_test;

using Names = std::set<std::string>;

class MaterializeFiles : public testing::Test {
protected:
    MaterializeFiles() { m_session.openDisk(); }

    MaterializeReport rebuild(const std::shared_ptr<ObjectStore>& store, std::int64_t step)
    {
        const auto run = m_session.open(store);
        EXPECT_TRUE(run) << run.error().text;
        const Version& version = *run->find(step);
        const auto plan = planFor(*run, version);
        EXPECT_TRUE(plan);
        MaterializeOptions options;
        options.destination = out(step);
        options.shardBytes = shardBytes;
        const auto report = materialize(m_session.bench, *run, version, *plan, options, m_session.task);
        EXPECT_TRUE(report) << report.error().text;
        return report ? *report : MaterializeReport();
    }
    std::string out(std::int64_t step) const { return m_session.folder.path(std::to_string(step)); }
    Names names(std::int64_t step) const
    {
        Names found;
        for (const auto& entry : std::filesystem::directory_iterator(out(step)))
            found.insert(entry.path().filename().string());
        return found;
    }

    Session m_session;
    std::uint64_t shardBytes = 0;
};

bool areNamed(const std::vector<Error>& notices, std::string_view text)
{
    return std::any_of(notices.begin(), notices.end(),
                       [text](const Error& notice) { return notice.text.find(text) != std::string::npos; });
}

TEST_F(MaterializeFiles, AConfigThatIsALinkOutOfTheSourceIsLeftOutAndNamed)
{
    const GoldenCopy golden("hf-sharded");
    test::TempDir elsewhere;
    elsewhere.write("secret", "not of this bucket");
    std::filesystem::remove(golden.file("checkpoint-10/config.json"));
    std::filesystem::create_symlink(elsewhere.path("secret"), golden.file("checkpoint-10/config.json"));
    std::filesystem::remove(golden.file("checkpoint-20/config.json"));
    std::filesystem::create_symlink("../config.json", golden.file("checkpoint-20/config.json"));

    EXPECT_TRUE(areNamed(rebuild(golden.store, 10).notices, "config.json is left out"));
    EXPECT_FALSE(names(10).contains("config.json"));
    EXPECT_FALSE(areNamed(rebuild(golden.store, 20).notices, "left out")) << "that link stays in the source";
    EXPECT_TRUE(names(20).contains("config.json"));
}

TEST_F(MaterializeFiles, TheConfigIsFoundWhereFrameworksPutIt)
{
    const GoldenCopy golden("hf-sharded");
    const auto move = [&](const char* from, const char* to) {
        std::filesystem::create_directories(std::filesystem::path(golden.file(to)).parent_path());
        std::filesystem::rename(golden.file(from), golden.file(to));
    };
    const auto configOf = [&](std::int64_t step) {
        std::ifstream file(out(step) + "/config.json");
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    // Of another checkpoint of the run.
    std::filesystem::remove(golden.file("checkpoint-10/config.json"));
    rebuild(golden.store, 10);
    EXPECT_TRUE(names(10).contains("config.json"));
    // One level up, which is nearer.
    std::ofstream(golden.file("config.json")) << "{ }";
    std::filesystem::remove_all(out(10));
    rebuild(golden.store, 10);
    EXPECT_EQ(configOf(10), "{ }");
    // Beside the weights is nearest.
    rebuild(golden.store, 20);
    EXPECT_NE(configOf(20), "{ }");
    std::filesystem::remove_all(out(20));
    std::filesystem::remove(golden.file("config.json"));
    move("checkpoint-20/config.json", "huggingface/config.json");
    rebuild(golden.store, 20);
    EXPECT_TRUE(names(20).contains("config.json"));
}

TEST_F(MaterializeFiles, OfAStateWithoutTensorsAreNone)
{
    const auto store = std::make_shared<MemoryStore>();
    ASSERT_TRUE(putText(*store, "checkpoint-1/model.safetensors", safetensorsFile({})));
    ASSERT_TRUE(putText(*store, "checkpoint-2/model.safetensors", safetensorsFile({ { tensor("a", { 0 }), "" } })));
    const auto run = m_session.open(store);
    ASSERT_TRUE(run) << run.error().text;
    const Version* const version = run->find(1);
    ASSERT_NE(version, nullptr);
    const auto plan = planFor(*run, *version);
    ASSERT_TRUE(plan) << plan.error().text;
    MaterializeOptions options;
    options.destination = out(1);
    const Error refused = errorOf(materialize(m_session.bench, *run, *version, *plan, options, m_session.task));
    EXPECT_EQ(refused.code, Code::Malformed);
    EXPECT_NE(refused.text.find("holds no tensor"), std::string::npos) << refused.text;
    EXPECT_FALSE(std::filesystem::exists(out(1)));
    EXPECT_EQ(rebuild(store, 2).tensors, 1U) << "one without elements has a name and a shape";
}

TEST_F(MaterializeFiles, OfAnAdapterAreThoseThatPeftReads)
{
    const GoldenCopy golden("trl-adapter");
    shardBytes = 1;
    rebuild(golden.store, 5);
    EXPECT_EQ(names(5), (Names { "adapter_model.safetensors", "adapter_config.json", "deltascope.provenance.json" }));

    const auto run = m_session.open(localStore(out(5)));
    ASSERT_TRUE(run) << run.error().text;
    EXPECT_TRUE(run->layout->holdsAdapters()) << "what was written is a source again";
    EXPECT_FALSE(run->versions.at(0).obstacle);
}

} // namespace
} // namespace deltascope
