#pragma once

#include "synthetic_model.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace deltascope::support {

struct RunOptions {
    std::string layout; ///< trl-v2, slime-v2, hf
    std::string encoding; ///< gap_delta, raw; xor, overwrite
    std::string folder;
    std::string baseFolder; ///< slime-v2: where the checkpoint goes that the chain starts from
    std::string spaceFolder; ///< for temporary files
    std::uint64_t anchorEvery = 0; ///< 0: only the first step (trl-v2) or none (slime-v2)
    std::uint64_t shards = 1; ///< weight files of a plain checkpoint
    std::int64_t startSeconds = 0; ///< publication time of step 0
    std::int64_t secondsPerStep = 30;
};

/// What was written for one step.
struct StepRecord {
    std::uint64_t step = 0;
    bool anchor = false;
    std::optional<std::uint64_t> baseStep;
    std::uint64_t changed = 0; ///< elements that differ from the step before
    std::uint64_t wireBytes = 0;
};

/// Writes the steps of a synthetic run in the byte layout of a trainer, from the descriptions in docs/formats and
/// without any code of the engine's readers.
class RunWriter {
public:
    virtual ~RunWriter() = default;
    /// Makes step `step` (from 1 on, in order) and publishes it.
    virtual StepRecord write(std::uint64_t step) = 0;
};

/// Throws std::invalid_argument if the options do not fit together.
std::unique_ptr<RunWriter> makeRunWriter(const RunOptions& options, SyntheticModel& model);

using Metadata = std::map<std::string, std::string, std::less<>>;

/// One safetensors file with whole tensors of the model, in canonical order. Returns its size.
std::uint64_t writeTensorFile(const std::string& path, const SyntheticModel& model, std::size_t firstTensor,
                              std::size_t endTensor, const Metadata& metadata, std::int64_t modifiedSeconds);

/// A plain Hugging Face checkpoint in `folder`; `sidecars` adds configuration and tokenizer files. Returns its size.
std::uint64_t writeCheckpoint(const std::string& folder, const SyntheticModel& model, std::uint64_t shards,
                              bool sidecars, std::int64_t modifiedSeconds);

} // namespace deltascope::support
