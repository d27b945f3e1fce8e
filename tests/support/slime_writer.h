#pragma once

#include "run_writers.h"
#include "spool.h"

#include <vector>
#include <zstd.h>

namespace deltascope::support {

/// docs/formats/slime-v2.md: weight_vN folders with zstd frames of xor masks or overwritten bytes, on a base of its
/// own. Full versions at multiples of `anchorEvery`, as its full mode writes them.
class SlimeWriter final : public RunWriter, private ChangeSink {
public:
    SlimeWriter(const RunOptions& options, SyntheticModel& model);
    ~SlimeWriter() override;
    StepRecord write(std::uint64_t step) override;

private:
    struct Stored {
        std::size_t tensor = 0;
        std::uint64_t offset = 0, bytes = 0; ///< of its frame in m_frames
    };

    void beginTensor(std::size_t tensor) override;
    void window(const ChangedWindow& window) override;
    void endTensor(std::size_t tensor) override;

    void beginFrame(std::uint64_t payloadBytes);
    void compress(ByteSpan bytes, ZSTD_EndDirective directive);
    void xorWindow(const ChangedWindow& window);
    void overwriteWindow(const ChangedWindow& window);
    void compressOverwrite();
    std::uint64_t writeDelta(const std::string& folder, std::uint64_t step, std::int64_t seconds);

    RunOptions m_options;
    SyntheticModel& m_model;
    bool m_xor = true;
    bool m_collect = false;
    std::uint64_t m_elementBytes = 2;
    ZSTD_CCtx* m_zstd = nullptr;
    Spool m_frames, m_positions, m_values;
    std::vector<Stored> m_stored;
    std::uint64_t m_changed = 0; ///< elements of the current tensor
    std::vector<std::byte> m_mask, m_out;
};

} // namespace deltascope::support
