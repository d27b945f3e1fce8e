#pragma once

#include "deltascope/engine/catalog.h"
#include "deltascope/engine/replay.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace deltascope {

/// What the replay of a chain showed about one of its links.
struct LinkAudit {
    PatchCounts counts;
    std::vector<TensorCount> changed; ///< tensors with at least one changed element, unordered
    std::uint32_t digestsChecked = 0;
    std::uint32_t digestsFailed = 0;
    std::string firstFailedTensor; ///< by name
    std::string expected;
    std::string actual;
};

/// Collects link by link what every operation has to know about the states that it passes through: how much changed, how much
/// did not although it was assigned, and whether tensors have the digests that their publisher recorded.
class ReplayAudit {
public:
    explicit ReplayAudit(const Chain& chain);

    /// Watches the replay of one tensor; give observer() to TensorReplay and call finish() behind the last block.
    class Tensor final : public ReplayObserver {
    public:
        /// `whole`: the replay covers all of the tensor; only then digests can be compared.
        Tensor(ReplayAudit& audit, const TensorInfo& tensor, bool whole);
        void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts& counts) override;
        /// Adds what was seen to the audit. False if a publisher's digest fails.
        bool finish();
        bool noopsSeen() const noexcept;
        std::uint32_t digestsChecked() const noexcept { return m_digestsChecked; } ///< after finish()

    private:
        struct Watched {
            std::size_t link;
            PatchCounts counts;
            const std::string* expected = nullptr;
            std::unique_ptr<StreamingDigest> digest;
        };
        ReplayAudit& m_audit;
        const std::string& m_name;
        std::uint32_t m_digestsChecked = 0;
        std::vector<Watched> m_links; ///< ascending; links that touch the tensor
    };

    /// Complete once every Tensor has finished.
    const std::vector<LinkAudit>& links() const noexcept { return m_links; }
    std::uint32_t digestsChecked() const noexcept;
    /// The first link whose digests fail, as an error that names tensor, object and step. `externalBase`: the first link is one.
    Result<void> checkDigests(bool externalBase) const;
    /// A delta assigned bits that were there already (NaN left out).
    bool noopsSeen() const noexcept;
    static bool hasDigests(const Chain& chain) noexcept;

    /// The facts of one link. `elements`: of the full state, for anchors.
    VersionFacts factsOf(std::size_t link, VersionKind kind, std::uint64_t elements) const;

private:
    const Chain& m_chain;
    std::mutex m_mutex;
    std::vector<LinkAudit> m_links;
};

} // namespace deltascope
