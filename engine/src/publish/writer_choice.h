#pragma once

#include "deltascope/engine/publish.h"
#include "deltascope/engine/version_writer.h"

namespace deltascope {

/// Which writers a layout word and its options mean.
class WriterChoice {
public:
    /// Errors: Usage (a layout that cannot be written, unknown encoding or checksum).
    static Result<WriterChoice> of(const PublishOptions& options, std::string spoolFolder);

    /// Errors: Unsupported (a delta carries no changes of such a tensor).
    Result<void> expectCarries(const TensorInfo& tensor) const;
    /// Else the first state is a checkpoint outside of the run.
    bool hasAnchors() const noexcept { return !m_slime; }
    std::int64_t firstStep() const noexcept { return 1; }
    /// Any of these objects means that a step is taken.
    std::vector<std::string> committingKeys(std::int64_t step) const;

    /// Of an anchor; only where there are anchors.
    std::string anchorKey(std::int64_t step) const;
    /// All objects that a delta consists of, the committing one last.
    std::vector<std::string> deltaKeys(std::int64_t step) const;

    Result<std::unique_ptr<VersionWriter>> anchor(std::int64_t step, VersionFactMap facts,
                                                  std::vector<TensorInfo> tensors) const;
    Result<std::unique_ptr<VersionWriter>> delta(std::int64_t step, VersionFactMap facts,
                                                 std::shared_ptr<const Backend> backend) const;

private:
    TrlV2WriterOptions trlOptions(std::int64_t step, VersionFactMap facts) const;

    bool m_slime = false;
    TrlV2Encoding m_trlEncoding = TrlV2Encoding::GapDelta;
    SlimeV2Encoding m_slimeEncoding = SlimeV2Encoding::Xor;
    DigestAlgorithm m_checksum = DigestAlgorithm::Xxh3_128;
    std::string m_spoolFolder;
};

} // namespace deltascope
