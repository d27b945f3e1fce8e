#include "ops/output_layout.h"

#include "golden_copy.h"
#include "state/rounded_state.h"
#include "state_fixture.h"

#include "deltascope/engine/plan.h"

#include <fstream>
#include <map>
#include <utility>

// Into which files a state is written, by what it says of the checkpoint that it begins with.

namespace deltascope {
namespace {

using namespace layout_test;

using Shards = std::map<std::string, std::vector<std::string>>;

/// Three tensors, a, b and c, as if they lay in files of a checkpoint.
class Filed final : public State {
public:
    /// `files`: by tensor; empty: the checkpoint does not hold it.
    explicit Filed(std::vector<std::string> files, bool isAdapter = false)
        : m_files(std::move(files))
        , m_isAdapter(isAdapter)
    {
    }
    TensorRange tensors() const noexcept override { return m_state.tensors(); }
    StatePlace place() const override { return { "memory", std::nullopt, true, m_isAdapter }; }
    std::optional<std::string_view> fileOf(std::size_t tensor) const override
    {
        return m_files[tensor].empty() ? std::nullopt : std::optional<std::string_view>(m_files[tensor]);
    }
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override
    {
        return m_state.walk(std::move(slices), std::move(options));
    }

private:
    FileState m_state = stateOf({ { tensor("a", { 2 }), "aaaa" },
                                  { tensor("b", { 3 }), "bbbbbb" },
                                  { tensor("c", { 2 }, Dtype::F32), "cccccccc" } });
    std::vector<std::string> m_files;
    bool m_isAdapter;
};

Shards shardsOf(const State& state, std::uint64_t shardBytes = 0)
{
    Shards shards;
    for (const OutputShard& shard : makeOutputLayout(state, shardBytes).shards) {
        std::vector<std::string>& names = shards[shard.name];
        for (const TensorInfo* tensor : shard.tensors)
            names.push_back(tensor->name);
    }
    return shards;
}

TEST(OutputLayout, IsThatOfTheFilesTheTensorsLayIn)
{
    const Filed state({ "x.safetensors", "y.safetensors", "x.safetensors" });
    EXPECT_EQ(shardsOf(state), (Shards { { "x.safetensors", { "c", "a" } }, { "y.safetensors", { "b" } } }))
        << "wide elements come first";
    const OutputLayout layout = makeOutputLayout(state, 0);
    EXPECT_NE(layout.indexJson.find(R"("b": "y.safetensors")"), std::string::npos) << layout.indexJson;
}

TEST(OutputLayout, PutsATensorThatNoFileHeldIntoTheLastOne)
{
    EXPECT_EQ(shardsOf(Filed({ "x.safetensors", "", "y.safetensors" })),
              (Shards { { "x.safetensors", { "a" } }, { "y.safetensors", { "c", "b" } } }));
}

TEST(OutputLayout, IsOneFileWhereTheFilesAreNoneOfACheckpoint)
{
    const Shards one { { "model.safetensors", { "c", "a", "b" } } };
    EXPECT_EQ(shardsOf(Filed({ "x.distcp", "y.distcp", "x.distcp" })), one);
    EXPECT_EQ(shardsOf(Filed({ "x.safetensors", "shard-00001.safetensors", "x.safetensors" })), one);
    EXPECT_EQ(shardsOf(Filed({ "", "", "" })), one) << "nothing is known";
    EXPECT_EQ(makeOutputLayout(Filed({ "", "", "" }), 0).indexJson, "");
}

TEST(OutputLayout, OfAnAdapterIsOneFileWherePeftLooks)
{
    const std::vector<std::string> files { "x.safetensors", "y.safetensors", "x.safetensors" };
    EXPECT_EQ(shardsOf(Filed(files, true)), (Shards { { "adapter_model.safetensors", { "c", "a", "b" } } }));
    EXPECT_EQ(shardsOf(Filed(files, true), 1).size(), 1U);
    EXPECT_EQ(shardsOf(Filed(files), 1).size(), 3U);
}

TEST(OutputLayout, OfASingleFileIsASingleFile)
{
    const FileState state = stateOf({ { tensor("a", { 2 }), "aaaa" }, { tensor("b", { 1 }, Dtype::F32), "bbbb" } });
    EXPECT_EQ(state.fileOf(1), "model.safetensors");
    EXPECT_EQ(shardsOf(state), (Shards { { "model.safetensors", { "b", "a" } } }));
}

TEST(OutputLayout, OfARoundedStateIsThatOfTheStateItself)
{
    const Filed state({ "x.safetensors", "y.safetensors", "x.safetensors" });
    const auto narrow = rounded(state, { { 2, Dtype::BF16 } });
    EXPECT_EQ(shardsOf(*narrow), (Shards { { "x.safetensors", { "a", "c" } }, { "y.safetensors", { "b" } } }));
    EXPECT_LT(makeOutputLayout(*narrow, 0).sizeBytes, makeOutputLayout(state, 0).sizeBytes);
}

/// The file of each tensor of the newest step of a run.
std::map<std::string, std::string> filesOf(const GoldenCopy& golden, bool& isAdapter)
{
    std::map<std::string, std::string> files;
    Session session;
    const auto run = session.open(golden.store, golden.base);
    EXPECT_TRUE(run) << run.error().text;
    const auto plan = planFor(*run, *run->latest());
    EXPECT_TRUE(plan) << plan.error().text;
    const auto path = openPath(*run, *plan, {}, session.task);
    EXPECT_TRUE(path) << path.error().text;
    for (std::size_t i = 0; i < (*path)->tensors().size(); ++i)
        files[(*path)->tensors()[i].name] = (*path)->fileOf(i).value_or("");
    isAdapter = (*path)->place().isAdapter;
    return files;
}

TEST(OutputLayout, OfAPathComesFromItsFirstLink)
{
    for (const auto& [name, from] :
         { std::pair { "hf-sharded", "bucket/checkpoint-20" }, std::pair { "slime-v2-xor", "base" } }) {
        SCOPED_TRACE(name);
        const Json index = Json::parse(std::ifstream(goldenPath(name) + "/" + from + "/model.safetensors.index.json"));
        bool isAdapter = true;
        const auto files = filesOf(GoldenCopy(name), isAdapter);
        EXPECT_FALSE(isAdapter);
        EXPECT_EQ(files, (index["weight_map"].get<std::map<std::string, std::string>>()));
    }
    bool isAdapter = false;
    EXPECT_FALSE(filesOf(GoldenCopy("trl-adapter"), isAdapter).empty());
    EXPECT_TRUE(isAdapter);
}

} // namespace
} // namespace deltascope
