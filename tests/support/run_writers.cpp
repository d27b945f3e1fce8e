#include "run_writers.h"

#include "deltascope/engine/safetensors.h"
#include "slime_writer.h"
#include "spool.h"
#include "trl_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace deltascope::support {
namespace {

std::uint64_t writeText(const std::string& path, std::string_view text, std::int64_t modifiedSeconds)
{
    SequentialFile file(path);
    file.write(asBytes(text));
    return file.close(modifiedSeconds);
}

class CheckpointWriter final : public RunWriter {
public:
    CheckpointWriter(const RunOptions& options, SyntheticModel& model)
        : m_options(options)
        , m_model(model)
    {
    }

    StepRecord write(std::uint64_t step) override
    {
        StepRecord record { step, true, std::nullopt, 0, 0 };
        ChangeSink nobody;
        if (step > 1)
            record.changed = m_model.advance(step, nobody);
        record.wireBytes =
            writeCheckpoint(fmt::format("{}/checkpoint-{}", m_options.folder, step), m_model, m_options.shards, true,
                            m_options.startSeconds + static_cast<std::int64_t>(step) * m_options.secondsPerStep);
        return record;
    }

private:
    RunOptions m_options;
    SyntheticModel& m_model;
};

} // namespace

std::uint64_t writeTensorFile(const std::string& path, const SyntheticModel& model, std::size_t firstTensor,
                              std::size_t endTensor, const Metadata& metadata, std::int64_t modifiedSeconds)
{
    // One element type, so the order by name is the canonical one.
    const std::vector<TensorInfo> infos(model.tensors().begin() + static_cast<std::ptrdiff_t>(firstTensor),
                                        model.tensors().begin() + static_cast<std::ptrdiff_t>(endTensor));
    SequentialFile file(path);
    file.write(asBytes(writeSafetensorsHeader(infos, metadata)));
    for (std::size_t i = firstTensor; i < endTensor; ++i)
        file.write(model.bytesOf(i));
    return file.close(modifiedSeconds);
}

std::uint64_t writeCheckpoint(const std::string& folder, const SyntheticModel& model, std::uint64_t shards,
                              bool sidecars, std::int64_t modifiedSeconds)
{
    const std::size_t count = model.tensors().size();
    const Metadata metadata { { "format", "pt" } };
    std::uint64_t bytes = 0;
    if (shards <= 1) {
        bytes += writeTensorFile(folder + "/model.safetensors", model, 0, count, metadata, modifiedSeconds);
    } else {
        nlohmann::json weightMap = nlohmann::json::object();
        std::uint64_t total = 0;
        for (std::uint64_t shard = 0; shard < shards; ++shard) {
            const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
            const std::size_t first = count * shard / shards, end = count * (shard + 1) / shards;
            bytes += writeTensorFile(folder + "/" + name, model, first, end, metadata, modifiedSeconds);
            for (std::size_t i = first; i < end; ++i) {
                weightMap[model.tensors()[i].name] = name;
                total += model.tensors()[i].bytes();
            }
        }
        const nlohmann::json index { { "metadata", { { "total_size", total } } }, { "weight_map", weightMap } };
        bytes += writeText(folder + "/model.safetensors.index.json", index.dump(2) + "\n", modifiedSeconds);
    }
    if (sidecars) {
        bytes += writeText(folder + "/config.json",
                           "{\n  \"architectures\": [\"Synthetic\"],\n  \"model_type\": \"synthetic\"\n}\n",
                           modifiedSeconds);
        bytes += writeText(folder + "/tokenizer_config.json", "{\"model_max_length\": 4096}\n", modifiedSeconds);
    }
    return bytes;
}

std::unique_ptr<RunWriter> makeRunWriter(const RunOptions& options, SyntheticModel& model)
{
    if (options.layout == "trl-v2")
        return std::make_unique<TrlWriter>(options, model);
    if (options.layout == "slime-v2")
        return std::make_unique<SlimeWriter>(options, model);
    if (options.layout == "hf")
        return std::make_unique<CheckpointWriter>(options, model);
    throw std::invalid_argument("unknown layout " + options.layout);
}

} // namespace deltascope::support
