#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// Plain Hugging Face checkpoints: the source itself, and folders "checkpoint-N" or "step_N" in it. docs/formats/hf.md.
class HfLayout final : public Layout {
public:
    explicit HfLayout(std::size_t searchDepth = DefaultSearchDepth)
        : m_searchDepth(searchDepth)
    {
    }
    std::string_view word() const noexcept override { return "hf"; }
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

private:
    std::size_t m_searchDepth;
};

} // namespace deltascope
