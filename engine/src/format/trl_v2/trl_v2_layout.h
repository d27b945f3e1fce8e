#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// The bucket layout of TRL's delta weight sync, second and third generation: one safetensors file per step, sparse
/// files as pairs X.idx and X.val. docs/formats/trl-v2.md.
class TrlV2Layout final : public Layout {
public:
    std::string_view word() const noexcept override { return "trl-v2"; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
};

} // namespace deltascope
