#pragma once

#include "audit/tensor_moves.h"
#include "deltascope/engine/health.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// What the last deltas of a run did to one tensor: the measure of the next one. The second largest of ten counts, so
/// that one delta does not raise its own limit.
class ValueHistory {
public:
    /// What so many elements do, or fewer, is no finding of its own.
    static constexpr std::uint64_t ManyElements = 16;

    void add(const TensorMoves& moves, double squares);

    /// What speaks against a delta behind these; the worst reason alone. `before`: the state that it changes.
    /// `squares`: of the tensor, over its values; 0 where it has no norm, as zeros have none.
    std::optional<SuspectTensor> judge(const TensorMoves& before, const TensorMoves& moves, double squares,
                                       std::uint64_t elements) const;
    /// Of what a complete anchor holds against the replay before it.
    std::optional<SuspectTensor> judgeAnchor(const TensorMoves& before, const TensorMoves& moves, double squares,
                                             std::uint64_t elements) const;
    /// The fewest elements that each of the last deltas changed, if a delta that leaves the tensor as it is would be
    /// out of line: there are enough of them, and all changed many.
    std::optional<std::uint64_t> alwaysChanged() const;
    /// Elements that move over eight times the largest distance of the last deltas (distances are known up to the next
    /// power of two: all that are counted do); nothing with fewer than two deltas. `lowBytes`: those that kept their
    /// low byte count.
    std::optional<std::uint64_t> farMoved(const TensorMoves& moves, bool lowBytes) const;
    /// Whether there are deltas enough to judge by.
    bool canJudge() const noexcept;

    bool operator==(const ValueHistory&) const = default;

private:
    static constexpr std::size_t Window = 10;

    struct Delta {
        double flipped = 0; ///< share of the changed elements
        std::optional<double> moved; ///< share of the tensor's norm, if it had one
        std::uint64_t largestStep = 0;

        bool operator==(const Delta&) const = default;
    };
    template <class Of> std::optional<double> secondLargest(Of of) const;

    std::vector<Delta> m_deltas; ///< that changed the tensor, at most Window
    std::vector<std::uint64_t> m_changed; ///< elements, of all deltas, at most Window
};

/// Of one of the first deltas of an epoch, in front of which there is no measure: most of its elements move over eight
/// times as far as most elements of any of at least two others behind it. Far movers in `others` do not count, for a
/// wrong delta leaves some to those that correct it.
std::optional<SuspectTensor> judgeByLater(const TensorMoves& moves, const std::vector<const TensorMoves*>& others);

/// The histories of the tensors of an epoch. There can be a million tensors: those that no delta changed share one.
struct ValueHistories {
    ValueHistory unchanged;
    std::map<std::string, ValueHistory, std::less<>> changed; ///< and those that differ from `unchanged` otherwise

    const ValueHistory& of(std::string_view tensor) const;
};

/// Whether a later complete anchor still holds what began it: NaN, one value, or a state that the anchor did not take
/// back. `moves`: of the anchor against the replay before it.
bool stillHolds(const SuspectTensor& suspect, const TensorMoves& moves, double squares);
/// Those of one tensor that still hold, with the figures of the state behind `moves`.
std::vector<SuspectTensor> stillHeld(const std::vector<SuspectTensor>& held, const TensorMoves& moves, double squares);
/// Adds what is found in a tensor to what it holds. NaN and infinity are one finding, with the figure of the newest.
void takeUp(std::vector<SuspectTensor>& held, SuspectTensor suspect);

} // namespace deltascope
