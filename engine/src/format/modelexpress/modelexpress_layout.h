#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// Chains that ModelExpress retains: full checkpoints and xor deltas in folders named by version ids, Adler-32 for each
/// tensor. docs/formats/modelexpress.md.
class ModelExpressLayout final : public Layout {
public:
    std::string_view word() const noexcept override { return "modelexpress"; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
    bool needsExternalBase() const noexcept override { return true; }
    bool linksByIds() const noexcept override { return true; }
    bool numbersMaySkip() const noexcept override { return true; }
};

} // namespace deltascope
