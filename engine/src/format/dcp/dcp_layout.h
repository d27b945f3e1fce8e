#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// Checkpoints of torch.distributed.checkpoint, as .distcp files or as safetensors files with rectangles of tensors:
/// the source itself, and numbered folders in it. docs/formats/dcp.md.
class DcpLayout final : public Layout {
public:
    explicit DcpLayout(std::size_t searchDepth = DefaultSearchDepth)
        : m_searchDepth(searchDepth)
    {
    }
    std::string_view word() const noexcept override { return "dcp"; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
    /// The CRC-32 of each storage, where the writer computed them.
    Result<void> checkPayload(const ObjectStore& store, const VersionObjects& version, const VersionIndex& index,
                              TaskContext& task) const override;
    std::uint64_t checkedBytes(const VersionObjects& version, const VersionIndex& index) const override;
    bool indexReads(std::string_view key) const noexcept override; ///< .metadata and headers
    bool standAlone() const noexcept override { return true; }
    std::size_t searchDepth() const noexcept override { return m_searchDepth; }

private:
    std::size_t m_searchDepth;
};

} // namespace deltascope
