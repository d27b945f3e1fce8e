#include "format/grail/grail_payload.h"

#include "base/torch_dtype.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/quote_name.h"
#include "format/common/strict_json.h"
#include "format/grail/grail_stream.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::uint64_t MaxHeaderBytes = SafetensorsHeader::MaxHeaderBytes;

class HeaderReader {
public:
    HeaderReader(const UnpackedObject& payload, std::uint32_t object, std::uint64_t dataBegin)
        : m_payload(payload)
        , m_object(object)
        , m_dataBegin(dataBegin)
    {
    }

    Result<std::vector<TensorEntry>> read(ByteSpan text)
    {
        const auto head = [this](const nlohmann::json& json) { return takeVersion(json); };
        const auto record = [this](const nlohmann::json& json) { return add(json); };
        DS_TRY(const nlohmann::json rest,
               parseRecords(text, "the payload's header", m_payload.key(), "tensors", record, head));
        if (!member(rest, "tensors").is_array())
            return fail(Code::Malformed, "its header has no list of tensors", m_payload.key());
        return std::move(m_entries);
    }

private:
    /// The version stands in front of the tensors, and decides how they are read.
    Result<void> takeVersion(const nlohmann::json& head)
    {
        const std::optional<std::uint64_t> version = memberNumber(head, "version");
        if (version != 2 && version != 3 && version != 31)
            return fail(Code::Unsupported,
                        fmt::format("unsupported codec {}", version ? std::to_string(*version) : "without a version"),
                        m_payload.key());
        m_version = *version;
        return {};
    }

    tl::unexpected<Error> hostile(const std::string& name, std::string_view text) const
    {
        return fail(Code::Malformed, fmt::format("the header's entry of {} {}", quoteName(name), text),
                    m_payload.key());
    }

    Result<void> add(const nlohmann::json& record)
    {
        TensorEntry entry;
        entry.setName(memberText(record, "name"));
        const auto shape = memberShape(record, "shape");
        const auto count = memberNumber(record, "num_nonzero");
        const std::optional<Dtype> dtype = parseTorchDtype(memberText(record, "value_dtype"));
        if (!member(record, "name").is_string() || !shape || !count)
            return hostile(entry.name(), "lacks name, shape or count");
        if (dtype != Dtype::BF16 && dtype != Dtype::F16 && dtype != Dtype::F32)
            return fail(Code::Unsupported,
                        fmt::format("{} has values of {}", quoteName(entry.name()),
                                    quoteName(memberText(record, "value_dtype"))),
                        m_payload.key());
        entry.setType(*dtype, *shape);
        if (!checkedSize(*entry.info()))
            return hostile(entry.name(), "has an impossible shape");
        if (*count > entry.info()->elements())
            return hostile(entry.name(),
                           fmt::format("has {} values for {} elements", *count, entry.info()->elements()));
        entry.setStoredElements(*count);
        DS_CHECK(m_version == 2 ? addFlat(record, *count, entry) : addRows(record, *count, entry));
        DS_CHECK(addExtent(record, "values_offset", "values_size", *count * (bitsOf(*dtype) / 8), entry));
        m_entries.push_back(std::move(entry));
        return {};
    }

    Result<void> addFlat(const nlohmann::json& record, std::uint64_t count, TensorEntry& entry)
    {
        entry.encoding = GrailEncoding {}.packed();
        return addExtent(record, "indices_offset", "indices_size", count * 4, entry);
    }

    Result<void> addRows(const nlohmann::json& record, std::uint64_t count, TensorEntry& entry)
    {
        const std::string rowType = m_version == 31 ? memberText(record, "row_dtype") : std::string();
        const std::string columnType = m_version == 31 ? memberText(record, "col_dtype") : std::string();
        GrailEncoding encoding { rowType == "uint8"        ? GrailPositions::Rows8
                                     : rowType == "uint16" ? GrailPositions::Rows16
                                                           : GrailPositions::Rows32,
                                 columnType != "uint16" };
        const bool knownRows = rowType.empty() || rowType == "int32" || encoding.positions != GrailPositions::Rows32;
        const bool knownColumns = columnType.empty() || columnType == "int32" || !encoding.wideColumns;
        if (!knownRows || !knownColumns)
            return fail(Code::Unsupported,
                        fmt::format("{} has rows of {} and columns of {}", quoteName(entry.name()), quoteName(rowType),
                                    quoteName(columnType)),
                        m_payload.key());
        const std::uint64_t rowBytes = count
            * (encoding.positions == GrailPositions::Rows8        ? 1
                   : encoding.positions == GrailPositions::Rows16 ? 2
                                                                  : 4);
        const std::uint64_t columnBytes = count * (encoding.wideColumns ? 4 : 2);
        const auto begin = memberNumber(record, "indices_offset");
        const auto rows = memberNumber(record, "rows_size");
        const auto columns = memberNumber(record, "cols_size");
        const auto both = memberNumber(record, "indices_size");
        if (!begin || rows != rowBytes || columns != columnBytes || both != rowBytes + columnBytes)
            return hostile(entry.name(), "has sizes of rows and columns that do not fit its count");
        entry.encoding = encoding.packed();
        DS_CHECK(addRange(*begin, rowBytes, entry));
        return addRange(*begin + rowBytes, columnBytes, entry);
    }

    Result<void> addExtent(const nlohmann::json& record, const char* offset, const char* size, std::uint64_t bytes,
                           TensorEntry& entry)
    {
        const auto begin = memberNumber(record, offset);
        if (!begin || memberNumber(record, size) != bytes)
            return hostile(entry.name(), "has sizes that do not fit its count");
        return addRange(*begin, bytes, entry);
    }

    Result<void> addRange(std::uint64_t begin, std::uint64_t bytes, TensorEntry& entry)
    {
        const std::uint64_t dataBytes = m_payload.sizeBytes() - m_dataBegin;
        if (begin > dataBytes || bytes > dataBytes - begin)
            return hostile(entry.name(), "lies outside of the payload");
        entry.extents.push_back(Extent { m_object, m_dataBegin + begin, bytes });
        return {};
    }

    const UnpackedObject& m_payload;
    std::uint32_t m_object;
    std::uint64_t m_dataBegin;
    std::uint64_t m_version = 0;
    std::vector<TensorEntry> m_entries;
};

}

Result<std::vector<TensorEntry>> readGrailPayload(const UnpackedObject& payload, std::uint32_t object,
                                                  TaskContext& task)
{
    if (payload.sizeBytes() == 0) // the publisher's other way to say that nothing changed
        return std::vector<TensorEntry>();
    if (payload.sizeBytes() < 4)
        return fail(Code::Malformed, "its content is too short for a header", payload.key());
    DS_TRY(const std::vector<std::byte> length, payload.front(4, task));
    const std::uint64_t headerBytes = loadLe<std::uint32_t>(length);
    if (headerBytes > MaxHeaderBytes || headerBytes > payload.sizeBytes() - 4)
        return fail(Code::Hostile, "its content promises a header that is longer than allowed or than itself",
                    payload.key());
    DS_TRY(const std::vector<std::byte> front, payload.front(4 + headerBytes, task));
    return HeaderReader(payload, object, 4 + headerBytes).read(ByteSpan(front).subspan(4));
}

Result<std::unique_ptr<PatchStream>> openGrailEntry(const std::shared_ptr<const UnpackedObject>& payload,
                                                    const TensorEntry& entry, const TensorInfo& target,
                                                    const StreamOptions& options)
{
    if (entry.info()->dtype != target.dtype || entry.info()->shape != target.shape) {
        return fail(Code::BaseMismatch,
                    fmt::format("{} is {} in the delta but {} in the state before", quoteName(entry.name()),
                                describe(*entry.info()), describe(target)),
                    payload->key());
    }
    const auto input = [&](std::size_t extent) {
        const Extent& from = entry.extents.at(extent);
        return BufferedExtent(payload, from.begin, from.bytes, options.bufferBytes);
    };
    const GrailEncoding encoding = GrailEncoding::unpack(entry.encoding);
    const bool flat = encoding.positions == GrailPositions::Flat;
    return std::unique_ptr<PatchStream>(std::make_unique<GrailStream>(encoding, *entry.storedElements(), input(0),
                                                                      flat ? std::nullopt : std::optional(input(1)),
                                                                      input(flat ? 1 : 2), target));
}

} // namespace deltascope
