#include "audit/value_history.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace deltascope {

namespace {

// The limits. docs/damage.md, section 4, says what they let pass and what they were tried on.
constexpr std::size_t FewestDeltas = 2; ///< with less there is no measure
constexpr std::uint64_t FewestElements = 4; ///< of a tensor in which one value throughout means something
constexpr std::uint64_t FewestOfFull = 64; ///< the same, of a complete state
constexpr std::size_t FarSteps = 8; ///< times the largest distance
constexpr double FarMove = 32; ///< times the usual share of the norm
constexpr double LeastMove = 0.01; ///< of the norm; where each element moves to its neighbor, bf16 moves by less
constexpr double FewMove = 4; ///< of the norm, where few elements move: a turned sign is at most two of it
constexpr double UnusedMove = 0.5; ///< of the norm, of a tensor that no delta changes
constexpr double FlipsBeyond = 0.25; ///< share of the changed elements beyond twice the usual one
constexpr std::size_t AlwaysDeltas = 5;
constexpr std::uint64_t AlwaysElements = 64;

/// Nothing for a tensor without a norm.
std::optional<double> shareOfNorm(const TensorMoves& moves, double squares)
{
    if (squares <= 0)
        return std::nullopt;
    return std::min(std::sqrt(moves.squares) / std::sqrt(squares), std::numeric_limits<double>::max());
}

double shareFlipped(const TensorMoves& moves)
{
    return moves.changed == 0 ? 0 : static_cast<double>(moves.signFlips) / static_cast<double>(moves.changed);
}

/// What the state alone shows. Where few elements, or short moves, lead to one value, it was almost that before.
std::optional<SuspectTensor> judgeState(const TensorMoves& before, const TensorMoves& moves,
                                        std::optional<double> moved, std::uint64_t elements, std::uint64_t fewest)
{
    if (moves.newNotFinite > 0)
        return SuspectTensor {
            {}, Suspicion::NotFinite, static_cast<double>(moves.notFinite), static_cast<double>(before.notFinite)
        };
    if (elements < fewest || moves.changed < elements / 2 || moved.value_or(0) < LeastMove)
        return std::nullopt;
    if (moves.zero && !before.zero)
        return SuspectTensor { {}, Suspicion::Zero, 0, 0 };
    if (moves.constant && !before.constant)
        return SuspectTensor { {}, Suspicion::Constant, 0, 0 };
    return std::nullopt;
}

}

/// `of`: what a delta did, or nothing. Nothing with fewer than two.
template <class Of> std::optional<double> ValueHistory::secondLargest(Of of) const
{
    std::vector<double> values;
    for (const Delta& delta : m_deltas) {
        if (const std::optional<double> value = of(delta))
            values.push_back(*value);
    }
    if (values.size() < FewestDeltas)
        return std::nullopt;
    std::nth_element(values.begin(), values.begin() + 1, values.end(), std::greater<>());
    return values[1];
}

void ValueHistory::add(const TensorMoves& moves, double squares)
{
    m_changed.push_back(moves.changed);
    if (m_changed.size() > Window)
        m_changed.erase(m_changed.begin());
    if (moves.changed == 0)
        return;
    m_deltas.push_back(Delta { shareFlipped(moves), shareOfNorm(moves, squares), moves.largestStep });
    if (m_deltas.size() > Window)
        m_deltas.erase(m_deltas.begin());
}

std::optional<std::uint64_t> ValueHistory::alwaysChanged() const
{
    if (m_changed.size() < AlwaysDeltas)
        return std::nullopt;
    const std::uint64_t fewest = *std::min_element(m_changed.begin(), m_changed.end());
    return fewest >= AlwaysElements ? std::optional(fewest) : std::nullopt;
}

std::optional<std::uint64_t> ValueHistory::farMoved(const TensorMoves& moves, bool lowBytes) const
{
    if (m_deltas.size() < FewestDeltas)
        return std::nullopt;
    std::uint64_t largest = 0;
    for (const Delta& delta : m_deltas)
        largest = std::max(largest, delta.largestStep);
    if (largest > UINT64_MAX / FarSteps)
        return 0;
    std::uint64_t far = 0;
    for (std::size_t bin = StepCounts::binOf(std::max<std::uint64_t>(largest, 1) * FarSteps) + 1;
         bin < StepCounts::Bins; ++bin)
        far += moves.steps.all[bin] - (lowBytes ? 0 : moves.steps.sameLowByte[bin]);
    return far;
}

std::optional<SuspectTensor> ValueHistory::judge(const TensorMoves& before, const TensorMoves& moves, double squares,
                                                 std::uint64_t elements) const
{
    const std::optional<double> moved = shareOfNorm(moves, squares);
    if (std::optional<SuspectTensor> suspect = judgeState(before, moves, moved, elements, FewestElements))
        return suspect;
    const std::optional<double> usualMove = secondLargest([](const Delta& delta) { return delta.moved; });
    const double least = moves.changed > ManyElements ? LeastMove : FewMove;
    if (moved && usualMove && *moved > least && *moved > FarMove * *usualMove)
        return SuspectTensor { {}, Suspicion::Move, *moved, *usualMove };
    const std::optional<double> usualFlips =
        secondLargest([](const Delta& delta) { return std::optional(delta.flipped); });
    if (usualFlips && moves.signFlips > ManyElements && shareFlipped(moves) > 2 * *usualFlips + FlipsBeyond)
        return SuspectTensor { {},
                               Suspicion::SignFlips,
                               static_cast<double>(moves.signFlips),
                               *usualFlips * static_cast<double>(moves.changed) };
    if (const std::uint64_t far = farMoved(moves, true).value_or(0); far > ManyElements)
        return SuspectTensor { {}, Suspicion::UlpDistance, static_cast<double>(far), 0 };
    return std::nullopt;
}

std::optional<SuspectTensor> ValueHistory::judgeAnchor(const TensorMoves& before, const TensorMoves& moves,
                                                       double squares, std::uint64_t elements) const
{
    const std::optional<double> moved = shareOfNorm(moves, squares);
    if (std::optional<SuspectTensor> suspect = judgeState(before, moves, moved, elements, FewestOfFull))
        return suspect;
    if (m_changed.size() >= FewestDeltas && m_deltas.empty() && moved && *moved > UnusedMove)
        return SuspectTensor { {}, Suspicion::Move, *moved, 0 };
    return std::nullopt;
}

bool ValueHistory::canJudge() const noexcept { return m_deltas.size() >= FewestDeltas; }

const ValueHistory& ValueHistories::of(std::string_view tensor) const
{
    const auto at = changed.find(tensor);
    return at == changed.end() ? unchanged : at->second;
}

namespace {

/// The bin below which, with its own elements, this share of a delta's elements moves.
std::size_t binOfShare(const TensorMoves& moves, double share)
{
    std::uint64_t all = 0;
    for (const std::uint64_t elements : moves.steps.all)
        all += elements;
    std::uint64_t below = 0;
    std::size_t bin = 0;
    for (; bin + 1 < StepCounts::Bins; ++bin) {
        below += moves.steps.all[bin];
        if (static_cast<double>(below) >= share * static_cast<double>(all))
            break;
    }
    return bin;
}

}

std::optional<SuspectTensor> judgeByLater(const TensorMoves& moves, const std::vector<const TensorMoves*>& others)
{
    constexpr double Most = 0.75;
    constexpr double Half = 0.5;
    constexpr std::size_t FarBins = 3; // eight times
    if (moves.changed <= ValueHistory::ManyElements || others.size() < FewestDeltas)
        return std::nullopt;
    std::size_t usual = 0;
    for (const TensorMoves* other : others)
        usual = std::max(usual, binOfShare(*other, Most));
    if (binOfShare(moves, Half) <= usual + FarBins)
        return std::nullopt;
    std::uint64_t far = 0;
    for (std::size_t bin = usual + FarBins + 1; bin < StepCounts::Bins; ++bin)
        far += moves.steps.all[bin];
    return SuspectTensor { {}, Suspicion::UlpDistance, static_cast<double>(far), 0 };
}

bool stillHolds(const SuspectTensor& suspect, const TensorMoves& moves, double squares)
{
    switch (suspect.suspicion) {
    case Suspicion::NotFinite:
        return static_cast<double>(moves.notFinite) > suspect.usual;
    case Suspicion::Zero:
    case Suspicion::ZeroLayer:
        return moves.zero;
    case Suspicion::Constant:
        return moves.constant;
    case Suspicion::Move: // taken back: the anchor moves about as far again
        return shareOfNorm(moves, squares).value_or(0) < suspect.figure / 2;
    case Suspicion::SignFlips:
        return static_cast<double>(moves.signFlips) < suspect.figure / 2;
    case Suspicion::UlpDistance:
        return static_cast<double>(moves.changed) < suspect.figure / 2;
    case Suspicion::NotChanged:
    case Suspicion::Wrap:
        break; // the anchor has the trainer's own values
    }
    return false;
}

void takeUp(std::vector<SuspectTensor>& held, SuspectTensor suspect)
{
    const auto same = std::find_if(held.begin(), held.end(), [&](const SuspectTensor& other) {
        return other.name == suspect.name && other.suspicion == Suspicion::NotFinite;
    });
    if (suspect.suspicion != Suspicion::NotFinite || same == held.end()) {
        held.push_back(std::move(suspect));
    } else {
        same->figure = suspect.figure; // what was there without a finding is that of the first one
    }
}

std::vector<SuspectTensor> stillHeld(const std::vector<SuspectTensor>& held, const TensorMoves& moves, double squares)
{
    std::vector<SuspectTensor> still;
    for (SuspectTensor suspect : held) {
        if (!stillHolds(suspect, moves, squares))
            continue;
        if (suspect.suspicion == Suspicion::NotFinite)
            suspect.figure = static_cast<double>(moves.notFinite);
        takeUp(still, std::move(suspect));
    }
    return still;
}

} // namespace deltascope
