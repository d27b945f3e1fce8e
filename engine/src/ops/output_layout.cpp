#include "output_layout.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/object_names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace deltascope {

namespace {

constexpr std::string_view SingleName = "model.safetensors";

/// Whether a checkpoint may have a file of this name. Files of dcp hold pieces of tensors: .distcp, "shard-…".
bool isCheckpointFile(std::string_view name) { return name.ends_with(".safetensors") && !name.starts_with("shard-"); }

using TensorPointers = std::vector<const TensorInfo*>;

TensorPointers allOf(const State& state)
{
    TensorPointers all;
    all.reserve(state.tensors().size());
    for (const TensorInfo& tensor : state.tensors())
        all.push_back(&tensor);
    return all;
}

/// Tensors by their file in the checkpoint that the state begins with; all in one file if that one has other files.
std::map<std::string, TensorPointers> shardsAsTheyLay(const State& state)
{
    std::map<std::string, TensorPointers> shards;
    TensorPointers homeless;
    const TensorRange tensors = state.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (const std::optional<std::string_view> file = state.fileOf(i))
            shards[std::string(*file)].push_back(&tensors[i]);
        else
            homeless.push_back(&tensors[i]);
    }
    const bool areCheckpointFiles =
        std::all_of(shards.begin(), shards.end(), [](const auto& shard) { return isCheckpointFile(shard.first); });
    if (shards.size() <= 1 || !areCheckpointFiles)
        return { { std::string(SingleName), allOf(state) } };
    for (const TensorInfo* tensor : homeless)
        shards.rbegin()->second.push_back(tensor);
    return shards;
}

std::map<std::string, TensorPointers> shardsOfSize(const State& state, std::uint64_t shardBytes)
{
    std::vector<TensorPointers> cut(1);
    std::uint64_t filled = 0;
    for (const TensorInfo& tensor : state.tensors()) {
        if (!cut.back().empty() && filled + tensor.bytes() > shardBytes) {
            cut.emplace_back();
            filled = 0;
        }
        filled += tensor.bytes();
        cut.back().push_back(&tensor);
    }
    if (cut.size() == 1)
        return { { std::string(SingleName), std::move(cut.front()) } };
    std::map<std::string, TensorPointers> shards;
    for (std::size_t i = 0; i < cut.size(); ++i)
        shards[fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, cut.size())] = std::move(cut[i]);
    return shards;
}

OutputShard makeShard(std::string name, TensorPointers tensors)
{
    OutputShard shard;
    shard.name = std::move(name);
    shard.tensors = std::move(tensors);
    std::sort(shard.tensors.begin(), shard.tensors.end(),
              [](const TensorInfo* a, const TensorInfo* b) { return canonicalBefore(*a, *b); });
    shard.sizeBytes = shard.header().size();
    for (const TensorInfo* tensor : shard.tensors) {
        shard.begins.push_back(shard.sizeBytes);
        shard.sizeBytes += tensor->bytes();
    }
    return shard;
}

/// As transformers writes it: keys sorted, indented by two, a line break at the end.
std::string makeIndex(const std::vector<OutputShard>& shards)
{
    nlohmann::json index;
    std::uint64_t total = 0;
    nlohmann::json& map = index["weight_map"] = nlohmann::json::object();
    for (const OutputShard& shard : shards) {
        for (const TensorInfo* tensor : shard.tensors) {
            map[tensor->name] = shard.name;
            total += tensor->bytes();
        }
    }
    index["metadata"]["total_size"] = total;
    return index.dump(2) + "\n";
}

}

std::string OutputShard::header() const { return writeSafetensorsHeaderOf(tensors, { { "format", "pt" } }); }

OutputLayout makeOutputLayout(const State& state, std::uint64_t shardBytes)
{
    OutputLayout layout;
    if (state.place().isAdapter)
        layout.shards.push_back(makeShard(std::string(AdapterWeightsName), allOf(state))); // PEFT knows no shards
    else
        for (auto& [name, tensors] : shardBytes > 0 ? shardsOfSize(state, shardBytes) : shardsAsTheyLay(state))
            layout.shards.push_back(makeShard(name, std::move(tensors)));
    for (const OutputShard& shard : layout.shards)
        layout.sizeBytes += shard.sizeBytes;
    if (layout.shards.size() > 1)
        layout.indexJson = makeIndex(layout.shards);
    return layout;
}

bool isTrainerState(std::string_view fileName) noexcept
{
    constexpr std::array<std::string_view, 7> Starts = {
        "optimizer.", "scheduler.", "scaler.", "trainer_state.", "training_args.", "rng_state", "random_states_",
    };
    return std::any_of(Starts.begin(), Starts.end(),
                       [&](std::string_view start) { return fileName.starts_with(start); });
}

bool isSidecar(std::string_view fileName) noexcept
{
    constexpr std::array<std::string_view, 13> Names = {
        AdapterConfigName,
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
        "vocab.txt",
        "merges.txt",
        "preprocessor_config.json",
        "processor_config.json",
        "chat_template.json",
    };
    return std::find(Names.begin(), Names.end(), fileName) != Names.end() || fileName.ends_with(".jinja")
        || fileName.ends_with(".model") || fileName.ends_with(".tiktoken");
}

} // namespace deltascope
