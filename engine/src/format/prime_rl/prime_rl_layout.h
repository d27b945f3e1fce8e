#pragma once

#include "deltascope/engine/layout.h"

namespace deltascope {

/// prime-rl's broadcasts: plain checkpoints that end with a marker, and the sparse steps of two branches that were
/// never merged. docs/formats/prime-rl.md.
class PrimeRlLayout final : public Layout {
public:
    std::string_view word() const noexcept override { return "prime-rl"; }
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
    /// Sparse steps may start from a checkpoint outside; plain ones stand alone.
    bool needsExternalBase() const noexcept override { return true; }
    bool fullVersionsStandAlone() const noexcept override { return true; }
    bool writersAreExact() const noexcept override { return true; }
    bool numbersMaySkip() const noexcept override { return true; }
};

} // namespace deltascope
