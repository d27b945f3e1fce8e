#pragma once

#include "run_writers.h"
#include "spool.h"

#include <vector>

namespace deltascope::support {

/// docs/formats/trl-v2.md: anchors/step_N.safetensors and deltas/step_N.safetensors, encodings gap_delta and raw.
class TrlWriter final : public RunWriter, private ChangeSink {
public:
    TrlWriter(const RunOptions& options, SyntheticModel& model);
    StepRecord write(std::uint64_t step) override;

private:
    struct Stored {
        std::size_t tensor = 0;
        std::uint64_t count = 0;
        std::uint64_t first = 0; ///< index of its first entry in both spools
        std::uint64_t largestGap = 0;
    };

    void beginTensor(std::size_t tensor) override;
    void window(const ChangedWindow& window) override;
    void endTensor(std::size_t tensor) override;

    std::uint64_t writeDelta(const std::string& path, std::uint64_t step, std::int64_t seconds);
    void writeIndices(SequentialFile& file, const Stored& stored, Dtype type) const;

    RunOptions m_options;
    SyntheticModel& m_model;
    bool m_gaps = true;
    bool m_collect = false;
    Spool m_indices; ///< u32 each: gaps, or positions with encoding raw
    Spool m_values;
    std::vector<Stored> m_stored;
    std::uint64_t m_previous = 0; ///< position behind the last change of the current tensor
    std::vector<std::uint32_t> m_indexBuffer;
    std::vector<std::uint16_t> m_valueBuffer;
};

} // namespace deltascope::support
