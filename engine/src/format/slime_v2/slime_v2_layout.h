#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// slime's disk delta, second generation, as Miles, vime and SGLang's /pull_weights use it too: folders weight_vNNNNNN
/// with zstd streams per tensor and an index that ends the publication. docs/formats/slime-v2.md.
class SlimeV2Layout final : public Layout {
public:
    std::string_view word() const noexcept override { return "slime-v2"; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
    bool needsExternalBase() const noexcept override { return true; }
};

} // namespace deltascope
