#include "format/safetensors/header_parser.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace deltascope {
namespace {

using Json = nlohmann::json;

constexpr std::size_t MaxDepth = 4;
constexpr std::size_t MaxTensors = 1'000'000;
constexpr std::size_t MaxMetadata = 1'000'000;
constexpr std::size_t MaxNameBytes = 1024;
constexpr std::size_t MaxFields = 64; ///< of one entry; they are compared with each other
constexpr std::uint64_t MaxNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view MetadataKey = "__metadata__";

/// Takes the header event by event. The first event that breaks a rule ends the parse.
class HeaderReader final : public nlohmann::json_sax<Json> {
public:
    HeaderContent content;
    std::string refusal; ///< why the parse ended; empty while all is well
    Code code = Code::Malformed; ///< of the refusal

    bool null() override { return scalar("null"); }
    bool boolean(bool) override { return scalar("a truth value"); }
    bool number_integer(number_integer_t value) override { return badNumber(fmt::format("{}", value)); }
    bool number_unsigned(number_unsigned_t value) override;
    bool number_float(number_float_t, const string_t& text) override { return badNumber(text); }
    bool string(string_t& text) override;
    bool binary(binary_t&) override { return refuse("the header holds binary data"); }
    bool start_object(std::size_t) override;
    bool key(string_t& text) override;
    bool end_object() override;
    bool start_array(std::size_t) override;
    bool end_array() override;
    bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override;

private:
    /// What the values that come next belong to.
    enum class Place : std::uint8_t { Outside, Header, Metadata, Entry, Shape, Offsets, Unknown };
    enum class Field : std::uint8_t { Dtype, Shape, Offsets, Unknown };

    bool refuse(std::string text);
    bool refuseClaim(std::string text); ///< no writer makes this by accident
    bool scalar(std::string_view kind);
    bool badNumber(std::string_view text);
    bool wrongValue(std::string_view kind);
    bool descend();
    bool headerKey(const std::string& text);
    bool metadataKey(const std::string& text);
    bool entryKey(const std::string& text);
    bool finishEntry();
    std::string tensorText() const { return "tensor " + quoteName(m_entry.info.name); }

    static constexpr std::array<std::string_view, 3> FieldWords { "dtype", "shape", "data_offsets" };

    Place m_place = Place::Outside;
    std::size_t m_depth = 0;
    std::size_t m_unknownDepth = 0; ///< depth of the entry whose unknown field is being skipped
    bool m_complete = false;
    bool m_nextIsMetadata = false;
    bool m_sawMetadata = false;
    std::map<std::string, std::string, std::less<>>::iterator m_metadataAt;

    HeaderEntry m_entry;
    Field m_field = Field::Unknown;
    std::array<bool, 3> m_seen {}; ///< by Field
    std::vector<std::string> m_unknownFields;
    std::size_t m_offsetCount = 0;
};

bool HeaderReader::refuse(std::string text)
{
    refusal = std::move(text);
    return false;
}

bool HeaderReader::refuseClaim(std::string text)
{
    code = Code::Hostile;
    return refuse(std::move(text));
}

bool HeaderReader::wrongValue(std::string_view kind)
{
    switch (m_place) {
    case Place::Header:
        if (m_nextIsMetadata)
            return refuse(fmt::format("__metadata__ is {} instead of an object", kind));
        return refuse(fmt::format("the entry of {} is {} instead of an object", tensorText(), kind));
    case Place::Metadata:
        return refuse(
            fmt::format("the metadata value of {} is {} instead of text", quoteName(m_metadataAt->first), kind));
    case Place::Entry:
        return refuse(fmt::format("the {} of {} is {} instead of {}", FieldWords[static_cast<std::size_t>(m_field)],
                                  tensorText(), kind, m_field == Field::Dtype ? "text" : "a list of numbers"));
    case Place::Shape:
        return refuse(fmt::format("the shape of {} holds {} instead of a number", tensorText(), kind));
    case Place::Offsets:
        return refuse(fmt::format("the data_offsets of {} hold {} instead of a number", tensorText(), kind));
    case Place::Outside:
    case Place::Unknown:
        break;
    }
    return refuse(fmt::format("the header is {} instead of an object", kind));
}

bool HeaderReader::scalar(std::string_view kind)
{
    if (m_place == Place::Unknown || (m_place == Place::Entry && m_field == Field::Unknown))
        return true;
    return wrongValue(kind);
}

bool HeaderReader::badNumber(std::string_view text)
{
    if (m_place != Place::Shape && m_place != Place::Offsets)
        return scalar("a number");
    constexpr std::size_t Shown = 40;
    return refuse(fmt::format("the {} of {} contain {}{}, which is not a whole number from 0 to {}",
                              m_place == Place::Shape ? "dimensions" : "data_offsets", tensorText(),
                              text.substr(0, Shown), text.size() > Shown ? "..." : "", MaxNumber));
}

bool HeaderReader::number_unsigned(number_unsigned_t value)
{
    if (m_place != Place::Shape && m_place != Place::Offsets)
        return scalar("a number");
    if (value > MaxNumber)
        return badNumber(fmt::format("{}", value));
    if (m_place == Place::Shape) {
        if (m_entry.info.shape.size() == MaxTensorRank)
            return refuse(fmt::format("{} has more than {} dimensions", tensorText(), MaxTensorRank));
        m_entry.info.shape.push_back(value);
        return true;
    }
    if (m_offsetCount == 2)
        return refuse(fmt::format("the data_offsets of {} hold more than two numbers", tensorText()));
    (m_offsetCount++ == 0 ? m_entry.begin : m_entry.end) = value;
    return true;
}

bool HeaderReader::string(string_t& text)
{
    if (m_place == Place::Metadata) {
        m_metadataAt->second = text;
        return true;
    }
    if (m_place != Place::Entry || m_field != Field::Dtype)
        return scalar("text");
    const std::optional<Dtype> dtype = parseDtype(text);
    if (!dtype)
        return refuse(fmt::format("{} has the unknown dtype {}", tensorText(), quoteName(text)));
    m_entry.info.dtype = *dtype;
    return true;
}

/// Called before an object or list is entered.
bool HeaderReader::descend()
{
    if (++m_depth > MaxDepth)
        return refuseClaim(fmt::format("the header is nested more than {} levels deep", MaxDepth));
    return true;
}

bool HeaderReader::start_object(std::size_t)
{
    switch (m_place) {
    case Place::Outside:
        m_place = Place::Header;
        return descend();
    case Place::Header:
        m_place = m_nextIsMetadata ? Place::Metadata : Place::Entry;
        return descend();
    case Place::Entry:
        if (m_field != Field::Unknown)
            return wrongValue("an object");
        m_unknownDepth = m_depth;
        m_place = Place::Unknown;
        return descend();
    case Place::Unknown:
        return descend();
    case Place::Metadata:
    case Place::Shape:
    case Place::Offsets:
        break;
    }
    return wrongValue("an object");
}

bool HeaderReader::start_array(std::size_t)
{
    if (m_place == Place::Unknown)
        return descend();
    if (m_place != Place::Entry || m_field == Field::Dtype)
        return wrongValue("a list");
    if (m_field == Field::Unknown)
        m_unknownDepth = m_depth;
    m_place = m_field == Field::Shape ? Place::Shape : m_field == Field::Offsets ? Place::Offsets : Place::Unknown;
    return descend();
}

bool HeaderReader::end_array()
{
    --m_depth;
    if (m_place != Place::Unknown || m_depth == m_unknownDepth)
        m_place = Place::Entry;
    return true;
}

bool HeaderReader::end_object()
{
    --m_depth;
    switch (m_place) {
    case Place::Unknown:
        if (m_depth == m_unknownDepth)
            m_place = Place::Entry;
        return true;
    case Place::Entry:
        m_place = Place::Header;
        return finishEntry();
    case Place::Metadata:
        m_place = Place::Header;
        return true;
    default:
        m_place = Place::Outside;
        m_complete = true;
        return true;
    }
}

bool HeaderReader::key(string_t& text)
{
    switch (m_place) {
    case Place::Header:
        return headerKey(text);
    case Place::Metadata:
        return metadataKey(text);
    case Place::Entry:
        return entryKey(text);
    default:
        return true;
    }
}

bool HeaderReader::headerKey(const std::string& text)
{
    m_nextIsMetadata = text == MetadataKey;
    if (m_nextIsMetadata) {
        if (m_sawMetadata)
            return refuseClaim("__metadata__ occurs twice in the header");
        m_sawMetadata = true;
        return true;
    }
    if (text.size() > MaxNameBytes)
        return refuse(fmt::format("the name of tensor {} is {} bytes long, more than the {} allowed", quoteName(text),
                                  text.size(), MaxNameBytes));
    if (content.tensors.size() == MaxTensors)
        return refuseClaim(fmt::format("the header describes more than {} tensors", MaxTensors));
    m_entry = HeaderEntry();
    m_entry.info.name = text;
    m_seen = {};
    m_unknownFields.clear();
    m_offsetCount = 0;
    return true;
}

bool HeaderReader::metadataKey(const std::string& text)
{
    if (content.metadata.size() == MaxMetadata)
        return refuseClaim(fmt::format("the header has more than {} metadata entries", MaxMetadata));
    const std::size_t before = content.metadata.size();
    m_metadataAt = content.metadata.try_emplace(content.metadata.end(), text); // some writers sort
    return content.metadata.size() > before
        || refuseClaim(fmt::format("the metadata key {} occurs twice", quoteName(text)));
}

bool HeaderReader::entryKey(const std::string& text)
{
    const auto* const known = std::find(FieldWords.begin(), FieldWords.end(), text);
    const auto index = static_cast<std::size_t>(known - FieldWords.begin());
    m_field = static_cast<Field>(index);
    const bool isUnknown = m_field == Field::Unknown;
    const bool isRepeated = isUnknown
        ? std::find(m_unknownFields.begin(), m_unknownFields.end(), text) != m_unknownFields.end()
        : m_seen[index];
    if (isRepeated)
        return refuseClaim(fmt::format("the field {} occurs twice in the entry of {}", quoteName(text), tensorText()));
    if (!isUnknown) {
        m_seen[index] = true;
        return true;
    }
    if (m_unknownFields.size() == MaxFields)
        return refuseClaim(fmt::format("the entry of {} has more than {} unknown fields", tensorText(), MaxFields));
    m_unknownFields.push_back(text);
    return true;
}

bool HeaderReader::finishEntry()
{
    for (std::size_t i = 0; i < FieldWords.size(); ++i) {
        if (!m_seen[i])
            return refuse(fmt::format("{} has no {}", tensorText(), FieldWords[i]));
    }
    if (m_offsetCount != 2)
        return refuse(fmt::format("the data_offsets of {} hold {} instead of two numbers", tensorText(),
                                  m_offsetCount == 0 ? "no number" : "one number"));
    content.tensors.push_back(std::move(m_entry));
    return true;
}

bool HeaderReader::parse_error(std::size_t position, const std::string&, const Json::exception& error)
{
    const std::string_view reason = error.what();
    if (m_complete)
        return refuse(
            fmt::format("more than spaces follows the end of the JSON object, up to byte {} of the header", position));
    if (reason.find("ill-formed UTF-8") != std::string_view::npos)
        return refuse(fmt::format("the header is not valid UTF-8 at byte {}", position));
    if (reason.find("number overflow") != std::string_view::npos)
        return refuse(
            fmt::format("the number that ends at byte {} of the header is too large for any computer", position));
    return refuse(fmt::format("the header is not valid JSON: it breaks off or goes wrong at byte {}", position));
}

} // namespace

Result<HeaderContent> parseHeaderJson(ByteSpan json)
{
    if (json.empty())
        return fail(Code::Malformed, "the header is empty: not even an empty object");
    const std::string_view text = asText(json);
    if (text.front() != '{')
        return fail(Code::Malformed,
                    fmt::format("the header starts with the byte 0x{:02x} instead of a brace",
                                static_cast<unsigned char>(text.front())));
    // The parser takes a NUL for the end of its input and would not look behind it.
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
        return fail(Code::Malformed, fmt::format("the header holds a NUL byte at byte {}", at));
    constexpr std::size_t LeastEntryBytes = 48; // {"":{"dtype":"U8","shape":[],"data_offsets":[0,0]}}
    HeaderReader reader;
    reader.content.tensors.reserve(std::min(MaxTensors, json.size() / LeastEntryBytes)); // growing holds them twice
    if (!Json::sax_parse(text.begin(), text.end(), &reader))
        return fail(reader.code, std::move(reader.refusal));
    return std::move(reader.content);
}

} // namespace deltascope
