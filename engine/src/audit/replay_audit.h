#pragma once

#include "audit/state_hasher.h"
#include "audit/tensor_health.h"
#include "deltascope/engine/catalog.h"
#include "deltascope/engine/path_state.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// What the replay of a chain showed about one of its links.
struct LinkAudit {
    PatchCounts counts;
    std::vector<TensorCount> changed; ///< tensors with at least one changed element, unordered
    std::vector<TensorCount> zeroSigns; ///< of these, tensors with PatchCounts::zeroSigns
    std::uint32_t digestsChecked = 0;
    std::uint32_t digestsFailed = 0;
    std::string firstFailedTensor; ///< by name
    std::string expected;
    std::string actual;
    std::string root; ///< fast DSM1 root of the state behind it; only where one is recorded
    std::optional<StateHasher> state; ///< where a digest of the whole state is recorded
    bool stateMatches = false; ///< after finishStates()
    /// Of the state behind it, as if all roots matched: where one does not, the version is damaged and nothing behind
    /// it counts.
    ComparedTensors compared;
    std::vector<SuspectTensor> suspects;
    std::vector<std::string> masks; ///< of the first link: tensors with infinities that are no alarm
    std::size_t expectedToChange = 0; ///< tensors, of TensorHealth::Findings::expected
    std::vector<SuspectTensor> unchanged; ///< of these
    std::vector<TensorDrift> farMoved;
    std::vector<RevertedTensor> reverted; ///< of a complete state behind deltas
    std::size_t changedBefore = 0; ///< of it: tensors in which these deltas changed something
};

/// Collects link by link what every operation has to know about the states that it passes through: how much changed,
/// how much did not although it was assigned, and whether tensors have the digests that their publisher recorded.
class ReplayAudit {
public:
    /// `states`: also compare the state behind every link with the root or digest that is recorded for it; every tensor
    /// must then be watched whole. `health`: also judge values, beginning with what is known before the chain; outlives
    /// the audit. `backend`: compares states for that; null without `health`.
    explicit ReplayAudit(const PathState& chain, bool states = false, const HealthBook* health = nullptr,
                         std::shared_ptr<const Backend> backend = nullptr);
    /// Whether tensors must be watched one after another in byte order of names: a digest of a whole state is one
    /// stream.
    bool wantsOrder() const noexcept { return m_hasStates; }

    /// Watches the replay of one tensor; give it to the walk as the observer (WalkOptions) and call finish() behind the
    /// last block.
    class Tensor final : public ReplayObserver {
    public:
        /// `whole`: the replay covers all of the tensor; only then digests can be compared.
        Tensor(ReplayAudit& audit, const TensorInfo& tensor, bool whole);
        bool looksAtBlocks() const override; ///< for digests, states and health
        void onPiece(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchPiece& piece) override;
        void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts& counts) override;
        /// Adds what was seen to the audit. False if a publisher's digest fails.
        bool finish();
        bool noopsSeen() const noexcept;
        std::uint32_t digestsChecked() const noexcept { return m_digestsChecked; } ///< after finish()
        /// What was compared of its bytes behind the last link; a root of that state counts as if it matched.
        Compared comparedAtEnd() const noexcept;

    private:
        struct Watched {
            std::size_t link;
            PatchCounts counts;
            std::string_view expected; ///< in the index; empty: no digest is compared
            std::unique_ptr<StreamingDigest> digest;
            std::optional<LeafHasher> leaves;
            std::unique_ptr<StreamingDigest> state; ///< where a complete state behind it may be this one again
        };
        std::size_t indexOf(std::size_t link) const noexcept; ///< in m_links
        Compared comparedAt(const Watched& watched) const noexcept;
        void addCompared();
        void addReverted();
        void addHealth(TensorHealth::Findings findings);

        ReplayAudit& m_audit;
        const TensorInfo& m_tensor;
        std::uint32_t m_digestsChecked = 0;
        /// Links with a digest of their whole state from `link` up to the next one that touches the tensor.
        void updateStates(std::size_t link, ByteSpan state);

        std::vector<Watched> m_links; ///< ascending; links that touch the tensor
        std::optional<TensorHealth> m_health;
    };

    /// Complete once every Tensor has finished.
    const std::vector<LinkAudit>& links() const noexcept { return m_links; }
    std::uint32_t digestsChecked() const noexcept;
    /// The first link whose digests fail, as an error that names tensor, object and step. `externalBase`: the first
    /// link is one.
    Result<void> checkDigests(bool externalBase) const;
    /// A delta assigned bits that were there already (NaN left out).
    bool noopsSeen() const noexcept;

    /// Computes what is to be compared with roots and digests of states, once every Tensor has finished.
    void finishStates();
    /// How the state behind a link compares with what its publisher recorded. After finishStates().
    VersionFacts::RootCheck rootCheck(std::size_t link) const;

    /// Hands over what the chain tells of the values of its run. Once, after finishStates().
    void moveTo(HealthBook& book);

    /// The facts of one link. `elements`: of the full state, for anchors.
    VersionFacts factsOf(std::size_t link, VersionKind kind, std::uint64_t elements) const;

private:
    bool wantsRoot(std::size_t link) const noexcept;
    /// Whether a publisher recorded a root or digest of the state behind a link.
    bool recordsState(std::size_t link) const noexcept;
    void finishRoots();
    void finishHealth();

    const PathState& m_chain;
    bool m_states;
    const HealthBook* m_health; ///< null: values are not judged
    std::shared_ptr<const Backend> m_backend;
    ValueHistories m_histories; ///< behind the chain
    ZeroLayers m_zeroLayers; ///< of the first link, where it is judged
    bool m_hasStates = false;
    std::size_t m_rootsUpTo = 0; ///< links below it may be needed for a root
    /// Of the state of a tensor behind a link that touches it. There can be a million of them.
    struct Node {
        const TensorInfo* tensor; ///< of the chain
        std::size_t link;
        Digest128 fast;
    };
    std::vector<Node> m_nodes; ///< unordered until finishRoots()
    std::mutex m_mutex;
    std::vector<LinkAudit> m_links;
};

} // namespace deltascope
