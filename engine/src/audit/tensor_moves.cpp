#include "audit/tensor_moves.h"

#include "backend/each_moments.h"
#include "backend/gather.h"
#include "deltascope/engine/tensor_view.h"

#include <algorithm>
#include <cstring>

namespace deltascope {

const TensorMoves& TensorMoves::none() noexcept
{
    static const TensorMoves moves;
    return moves;
}

std::unique_ptr<MoveMeter> MoveMeter::of(Dtype dtype, std::size_t versions, std::shared_ptr<const Backend> backend)
{
    return isFloating(dtype) ? std::unique_ptr<MoveMeter>(new MoveMeter(dtype, versions, std::move(backend))) : nullptr;
}

MoveMeter::MoveMeter(Dtype dtype, std::size_t versions, std::shared_ptr<const Backend> backend)
    : m_backend(std::move(backend))
    , m_dtype(dtype)
    , m_elementBytes(bitsOf(dtype) / 8)
    , m_changed(*m_backend)
    , m_moves(versions)
    , m_start(versions)
    , m_firstOf(versions)
{
}

void MoveMeter::onPiece(std::size_t at, ByteSpan state, const PatchPiece& piece)
{
    m_pieceOf = at;
    m_before.clear();
    if (const auto* assigned = std::get_if<AssignElements>(&piece)) {
        addListed(m_moves[at], state, assigned->elements, assigned->bits);
    } else if (const auto* masks = std::get_if<XorElements>(&piece)) {
        gather(state, masks->elements, m_elementBytes, m_old);
        m_fresh.resize(masks->bits.size());
        m_backend->xorInto(m_old, masks->bits, m_elementBytes, m_fresh);
        add(m_moves[at], m_old, m_fresh);
    } else if (!std::holds_alternative<std::monostate>(piece)) {
        m_before.assign(state.begin(), state.end());
    }
}

void MoveMeter::onBlock(std::size_t at, ByteSpan state)
{
    if (m_pieceOf != at) {
        begin(at, state);
    } else if (!m_before.empty()) {
        const std::span<const std::uint32_t> changed = m_changed.find(m_before, state, m_elementBytes);
        addListed(m_moves[at], m_before, changed, m_changed.values());
    }
    addConstant(at, state);
    m_pieceOf = None;
}

void MoveMeter::begin(std::size_t at, ByteSpan state)
{
    m_start = at;
    forEachMoments(*m_backend, state, state, m_dtype, [&](const DiffMoments& moments) {
        m_squares += moments.squares;
        m_moves[at].notFinite += static_cast<std::int64_t>(moments.notFinite);
    });
    countKinds(state, m_dtype, m_first);
}

/// `fresh`: the new bits of `elements`, one after another.
void MoveMeter::addListed(TensorMoves& moves, ByteSpan block, std::span<const std::uint32_t> elements, ByteSpan fresh)
{
    gather(block, elements, m_elementBytes, m_old);
    add(moves, m_old, fresh);
}

void MoveMeter::add(TensorMoves& moves, ByteSpan before, ByteSpan after) const
{
    forEachMoments(*m_backend, before, after, m_dtype, [&](const DiffMoments& moments) {
        const NotFiniteCounts& notFinite = moments.notFiniteChanged;
        moves.changed += moments.different;
        moves.newNotFinite += notFinite.b;
        moves.notFinite += static_cast<std::int64_t>(notFinite.b) - static_cast<std::int64_t>(notFinite.a);
        moves.signFlips += moments.signFlips;
        moves.largestStep = std::max(moves.largestStep, moments.maxUlp);
        moves.squares += moments.movedSquares;
    });
    m_backend->countSteps(before, after, m_dtype, moves.steps);
}

/// The first inequality ends it, so it is free for almost every block.
void MoveMeter::addConstant(std::size_t at, ByteSpan state)
{
    TensorMoves& moves = m_moves[at];
    if (!moves.constant || state.empty())
        return;
    std::uint64_t first = 0;
    std::memcpy(&first, state.data(), m_elementBytes);
    const bool oneValue = std::memcmp(state.data(), &state[m_elementBytes - 1] + 1, state.size() - m_elementBytes) == 0;
    moves.constant = oneValue && first == m_firstOf[at].value_or(first);
    moves.zero = moves.zero && moves.constant && elementValue(state.first(m_elementBytes), m_dtype) == 0;
    m_firstOf[at] = first;
}

double MoveMeter::squares() const noexcept
{
    return m_start < m_moves.size() && m_moves[m_start].notFinite == 0 ? m_squares : 0;
}

void MoveMeter::finish()
{
    std::int64_t notFinite = 0;
    for (std::size_t at = m_start; at < m_moves.size(); ++at) {
        notFinite += m_moves[at].notFinite;
        m_moves[at].notFinite = notFinite;
    }
}

} // namespace deltascope
