#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// Rollout checkpoints for Fireworks: folders named by identities, in the form of Hugging Face checkpoints whose shards
/// hold differences in an unpublished encoding. Names, times and sizes only, and only where the user says what it is:
/// nothing in the files tells them from plain checkpoints. docs/formats/fireworks.md.
class FireworksLayout final : public Layout {
public:
    std::string_view word() const noexcept override { return "fireworks"; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
    bool indexReads(std::string_view) const noexcept override { return false; }
    bool standAlone() const noexcept override { return true; }
};

} // namespace deltascope
