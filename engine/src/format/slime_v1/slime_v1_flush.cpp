#include "format/slime_v1/slime_v1_flush.h"

#include "base/torch_dtype.h"
#include "format/common/fold_checksum.h"
#include "format/common/packed_header.h"
#include "format/common/pair_stream.h"
#include "format/common/quote_name.h"
#include "format/common/strict_json.h"
#include "format/common/zstd_stream.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::string_view PositionsName = "__positions__";
constexpr std::string_view ValuesName = "__values__";
constexpr std::uint64_t PieceBytes = 256U << 10;

/// The entries of the parameter list, checked against the two sections.
class ParameterReader {
public:
    ParameterReader(SlimeFlush& flush, std::uint32_t object, const std::string& key)
        : m_flush(flush)
        , m_object(object)
        , m_key(key)
    {
    }

    Result<void> read(std::string_view params)
    {
        const auto record = [this](const nlohmann::json& json) { return add(json); };
        DS_TRY(const nlohmann::json rest, parseRecords(asBytes(params), "the list of params", m_key, "", record));
        if (!rest.is_array())
            return fail(Code::Malformed, "its params are no list", m_key);
        m_flush.isTiled =
            m_inOrder && m_positionsEnd == m_flush.positions.bytes && m_valuesEnd == m_flush.values.info.elements();
        return {};
    }

private:
    Result<void> add(const nlohmann::json& item)
    {
        TensorEntry entry;
        entry.setName(memberText(item, "name"));
        const std::optional<Dtype> dtype = parseTorchDtype(memberText(item, "dtype"));
        const auto shape = memberShape(item, "shape");
        const auto positionsBegin = memberNumber(item, "pos_start");
        const auto positionsEnd = memberNumber(item, "pos_end");
        const auto width = memberNumber(item, "pos_width");
        const auto valuesBegin = memberNumber(item, "val_start");
        const auto valuesEnd = memberNumber(item, "val_end");
        if (!member(item, "name").is_string() || !shape || !positionsBegin || !positionsEnd || !width || !valuesBegin
            || !valuesEnd)
            return fail(Code::Malformed, "an entry of its params lacks a field or has one of another type", m_key);
        if (!dtype)
            return fail(Code::Unsupported,
                        fmt::format("{} has element type {}, which is not known", quoteName(entry.name()),
                                    quoteName(memberText(item, "dtype"))),
                        m_key);
        entry.setType(*dtype, *shape);
        if (Result<std::uint64_t> size = checkedSize(*entry.info()); !size)
            return fail(Code::Malformed, size.error().text, m_key);
        if (*positionsBegin > *positionsEnd || *positionsEnd > m_flush.positions.bytes || *valuesBegin > *valuesEnd
            || *valuesEnd > m_flush.values.info.elements())
            return fail(Code::Malformed,
                        fmt::format("the parts of {} lie outside of the file", quoteName(entry.name())), m_key);
        const std::uint64_t count = *valuesEnd - *valuesBegin;
        PairEncoding encoding { formOf(*width), m_flush.values.info.dtype };
        if (encoding.form == PositionForm::None)
            return fail(Code::Malformed,
                        fmt::format("{} has positions of {} bytes, which encoding {} never uses",
                                    quoteName(entry.name()), *width, m_flush.encoding),
                        m_key);
        if ((*positionsEnd - *positionsBegin) / *width != count || (*positionsEnd - *positionsBegin) % *width != 0)
            return fail(Code::Malformed,
                        fmt::format("{} has {} bytes of positions but {} values", quoteName(entry.name()),
                                    *positionsEnd - *positionsBegin, count),
                        m_key);
        m_inOrder = m_inOrder && *positionsBegin == m_positionsEnd && *valuesBegin == m_valuesEnd;
        m_positionsEnd = *positionsEnd;
        m_valuesEnd = *valuesEnd;
        const std::uint64_t valueBytes = bitsOf(encoding.values) / 8;
        entry.setStoredElements(count);
        entry.encoding = encoding.packed();
        entry.extents = {
            Extent { m_object, m_flush.positions.begin + *positionsBegin, *positionsEnd - *positionsBegin },
            Extent { m_object, m_flush.values.begin + *valuesBegin * valueBytes, count * valueBytes },
        };
        m_flush.entries.push_back(std::move(entry));
        return {};
    }

    PositionForm formOf(std::uint64_t width) const
    {
        if (m_flush.encoding == "indices")
            return width == 4 ? PositionForm::I32 : PositionForm::None;
        return width == 2 ? PositionForm::Gap16 : width == 4 ? PositionForm::Gap32 : PositionForm::None;
    }

    SlimeFlush& m_flush;
    std::uint32_t m_object;
    const std::string& m_key;
    bool m_inOrder = true; ///< each entry so far begins where the one in front of it ends
    std::uint64_t m_positionsEnd = 0;
    std::uint64_t m_valuesEnd = 0;
};

/// Reads the file's content from front to back.
class ContentReader {
public:
    ContentReader(const ObjectStore& store, const ObjectInfo& info, bool packed, TaskContext& task)
        : m_plain(store, info.key, 0, info.sizeBytes, PieceBytes, task)
    {
        if (packed)
            m_packed.emplace(BufferedExtent(store, info.key, 0, info.sizeBytes, PieceBytes, task), info.key);
    }

    Result<void> skipTo(std::uint64_t offset)
    {
        const std::uint64_t bytes = offset - m_at;
        m_at = offset;
        if (m_packed)
            return m_packed->skip(bytes);
        m_plain.skip(bytes);
        return {};
    }
    /// Valid until the next call.
    Result<ByteSpan> take(std::size_t bytes)
    {
        m_at += bytes;
        if (!m_packed)
            return m_plain.take(bytes);
        m_buffer.resize(bytes);
        DS_CHECK(m_packed->read(m_buffer));
        return ByteSpan(m_buffer);
    }

private:
    BufferedExtent m_plain;
    std::optional<ZstdStream> m_packed;
    std::vector<std::byte> m_buffer;
    std::uint64_t m_at = 0;
};

Result<std::uint64_t> foldSection(ContentReader& reader, const StoredTensor& section, TaskContext& task)
{
    std::uint64_t sum = 0;
    DS_CHECK(reader.skipTo(section.begin));
    for (std::uint64_t left = section.bytes; left > 0;) {
        DS_CHECK(task.checkpoint());
        const std::uint64_t now = std::min(left, PieceBytes);
        DS_TRY(const ByteSpan bytes, reader.take(now));
        sum ^= foldTensor(section.info.dtype, bytes);
        left -= now;
    }
    return sum;
}

/// positions ^ (values << 1) as Python prints an integer of any size.
std::string checksumText(std::uint64_t positions, std::uint64_t values)
{
    const bool carry = (values >> 63) != 0;
    const std::uint64_t low = positions ^ (values << 1);
    if (!carry)
        return fmt::format("{}", low);
    // 2^64 + low, split at 10^10: 2^64 = 1844674407 * 10^10 + 3709551616
    constexpr std::uint64_t Split = 10'000'000'000;
    const std::uint64_t tail = low % Split + 3'709'551'616;
    const std::uint64_t head = low / Split + 1'844'674'407 + tail / Split;
    return fmt::format("{}{:010}", head, tail % Split);
}

}

Result<SlimeFlush> readSlimeFlush(const ObjectStore& store, const ObjectInfo& info, std::uint32_t object,
                                  TaskContext& task)
{
    SlimeFlush flush;
    DS_TRY(const bool packed, UnpackedObject::isFrame(store, info, task));
    if (packed) {
        DS_TRY(flush.packed, UnpackedObject::open(store, info, task));
    }
    DS_TRY(const SafetensorsHeader header,
           packed ? readPackedHeader(*flush.packed, task) : SafetensorsHeader::read(store, info, task));
    flush.encoding = std::string(header.meta("encoding"));
    flush.version = std::string(header.meta("current_version"));
    flush.checksum = std::string(header.meta("checksum"));
    const bool expectPacked = flush.encoding == "deltas_zstd";
    if (flush.encoding != "indices" && flush.encoding != "deltas" && !expectPacked)
        return fail(Code::Unsupported, fmt::format("unsupported encoding {}", quoteName(flush.encoding)), info.key);
    if (expectPacked != packed)
        return fail(Code::Malformed,
                    fmt::format("calls itself {} but is {}compressed", flush.encoding, packed ? "" : "not "), info.key);
    const StoredTensor* positions = header.find(PositionsName);
    const StoredTensor* values = header.find(ValuesName);
    if (!positions || !values || header.tensors().size() != 2 || positions->info.dtype != Dtype::U8
        || positions->info.shape.size() != 1 || values->info.shape.size() != 1)
        return fail(Code::Malformed, "does not hold one list of positions and one of values", info.key);
    if (bitsOf(values->info.dtype) % 8 != 0)
        return fail(Code::Unsupported, fmt::format("values of {} are not readable", word(values->info.dtype)),
                    info.key);
    flush.positions = *positions;
    flush.values = *values;
    DS_CHECK(ParameterReader(flush, object, info.key).read(header.meta("params")));
    return flush;
}

Result<void> checkSlimeFlush(const ObjectStore& store, const ObjectInfo& info, const SlimeFlush& flush,
                             TaskContext& task)
{
    if (flush.checksum.empty())
        return {};
    ContentReader reader(store, info, flush.packed != nullptr, task);
    const bool valuesFirst = flush.values.begin < flush.positions.begin;
    DS_TRY(const std::uint64_t first, foldSection(reader, valuesFirst ? flush.values : flush.positions, task));
    DS_TRY(const std::uint64_t second, foldSection(reader, valuesFirst ? flush.positions : flush.values, task));
    const std::string actual = valuesFirst ? checksumText(second, first) : checksumText(first, second);
    if (actual != flush.checksum)
        return fail(
            Code::Digest,
            fmt::format("its positions and values have checksum {}, it records {}", actual, quoteName(flush.checksum)),
            info.key);
    return {};
}

} // namespace deltascope
