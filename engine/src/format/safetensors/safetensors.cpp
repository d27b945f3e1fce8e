#include "deltascope/engine/safetensors.h"

#include "format/common/plain_kind.h"
#include "format/common/quote_name.h"
#include "format/safetensors/header_parser.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <tuple>

namespace deltascope {
namespace {

constexpr std::uint64_t LengthBytes = 8;

Result<void> checkHeaderLength(std::uint64_t headerBytes, std::uint64_t fileBytes)
{
    if (headerBytes > SafetensorsHeader::MaxHeaderBytes)
        return fail(Code::Hostile,
                    fmt::format("the file claims a header of {} bytes, more than the {} allowed", headerBytes,
                                SafetensorsHeader::MaxHeaderBytes));
    if (fileBytes == 0)
        return fail(Code::Truncated, "the file is empty: it is 0 bytes");
    if (fileBytes < LengthBytes)
        return fail(Code::Truncated,
                    fmt::format("it is {} bytes, too short for the 8 bytes of its header length: the file is cut short",
                                fileBytes));
    if (headerBytes > fileBytes - LengthBytes)
        return fail(Code::Truncated,
                    fmt::format("it is {} bytes, its header alone promises {}: the file is cut short", fileBytes,
                                LengthBytes + headerBytes));
    return {};
}

/// `promised`: 8 + N + end of the last tensor.
Result<void> checkFileSize(std::uint64_t fileBytes, std::uint64_t promised)
{
    if (fileBytes < promised)
        return fail(Code::Truncated,
                    fmt::format("it is {} bytes, its header promises {}: the file is cut short", fileBytes, promised));
    if (fileBytes > promised)
        return fail(Code::Truncated,
                    fmt::format("it is {} bytes, its header promises {}: the file is longer than that, "
                                "{} bytes follow its last tensor",
                                fileBytes, promised, fileBytes - promised));
    return {};
}

/// Where `entry` must begin: `expected`, the end of the one before it.
Result<void> checkOffsets(const HeaderEntry& entry, std::uint64_t expected, const HeaderEntry* before)
{
    const std::string name = quoteName(entry.info.name);
    if (entry.end < entry.begin)
        return fail(
            Code::Hostile,
            fmt::format("tensor {} ends at byte {} of the data, before its begin at {}", name, entry.end, entry.begin));
    if (entry.begin < expected)
        return fail(Code::Hostile,
                    fmt::format("tensor {} begins at byte {} of the data, inside tensor {}, which ends at {}", name,
                                entry.begin, quoteName(before->info.name), expected));
    if (entry.begin > expected)
        return fail(Code::Malformed,
                    fmt::format("tensor {} begins at byte {} of the data, but {} ends at {}: the bytes between "
                                "belong to no tensor",
                                name, entry.begin, before ? "tensor " + quoteName(before->info.name) : "the header",
                                expected));
    return {};
}

/// Entries in the order of their data: no hole, no overlap, each as large as its shape says. Returns the last end.
Result<std::uint64_t> checkData(const std::vector<HeaderEntry>& entries)
{
    std::uint64_t end = 0;
    const HeaderEntry* before = nullptr;
    for (const HeaderEntry& entry : entries) {
        if (entry.begin != end || entry.end < entry.begin)
            DS_CHECK(checkOffsets(entry, end, before));
        DS_TRY(const std::uint64_t bytes, checkedSize(entry.info));
        if (entry.end - entry.begin != bytes)
            return fail(Code::Malformed,
                        fmt::format("tensor {} takes {} bytes by its dtype and shape, its data_offsets span {}",
                                    quoteName(entry.info.name), bytes, entry.end - entry.begin));
        end = entry.end;
        before = &entry;
    }
    return end;
}

Result<std::vector<std::uint32_t>> orderByName(const std::vector<HeaderEntry>& entries)
{
    std::vector<std::uint32_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto nameOf = [&](std::uint32_t index) -> const std::string& { return entries[index].info.name; };
    const auto before = [&](std::uint32_t a, std::uint32_t b) { return nameOf(a) < nameOf(b); };
    if (!std::is_sorted(order.begin(), order.end(), before))
        std::stable_sort(order.begin(), order.end(), before); // merges: names ascend within each dtype
    const auto twin = std::adjacent_find(order.begin(), order.end(),
                                         [&](std::uint32_t a, std::uint32_t b) { return nameOf(a) == nameOf(b); });
    if (twin != order.end())
        return fail(Code::Hostile, fmt::format("tensor {} occurs twice in the header", quoteName(nameOf(*twin))));
    return order;
}

void appendJsonText(std::string& out, std::string_view text)
{
    out += '"';
    for (const char c : text) {
        switch (c) {
        case '"':
        case '\\':
            out += '\\';
            out += c;
            break;
        case '\b':
            out += "\\b";
            break;
        case '\t':
            out += "\\t";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\f':
            out += "\\f";
            break;
        case '\r':
            out += "\\r";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20)
                fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
            else
                out += c;
        }
    }
    out += '"';
}

Error located(Error error, const std::string& key)
{
    if (error.where.empty())
        error.where = key;
    return error;
}

} // namespace

Result<SafetensorsHeader> SafetensorsHeader::parse(ByteSpan json, std::uint64_t fileBytes)
{
    DS_CHECK(checkHeaderLength(json.size(), fileBytes));
    DS_TRY(HeaderContent content, parseHeaderJson(json));
    return check(std::move(content), json.size(), fileBytes);
}

Result<SafetensorsHeader> SafetensorsHeader::check(HeaderContent content, std::uint64_t headerBytes,
                                                   std::uint64_t fileBytes)
{
    std::vector<HeaderEntry>& entries = content.tensors;
    // Empty tensors may share a place; their names settle the order then.
    const auto before = [](const HeaderEntry& a, const HeaderEntry& b) {
        return std::tie(a.begin, a.end, a.info.name) < std::tie(b.begin, b.end, b.info.name);
    };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) // as nearly all writers leave them
        std::sort(entries.begin(), entries.end(), before);

    SafetensorsHeader header;
    DS_TRY(header.m_byName, orderByName(entries));
    DS_TRY(const std::uint64_t dataBytes, checkData(entries));
    header.m_dataBegin = LengthBytes + headerBytes;
    DS_CHECK(checkFileSize(fileBytes, header.m_dataBegin + dataBytes));
    header.m_tensors.reserve(entries.size());
    for (HeaderEntry& entry : entries)
        header.m_tensors.push_back(
            { std::move(entry.info), header.m_dataBegin + entry.begin, entry.end - entry.begin });
    header.m_metadata = std::move(content.metadata);
    return header;
}

Result<SafetensorsHeader> SafetensorsHeader::readUnlocated(const ObjectStore& store, const ObjectInfo& object,
                                                           TaskContext& task)
{
    DS_CHECK(checkHeaderLength(0, object.sizeBytes));
    std::array<std::byte, LengthBytes> length {};
    DS_CHECK(store.read(object.key, 0, length, task));
    const auto headerBytes = loadLe<std::uint64_t>(length);
    if (headerBytes > SafetensorsHeader::MaxHeaderBytes && object.sizeBytes > LengthBytes) {
        std::array<std::byte, 1> first {};
        DS_CHECK(store.read(object.key, LengthBytes, first, task));
        if (asText(first) != "{") // no header at all, so that its length claims nothing
            return fail(Code::Malformed,
                        fmt::format("the file is no safetensors file: it begins with the bytes {:02x}",
                                    fmt::join(std::as_bytes(std::span(length)), " ")));
    }
    if (headerBytes == 0)
        return fail(Code::Unfinished, "its first 8 bytes are zero: the file was preallocated and never written");
    DS_CHECK(checkHeaderLength(headerBytes, object.sizeBytes));
    std::vector<std::byte> json(headerBytes);
    DS_CHECK(store.read(object.key, LengthBytes, json, task));
    DS_TRY(HeaderContent content, parseHeaderJson(json));
    json = std::vector<std::byte>(); // before its entries are copied: both are large
    return check(std::move(content), headerBytes, object.sizeBytes);
}

Result<SafetensorsHeader> SafetensorsHeader::read(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    auto header = readUnlocated(store, object, task);
    if (!header)
        return fail(orPlainKind(located(std::move(header.error()), object.key), Wanted::Tensors, store, object, task));
    return header;
}

const StoredTensor* SafetensorsHeader::find(std::string_view name) const noexcept
{
    const auto at =
        std::lower_bound(m_byName.begin(), m_byName.end(), name, [this](std::uint32_t index, std::string_view text) {
            return m_tensors[index].info.name < text;
        });
    if (at == m_byName.end() || m_tensors[*at].info.name != name)
        return nullptr;
    return &m_tensors[*at];
}

std::string_view SafetensorsHeader::meta(std::string_view key) const noexcept
{
    const auto at = m_metadata.find(key);
    return at == m_metadata.end() ? std::string_view() : std::string_view(at->second);
}

std::string writeSafetensorsHeader(const std::vector<TensorInfo>& tensors,
                                   const std::map<std::string, std::string, std::less<>>& metadata)
{
    std::vector<const TensorInfo*> pointers;
    pointers.reserve(tensors.size());
    for (const TensorInfo& tensor : tensors)
        pointers.push_back(&tensor);
    return writeSafetensorsHeaderOf(pointers, metadata);
}

std::string writeSafetensorsHeaderOf(const std::vector<const TensorInfo*>& tensors,
                                     const std::map<std::string, std::string, std::less<>>& metadata)
{
    constexpr std::size_t UsualRest = 96; ///< of a tensor beside its name
    std::size_t about = LengthBytes;
    for (const TensorInfo* tensor : tensors)
        about += tensor->name.size() + UsualRest;
    std::string out;
    out.reserve(about); // of a million tensors, growing would hold the text twice
    out.assign(LengthBytes, '\0');
    out += '{';
    const char* separator = "";
    if (!metadata.empty()) {
        out += "\"__metadata__\":{";
        for (const auto& [key, value] : metadata) {
            out += separator;
            appendJsonText(out, key);
            out += ':';
            appendJsonText(out, value);
            separator = ",";
        }
        out += '}';
    }
    std::uint64_t at = 0;
    for (const TensorInfo* tensor : tensors) {
        assert(tensor->name != "__metadata__");
        out += separator;
        appendJsonText(out, tensor->name);
        const std::uint64_t end = at + tensor->bytes();
        fmt::format_to(std::back_inserter(out), R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                       word(tensor->dtype), fmt::join(tensor->shape, ","), at, end);
        at = end;
        separator = ",";
    }
    out += '}';
    out.append((LengthBytes - out.size() % LengthBytes) % LengthBytes, ' ');
    storeLe<std::uint64_t>(std::as_writable_bytes(std::span(out)), 0, out.size() - LengthBytes);
    return out;
}

} // namespace deltascope
