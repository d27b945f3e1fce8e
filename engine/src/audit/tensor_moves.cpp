#include "audit/tensor_moves.h"

#include "backend/changed_elements.h"
#include "backend/each_moments.h"
#include "deltascope/engine/number_format.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace deltascope {

namespace {

template <class Format> class MoveMeterOf final : public MoveMeter {
    using Bits = typename Format::Bits;

public:
    MoveMeterOf(const Format& format, Dtype dtype, std::size_t versions, std::shared_ptr<const Backend> backend)
        : MoveMeter(versions)
        , m_backend(std::move(backend))
        , m_changed(*m_backend)
        , m_format(format)
        , m_dtype(dtype)
        , m_first(versions)
        , m_firstValues(format)
    {
    }

    void onPiece(std::size_t at, ByteSpan state, const PatchPiece& piece) override
    {
        m_pieceOf = at;
        m_before.clear();
        if (const auto* assigned = std::get_if<AssignElements>(&piece)) {
            addListed(m_moves[at], state, assigned->elements, assigned->bits);
        } else if (const auto* masks = std::get_if<XorElements>(&piece)) {
            gather(state, masks->elements);
            m_fresh.resize(masks->bits.size());
            m_backend->xorInto(m_old, masks->bits, sizeof(Bits), m_fresh);
            add(m_moves[at], m_old, m_fresh);
        } else if (!std::holds_alternative<std::monostate>(piece)) {
            m_before.assign(state.begin(), state.end());
        }
    }

    void onBlock(std::size_t at, ByteSpan state) override
    {
        if (m_pieceOf != at) {
            begin(at, state);
        } else if (!m_before.empty()) {
            const std::span<const std::uint32_t> changed = m_changed.find(m_before, state, sizeof(Bits));
            addListed(m_moves[at], m_before, changed, m_changed.values());
        }
        addConstant(at, state);
        m_pieceOf = None;
    }

    const FirstValues& first() const noexcept override { return m_firstValues.values(); }

private:
    static constexpr std::size_t None = SIZE_MAX;

    void begin(std::size_t at, ByteSpan state)
    {
        m_start = at;
        forEachMoments(*m_backend, state, state, m_dtype, [&](const DiffMoments& moments) {
            m_squares += moments.squares;
            m_moves[at].notFinite += static_cast<std::int64_t>(moments.notFinite);
        });
        m_firstValues.add(state);
    }

    /// `fresh`: the new bits of `elements`, one after another.
    void addListed(TensorMoves& moves, ByteSpan block, std::span<const std::uint32_t> elements, ByteSpan fresh)
    {
        gather(block, elements);
        add(moves, m_old, fresh);
    }

    void gather(ByteSpan block, std::span<const std::uint32_t> elements)
    {
        m_old.resize(elements.size() * sizeof(Bits));
        for (std::size_t i = 0; i < elements.size(); ++i)
            storeLe<Bits>(m_old, i * sizeof(Bits), loadLe<Bits>(block, std::size_t { elements[i] } * sizeof(Bits)));
    }

    void add(TensorMoves& moves, ByteSpan before, ByteSpan after) const
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
    void addConstant(std::size_t at, ByteSpan state)
    {
        TensorMoves& moves = m_moves[at];
        if (!moves.constant || state.empty())
            return;
        const Bits first = loadLe<Bits>(state, 0);
        const bool oneValue = std::memcmp(state.data(), &state[sizeof(Bits)], state.size() - sizeof(Bits)) == 0;
        moves.constant = oneValue && first == m_first[at].value_or(first);
        moves.zero = moves.zero && moves.constant && m_format.magnitude(first) == 0;
        m_first[at] = first;
    }

    std::shared_ptr<const Backend> m_backend;
    ChangedElements m_changed;
    Format m_format;
    Dtype m_dtype;
    std::vector<std::optional<Bits>> m_first; ///< element, by version
    FirstValuesOf<Format> m_firstValues;
    std::size_t m_pieceOf = None; ///< the version whose piece was shown last
    std::vector<std::byte> m_before; ///< the block before it, where what changes is not listed
    std::vector<std::byte> m_old, m_fresh; ///< bits of elements that are listed
};

}

const TensorMoves& TensorMoves::none() noexcept
{
    static const TensorMoves moves;
    return moves;
}

std::unique_ptr<MoveMeter> MoveMeter::of(Dtype dtype, std::size_t versions, std::shared_ptr<const Backend> backend)
{
    std::unique_ptr<MoveMeter> meter;
    withNumbers(
        dtype,
        [&](auto format) { meter = std::make_unique<MoveMeterOf<decltype(format)>>(format, dtype, versions, backend); },
        [](auto) {});
    return meter;
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
