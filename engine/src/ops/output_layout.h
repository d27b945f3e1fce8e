#pragma once

#include "deltascope/engine/state.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// One safetensors file of a checkpoint that is to be written.
struct OutputShard {
    std::string name;
    std::vector<const TensorInfo*> tensors; ///< in the order of their data; of the state, which outlives them
    std::vector<std::uint64_t> begins; ///< offset of each tensor in the file
    std::uint64_t sizeBytes = 0;

    std::string header() const; ///< what the file begins with; as large as its names, and so not kept
};

/// An ordinary Hugging Face checkpoint.
struct OutputLayout {
    std::vector<OutputShard> shards;
    std::string indexJson; ///< text of model.safetensors.index.json; empty for a single file
    std::uint64_t sizeBytes = 0; ///< of all shards
};

/// Keeps the shards of the checkpoint that the state begins with (State::fileOf()). With `shardBytes` > 0 it cuts new
/// ones of that size and never splits a tensor.
OutputLayout makeOutputLayout(const State& state, std::uint64_t shardBytes);

/// Whether a file beside the weights belongs to a checkpoint that is to be loaded: config, tokenizer, generation
/// settings.
bool isSidecar(std::string_view fileName) noexcept;

/// Whether a trainer keeps what it needs to go on in such a file, and no reader of a model: as transformers, accelerate
/// and DeepSpeed name them.
bool isTrainerState(std::string_view fileName) noexcept;

} // namespace deltascope
