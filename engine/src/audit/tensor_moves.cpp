#include "audit/tensor_moves.h"

#include "backend/changed_elements.h"
#include "backend/each_moments.h"
#include "deltascope/engine/number_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
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
        if (const auto* assigned = std::get_if<AssignElements>(&piece))
            addSparse(at, state, *assigned, [](Bits, Bits bits) { return bits; });
        else if (const auto* masks = std::get_if<XorElements>(&piece))
            addSparse(at, state, *masks, [](Bits before, Bits bits) { return static_cast<Bits>(before ^ bits); });
        else if (!std::holds_alternative<std::monostate>(piece))
            m_before.assign(state.begin(), state.end());
    }

    void onBlock(std::size_t at, ByteSpan state) override
    {
        if (m_pieceOf != at)
            begin(at, state);
        else if (!m_before.empty())
            addDense(at, state);
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

    template <class Piece, class Apply> void addSparse(std::size_t at, ByteSpan state, const Piece& piece, Apply apply)
    {
        TensorMoves& moves = m_moves[at];
        for (std::size_t i = 0; i < piece.elements.size(); ++i) {
            const Bits before = loadLe<Bits>(state, std::size_t { piece.elements[i] } * sizeof(Bits));
            const Bits after = apply(before, loadLe<Bits>(piece.bits, i * sizeof(Bits)));
            if (before != after)
                add(moves, before, after);
        }
    }

    void addDense(std::size_t at, ByteSpan state)
    {
        for (const std::uint32_t element : m_changed.find(m_before, state, sizeof(Bits))) {
            const std::size_t byte = std::size_t { element } * sizeof(Bits);
            add(m_moves[at], loadLe<Bits>(m_before, byte), loadLe<Bits>(state, byte));
        }
    }

    void add(TensorMoves& moves, Bits before, Bits after) const
    {
        ++moves.changed;
        moves.newNotFinite += m_format.isSpecial(after) ? 1 : 0;
        moves.notFinite += std::int64_t { m_format.isSpecial(after) } - std::int64_t { m_format.isSpecial(before) };
        if (m_format.isNan(before) || m_format.isNan(after))
            return;
        moves.signFlips += ((before ^ after) & m_format.signBit()) != 0;
        const std::uint64_t apart = distance(m_format.ordered(before), m_format.ordered(after));
        const std::size_t bin = TensorMoves::binOf(apart);
        moves.largestStep = std::max(moves.largestStep, apart);
        ++moves.steps[bin];
        if constexpr (sizeof(Bits) == 2)
            moves.sameLowByte[bin] += ((before ^ after) & 0xff) == 0;
        const double gap = m_format.value(after) - m_format.value(before);
        if (std::isfinite(gap))
            moves.squares += gap * gap;
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
};

}

const TensorMoves& TensorMoves::none() noexcept
{
    static const TensorMoves moves;
    return moves;
}

std::size_t TensorMoves::binOf(std::uint64_t distance) noexcept
{
    return static_cast<std::size_t>(std::bit_width(distance - 1));
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
