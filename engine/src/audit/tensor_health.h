#pragma once

#include "audit/first_state.h"
#include "audit/value_history.h"
#include "deltascope/engine/backend.h"
#include "deltascope/engine/path_state.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace deltascope {

/// The earlier state that a link restores.
struct RestoredState {
    std::optional<std::size_t> link; ///< that has it; nothing where it lies in front of the chain
    std::vector<SuspectTensor> held; ///< by it, where it lies in front of the chain
};

/// What is known of the values of an epoch before a chain is replayed.
struct HealthBook {
    ValueHistories histories;
    bool judgesFirst = false; ///< nothing was compared with the first link of the chain, a state of the run, before
    std::vector<SuspectTensor> held; ///< by the first link of the chain
    std::map<std::size_t, RestoredState> restored; ///< by the link that restores it, which is no step of training
};

/// Whether a link is neither a complete nor a partial anchor, nor a full form.
bool isDelta(const PathState& chain, std::size_t link) noexcept;

/// Judges what the links of a chain do to the values of one tensor. One thread.
class TensorHealth {
public:
    /// `links`: that touch the tensor, ascending. Everything outlives it.
    TensorHealth(const PathState& chain, const TensorInfo& tensor, std::vector<std::size_t> links,
                 const HealthBook& before, std::shared_ptr<const Backend> backend);

    /// As those of ReplayObserver; `at`: index in `links`.
    void onPiece(std::size_t at, ByteSpan state, const PatchPiece& piece);
    void onBlock(std::size_t at, ByteSpan state);

    struct Findings {
        std::vector<std::pair<std::size_t, SuspectTensor>> suspects; ///< by link
        /// Complete anchors in which elements moved too far for what the deltas do.
        std::vector<std::pair<std::size_t, TensorDrift>> farMoved;
        std::vector<std::size_t> expected; ///< deltas in front of which all others changed the tensor
        /// Those of them that leave it as it is: suspect if they change most of what is expected to change.
        std::vector<std::pair<std::size_t, SuspectTensor>> unchanged;
        std::optional<FirstTensor> first; ///< where the first link is judged
        bool isMask = false; ///< it holds infinities there that are no alarm
        ValueHistory history; ///< behind the chain
    };
    /// Behind the last block.
    Findings finish();

private:
    void judgeFirstLink(Findings& findings);
    void judgeDelta(std::size_t link, std::size_t at, const TensorMoves& before, Findings& findings);
    void judgeAnchor(std::size_t link, const TensorMoves& before, const TensorMoves& moves, Findings& findings);
    std::vector<const TensorMoves*> behind(std::size_t at) const;
    void add(std::size_t link, SuspectTensor suspect, Findings& findings);
    /// What the state behind a link that was judged has of suspect values.
    const std::vector<SuspectTensor>& heldBehind(std::size_t link) const
    {
        return std::prev(m_held.upper_bound(link))->second;
    }
    std::vector<SuspectTensor> ofTensor(const std::vector<SuspectTensor>& suspects) const;

    const PathState& m_chain;
    const TensorInfo& m_tensor;
    std::vector<std::size_t> m_links;
    std::unique_ptr<MoveMeter> m_meter; ///< null for types that are not floating
    bool m_judgesFirst;
    ValueHistory m_history;
    const std::map<std::size_t, RestoredState>& m_restored;
    std::map<std::size_t, std::vector<SuspectTensor>> m_held; ///< by the first link whose state holds them
};

} // namespace deltascope
