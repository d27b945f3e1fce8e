#pragma once

#include "deltascope/engine/layout.h"
#include "format/trl/trl_dialect.h"

namespace deltascope {

/// The bucket layouts of TRL's delta weight sync: one safetensors file per step, sparse files as pairs of positions and
/// values. One object reads one dialect.
class TrlLayout final : public Layout {
public:
    explicit TrlLayout(const TrlDialect& dialect)
        : m_dialect(dialect)
    {
    }

    std::string_view word() const noexcept override { return m_dialect.word; }
    Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                            TaskContext& task) const override;
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override;
    /// Files without any metadata are read when the user has named the layout: detection never does.
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override;
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override;
    bool anchorsMayBePartial() const noexcept override { return m_dialect.anchorsMayBePartial; }
    bool writersAreExact() const noexcept override { return m_dialect.writersAreExact; }
    std::uint64_t countableElements() const noexcept override { return m_dialect.countableElements; }
    bool mayCompareLowBytes() const noexcept override { return m_dialect.mayCompareLowBytes; }

private:
    const TrlDialect& m_dialect;
};

} // namespace deltascope
