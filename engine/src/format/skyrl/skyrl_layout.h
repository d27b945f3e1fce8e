#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// SkyRL's delta weight sync: a manifest and xor masks per version, on a checkpoint outside of the source.
/// docs/formats/skyrl.md.
class SkyrlLayout final : public Layout {
public:
    std::string_view word() const noexcept override { return "skyrl"; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
    bool indexReads(std::string_view key) const noexcept override; ///< the manifest alone
    bool needsExternalBase() const noexcept override { return true; }
};

} // namespace deltascope
