#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// grail's checkpoint windows: sparse deltas and full checkpoints, a digest of every state. A window may have both
/// forms. docs/formats/grail.md.
class GrailLayout final : public Layout {
public:
    std::string_view word() const noexcept override { return "grail"; }
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
    bool numbersMaySkip() const noexcept override { return true; }
    bool writersAreExact() const noexcept override { return true; }
};

} // namespace deltascope
