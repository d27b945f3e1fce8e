#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// The first disk deltas of slime: flush files without an index, elements by position. docs/formats/slime-v1.md.
class SlimeV1Layout final : public Layout {
public:
    std::string_view word() const noexcept override { return "slime-v1"; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
    Result<void> checkPayload(const ObjectStore& store, const VersionObjects& version, const VersionIndex& index,
                              TaskContext& task) const override;
    std::uint64_t checkedBytes(const VersionObjects& version, const VersionIndex& index) const override;
    std::string emptyFolderOf(const VersionObjects& neighbor, std::int64_t step) const override;
    bool needsExternalBase() const noexcept override { return true; }
    bool writersAreExact() const noexcept override { return true; }
    bool marksTheEnd() const noexcept override { return false; }
};

} // namespace deltascope
