#include "replies.h"

#include "../../base/percent_code.h"
#include "deltascope/base/ascii.h"
#include "deltascope/base/bytes.h"
#include "encoding.h"
#include "xml.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

using SystemTime = std::chrono::system_clock::time_point;

constexpr int LastYear = 2200; ///< later times count as its start

tl::unexpected<Error> badReply(std::string_view what)
{
    return fail(Code::Hostile, fmt::format("the server's answer is not as S3 gives it: {}", what), {},
                "see that the endpoint is that of an S3 server");
}

Result<XmlElement> parseReply(std::string_view xml, std::string_view name)
{
    DS_TRY(XmlElement root, parseXml(xml));
    if (root.name != name)
        return badReply(fmt::format("its outer element is not {}", name));
    return root;
}

std::optional<std::string> listedKey(std::string_view text, bool isEncoded)
{
    std::string key(text);
    if (!isEncoded)
        return key;
    std::replace(key.begin(), key.end(), '+', ' '); // as in forms; a plus sign is %2B
    Result<std::string> decoded = percentDecode(key);
    return decoded ? std::optional(std::move(*decoded)) : std::nullopt;
}

Result<ListedObject> listedObject(const XmlElement& entry, bool isEncoded)
{
    ListedObject object;
    const auto key = listedKey(entry.textOf("Key"), isEncoded);
    if (!key || key->empty())
        return badReply("an object of the listing has no key");
    object.key = *key;
    const auto size = parseNumber(entry.textOf("Size"));
    const auto modified = parseIsoTime(entry.textOf("LastModified"));
    object.etag = etagOf(entry.textOf("ETag"));
    if (!size || !modified || object.etag.empty())
        return badReply("an object of the listing lacks its size, time or ETag");
    object.sizeBytes = static_cast<std::uint64_t>(*size);
    object.modifiedUs = std::chrono::duration_cast<std::chrono::microseconds>(modified->time_since_epoch()).count();
    return object;
}

ErrorReply errorOfElement(const XmlElement& element)
{
    ErrorReply error;
    error.code = element.textOf("Code");
    error.message = element.textOf("Message");
    if (const std::string_view region = element.textOf("Region"); isRegion(region))
        error.region = region;
    return error;
}

/// A number of exactly so many digits at `at`, or nothing.
std::optional<int> digitsAt(std::string_view text, std::size_t at, std::size_t count)
{
    if (text.size() < at + count || !std::all_of(text.begin() + at, text.begin() + at + count, isDigit))
        return std::nullopt;
    return static_cast<int>(*parseNumber(text.substr(at, count)));
}

std::optional<SystemTime> timeOf(std::optional<int> year, std::optional<int> month, std::optional<int> day,
                                 std::string_view clock)
{
    const auto hour = digitsAt(clock, 0, 2);
    const auto minute = digitsAt(clock, 3, 2);
    const auto second = digitsAt(clock, 6, 2);
    if (!year || !month || !day || !hour || !minute || !second || clock[2] != ':' || clock[5] != ':' || *hour > 23
        || *minute > 59 || *second > 60)
        return std::nullopt;
    const std::chrono::year_month_day date { std::chrono::year(*year),
                                             std::chrono::month(static_cast<unsigned>(*month)),
                                             std::chrono::day(static_cast<unsigned>(*day)) };
    if (!date.ok() || *year < 1970)
        return std::nullopt;
    if (*year >= LastYear) // the clock of the system ends in 2262
        return SystemTime(std::chrono::sys_days(std::chrono::year(LastYear) / 1 / 1));
    return SystemTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) + std::chrono::minutes(*minute)
        + std::chrono::seconds(*second);
}

} // namespace

Result<ListReply> parseListing(std::string_view xml)
{
    DS_TRY(const XmlElement root, parseReply(xml, "ListBucketResult"));
    ListReply reply;
    const std::string_view truncated = root.textOf("IsTruncated");
    if (truncated != "true" && truncated != "false")
        return badReply("the listing does not say whether it is complete");
    reply.isTruncated = truncated == "true";
    const std::string_view encoding = root.textOf("EncodingType"); // versitygw leaves it out, and does not encode
    if (encoding != "url" && !encoding.empty())
        return badReply("the keys of the listing are encoded in an unknown way");
    for (const XmlElement& entry : root.children) {
        if (entry.name != "Contents")
            continue;
        DS_TRY(ListedObject object, listedObject(entry, !encoding.empty()));
        reply.objects.push_back(std::move(object));
    }
    return reply;
}

ErrorReply parseErrorReply(std::string_view body)
{
    const Result<XmlElement> root = parseXml(body);
    if (!root)
        return {};
    if (root->name == "Error")
        return errorOfElement(*root);
    const XmlElement* const inner = root->child("Error"); // STS wraps it
    return inner ? errorOfElement(*inner) : ErrorReply {};
}

bool isErrorBody(std::string_view body)
{
    const Result<XmlElement> root = parseXml(body);
    return root && root->name == "Error";
}

Result<std::string> parseUploadId(std::string_view xml)
{
    constexpr std::size_t MostIdBytes = 2048;
    DS_TRY(const XmlElement root, parseReply(xml, "InitiateMultipartUploadResult"));
    const std::string_view id = root.textOf("UploadId");
    if (id.empty() || id.size() > MostIdBytes)
        return badReply("the upload has no id");
    return std::string(id);
}

Result<std::string> parseCopyEtag(std::string_view xml)
{
    DS_TRY(const XmlElement root, parseReply(xml, "CopyObjectResult"));
    std::string etag = etagOf(root.textOf("ETag"));
    if (etag.empty())
        return badReply("the copy has no ETag");
    return etag;
}

Result<std::vector<DeleteFailure>> parseDeleteReply(std::string_view xml)
{
    DS_TRY(const XmlElement root, parseReply(xml, "DeleteResult"));
    std::vector<DeleteFailure> failures;
    for (const XmlElement& entry : root.children) {
        if (entry.name == "Error")
            failures.push_back({ std::string(entry.textOf("Key")), errorOfElement(entry) });
    }
    return failures;
}

std::string etagOf(std::string_view header)
{
    constexpr std::size_t MostEtagBytes = 256;
    std::string_view text = trimBlanks(header);
    const std::string_view weak = text.starts_with("W/") ? text.substr(0, 2) : std::string_view();
    text.remove_prefix(weak.size());
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        text = text.substr(1, text.size() - 2);
    const bool isPlain =
        std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '"'; });
    if (text.empty() || text.size() > MostEtagBytes || !isPlain)
        return {};
    return std::string(weak) + std::string(text);
}

std::optional<SystemTime> parseHttpDate(std::string_view text)
{
    constexpr std::array<std::string_view, 12> Months { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    constexpr std::size_t Length = 29;
    if (text.size() != Length || text.substr(25) != " GMT")
        return std::nullopt;
    const auto month = std::find(Months.begin(), Months.end(), text.substr(8, 3));
    if (month == Months.end())
        return std::nullopt;
    return timeOf(digitsAt(text, 12, 4), static_cast<int>(month - Months.begin()) + 1, digitsAt(text, 5, 2),
                  text.substr(17, 8));
}

std::optional<SystemTime> parseIsoTime(std::string_view text)
{
    constexpr std::size_t Length = 19;
    if (text.size() <= Length || text[4] != '-' || text[7] != '-' || text[10] != 'T')
        return std::nullopt;
    std::string_view rest = text.substr(Length);
    if (rest.front() == '.') {
        rest.remove_prefix(1);
        rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size()));
    }
    if (rest != "Z" && rest != "+00:00" && rest != "UTC")
        return std::nullopt;
    return timeOf(digitsAt(text, 0, 4), digitsAt(text, 5, 2), digitsAt(text, 8, 2), text.substr(11, 8));
}

bool isRegion(std::string_view text) noexcept
{
    constexpr std::size_t MostRegionBytes = 40;
    return !text.empty() && text.size() <= MostRegionBytes
        && std::all_of(text.begin(), text.end(), [](char c) { return (isWordCharacter(c) && c != '_') || c == '-'; });
}

} // namespace deltascope::s3
