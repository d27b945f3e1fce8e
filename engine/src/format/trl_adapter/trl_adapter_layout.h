#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// LoRA adapters that TRL writes for vLLM, one complete adapter per policy version, and those that Trainer and PEFT
/// save as checkpoints. docs/formats/trl-adapter.md.
class TrlAdapterLayout final : public Layout {
public:
    explicit TrlAdapterLayout(std::size_t searchDepth = DefaultSearchDepth)
        : m_searchDepth(searchDepth)
    {
    }
    std::string_view word() const noexcept override { return "trl-adapter"; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
    bool standAlone() const noexcept override { return true; }
    std::size_t searchDepth() const noexcept override { return m_searchDepth; }
    bool holdsAdapters() const noexcept override { return true; }

private:
    std::size_t m_searchDepth;
};

} // namespace deltascope
