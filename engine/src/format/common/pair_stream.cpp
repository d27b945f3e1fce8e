#include "format/common/pair_stream.h"

#include "base/float16.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/position_decoder.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// Positions that are decoded at a time; bounds how much room a sparse stream takes.
constexpr std::size_t BatchItems = 4096;
constexpr std::uint64_t SkipElements = 64 * 1024;

std::size_t itemBytes(PositionForm form) noexcept
{
    switch (form) {
    case PositionForm::Gap16:
        return 2;
    case PositionForm::I64:
        return 8;
    default:
        return 4;
    }
}

bool isFloat(Dtype dtype) noexcept { return dtype == Dtype::BF16 || dtype == Dtype::F16 || dtype == Dtype::F32; }

}

PairStream::PairStream(const PairEncoding& encoding, PairRule rule, BufferedExtent positions, BufferedExtent values,
                       const TensorInfo& target)
    : m_form(encoding.form)
    , m_rule(rule)
    , m_itemBytes(itemBytes(encoding.form))
    , m_valueBytes(bitsOf(encoding.values) / 8)
    , m_elementBytes(bitsOf(target.dtype) / 8)
    , m_target(target.dtype)
    , m_narrow(rule == PairRule::AssignNarrowed && encoding.values != target.dtype)
    , m_index(std::move(positions))
    , m_values(std::move(values))
    , m_name(target.name)
    , m_elements(target.elements())
{
}

Result<PatchPiece> PairStream::next(std::uint64_t begin, std::uint64_t end)
{
    const std::uint64_t first = begin / m_elementBytes;
    const std::uint64_t last = end / m_elementBytes;
    if (first < m_at || last < first || last > m_elements)
        return fail(Code::Internal, "blocks of a tensor were asked for out of order", m_index.key());
    if (first > m_at)
        DS_CHECK(skipTo(first));
    DS_TRY(const std::size_t count, decode(first, last));
    m_at = last;
    if (count == 0)
        return PatchPiece();
    DS_TRY(ByteSpan values, m_values.take(count * m_valueBytes));
    const std::span<const std::uint32_t> elements(m_positions.data(), count);
    if (m_rule == PairRule::Add)
        return PatchPiece(AddElements { elements, values });
    if (m_narrow) {
        DS_TRY(values, narrowed(values));
    }
    return PatchPiece(AssignElements { elements, values });
}

Result<void> PairStream::finish()
{
    if (m_index.left() != 0 || m_values.left() != 0)
        return fail(hostile("has positions or values that are left over"));
    return {};
}

Result<std::size_t> PairStream::decode(std::uint64_t begin, std::uint64_t end)
{
    std::size_t count = 0;
    while (m_index.left() > 0) {
        DS_CHECK(m_index.fill(m_itemBytes));
        const ByteSpan stored = m_index.buffered();
        const std::size_t batch = std::min(stored.size() / m_itemBytes, BatchItems);
        if (m_positions.size() < count + batch)
            m_positions.resize(count + batch);

        std::uint32_t* const out = m_positions.data() + count;
        std::size_t decoded = 0;
        switch (m_form) {
        case PositionForm::Gap16:
            decoded = decodeGaps<std::uint16_t>(stored.data(), batch, begin, end, m_smallest, out);
            break;
        case PositionForm::Gap32:
            decoded = decodeGaps<std::uint32_t>(stored.data(), batch, begin, end, m_smallest, out);
            break;
        case PositionForm::I64:
            decoded = decodePositions<std::int64_t>(stored.data(), batch, begin, end, m_smallest, out);
            break;
        default:
            decoded = decodePositions<std::int32_t>(stored.data(), batch, begin, end, m_smallest, out);
            break;
        }
        m_index.consume(decoded * m_itemBytes);
        count += decoded;
        if (decoded < batch) {
            DS_CHECK(checkStop());
            break;
        }
    }
    return count;
}

Result<void> PairStream::skipTo(std::uint64_t begin)
{
    while (m_at < begin) {
        const std::uint64_t end = std::min(begin, m_at + SkipElements);
        DS_TRY(const std::size_t count, decode(m_at, end));
        m_values.skip(count * m_valueBytes);
        m_at = end;
    }
    return {};
}

Result<void> PairStream::checkStop() const
{
    const ByteSpan stored = m_index.buffered();
    if (m_form == PositionForm::Gap16 || m_form == PositionForm::Gap32) {
        const std::uint64_t gap =
            m_form == PositionForm::Gap16 ? loadLe<std::uint16_t>(stored) : loadLe<std::uint32_t>(stored);
        if (gap >= m_elements - m_smallest)
            return fail(
                hostile(fmt::format("has position {}, but the tensor has {} elements", m_smallest + gap, m_elements)));
        return {};
    }
    const std::int64_t position =
        m_form == PositionForm::I64 ? loadLe<std::int64_t>(stored) : std::int64_t { loadLe<std::int32_t>(stored) };
    if (position < 0)
        return fail(hostile(fmt::format("has the negative position {}", position)));
    if (static_cast<std::uint64_t>(position) < m_smallest)
        return fail(hostile(fmt::format("has position {} behind {}: positions must ascend", position, m_smallest - 1)));
    if (static_cast<std::uint64_t>(position) >= m_elements)
        return fail(hostile(fmt::format("has position {}, but the tensor has {} elements", position, m_elements)));
    return {};
}

Result<ByteSpan> PairStream::narrowed(ByteSpan values)
{
    const std::size_t count = values.size() / m_valueBytes;
    m_narrowed.resize(count * m_elementBytes);
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = loadLe<std::uint32_t>(values, i * m_valueBytes);
        const auto value = std::bit_cast<float>(bits);
        const bool bf16 = m_target == Dtype::BF16; // its widening only appends zeros, also to NaN
        const std::uint16_t narrow = bf16 ? static_cast<std::uint16_t>(bits >> 16) : floatToF16(value);
        const float back = bf16 ? bf16ToFloat(narrow) : f16ToFloat(narrow);
        if (std::bit_cast<std::uint32_t>(back) != bits)
            return fail(hostile(fmt::format("has the value {}, which {} cannot hold", value, word(m_target))));
        std::memcpy(m_narrowed.data() + i * m_elementBytes, &narrow, sizeof narrow);
    }
    return ByteSpan(m_narrowed);
}

Error PairStream::hostile(std::string text) const
{
    return Error { Code::Malformed, fmt::format("the patch of {} {}", quoteName(m_name), text), m_index.key(), {}, {} };
}

Result<std::unique_ptr<PatchStream>> openPair(const TensorEntry& entry, const TensorInfo& target, PairRule rule,
                                              BufferedExtent positions, BufferedExtent values)
{
    const PairEncoding encoding = PairEncoding::unpack(entry.encoding);
    const std::string& key = positions.key();
    if (encoding.form == PositionForm::Nvcomp) {
        return fail(
            Code::Unsupported,
            "unsupported encoding nvcomp_cascaded (index stream is an NVIDIA nvCOMP Cascaded bitstream; a build with "
            "nvCOMP and a CUDA device is needed)",
            key);
    }
    if (encoding.form == PositionForm::Unknown || encoding.form == PositionForm::None)
        return fail(Code::Unsupported,
                    fmt::format("unsupported encoding of the positions of {}", quoteName(entry.name())), key);
    const bool fits = rule == PairRule::Assign
        ? encoding.values == target.dtype
        : isFloat(target.dtype) && (encoding.values == Dtype::F32 || encoding.values == target.dtype);
    if (!fits || (rule == PairRule::Add && encoding.values != Dtype::F32)) {
        return fail(Code::BaseMismatch,
                    fmt::format("{} gets values of {} but is {} in the state before", quoteName(entry.name()),
                                word(encoding.values), describe(target)),
                    key);
    }
    if (bitsOf(target.dtype) % 8 != 0)
        return fail(Code::Unsupported, fmt::format("sparse values of {} are not readable", word(target.dtype)), key);
    if (entry.info() && (entry.info()->dtype != target.dtype || entry.info()->shape != target.shape)) {
        return fail(Code::BaseMismatch,
                    fmt::format("{} is {} in the patch but {} in the state before", quoteName(entry.name()),
                                describe(*entry.info()), describe(target)),
                    key);
    }
    if (entry.storedElements().value_or(0) > target.elements()) {
        return fail(Code::BaseMismatch,
                    fmt::format("{} gets {} values but is {} in the state before", quoteName(entry.name()),
                                *entry.storedElements(), describe(target)),
                    key);
    }
    return std::unique_ptr<PatchStream>(
        std::make_unique<PairStream>(encoding, rule, std::move(positions), std::move(values), target));
}

} // namespace deltascope
