#include "hub_json.h"

#include "deltascope/base/ascii.h"
#include "deltascope/base/bytes.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

namespace deltascope::hub {

namespace {

using nlohmann::json;

constexpr int MostJsonDepth = 16;
constexpr std::size_t MostPathBytes = 4096;
constexpr std::size_t MostTokenBytes = 64'000; // as the Hub's documents say of its Xet tokens
constexpr std::uint64_t MostFileBytes = std::uint64_t { 1 } << 62;

tl::unexpected<Error> notUnderstood(const char* what)
{
    return fail(Code::Hostile, std::string("the Hub answers with something that is no ") + what, {},
                "see that the endpoint is a Hugging Face Hub, and that no proxy answers in its place");
}

std::optional<std::uint64_t> optionalNumber(const json& object, const char* key, bool& isWrong)
{
    const auto found = object.find(key);
    if (found == object.end() || found->is_null())
        return std::nullopt;
    if (found->is_number_unsigned())
        return found->get<std::uint64_t>();
    isWrong = true;
    return std::nullopt;
}

/// Whether the hash is 64 digits in either case; it is put in lower case.
bool takeHash(std::string& hash)
{
    for (char& c : hash) {
        if (c >= 'A' && c <= 'F')
            c = static_cast<char>(c | 0x20);
    }
    return hash.empty() || isHexText(hash, 64);
}

/// Nothing for what is no file.
Result<std::optional<HubFile>> parseHubFile(const json& entry)
{
    bool isWrong = !entry.is_object();
    if (isWrong)
        return notUnderstood("list of files");
    const auto text = [&](const json& from, const char* key) { return optionalText(from, key, isWrong).value_or(""); };
    const std::string type = text(entry, "type");
    if (!isWrong && type != "file" && !type.empty())
        return std::optional<HubFile>();
    HubFile file;
    file.path = text(entry, "path");
    file.xetHash = text(entry, "xetHash");
    file.gitId = text(entry, "oid");
    file.uploadedAt = text(entry, "uploadedAt");
    file.modifiedAt = text(entry, "mtime");
    const auto size = optionalNumber(entry, "size", isWrong);
    if (const auto lfs = entry.find("lfs"); lfs != entry.end() && lfs->is_object())
        file.lfsSha256 = text(*lfs, "oid");
    isWrong |= !size || *size > MostFileBytes || file.path.empty() || file.path.size() > MostPathBytes;
    isWrong |= !takeHash(file.xetHash) || !takeHash(file.lfsSha256);
    isWrong |= !file.gitId.empty() && !isHexText(file.gitId, 40) && !isHexText(file.gitId, 64);
    if (isWrong)
        return notUnderstood("list of files");
    file.sizeBytes = *size;
    return std::optional(std::move(file));
}

/// The digits at `at`, which moves behind them.
std::optional<int> digitsAt(std::string_view text, std::size_t& at, std::size_t count) noexcept
{
    if (text.size() < at || text.size() - at < count)
        return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const char c = text[at + i];
        if (!isDigit(c))
            return std::nullopt;
        value = value * 10 + (c - '0');
    }
    at += count;
    return value;
}

bool skipAt(std::string_view text, std::size_t& at, char c) noexcept
{
    if (at >= text.size() || text[at] != c)
        return false;
    ++at;
    return true;
}

/// "" or ".789…": microseconds.
std::int64_t fractionAt(std::string_view text, std::size_t& at) noexcept
{
    std::int64_t value = 0;
    if (!skipAt(text, at, '.'))
        return 0;
    std::int64_t unit = 100'000;
    for (; at < text.size() && isDigit(text[at]); ++at, unit /= 10)
        value += (text[at] - '0') * unit;
    return value;
}

} // namespace

json parseHubJson(std::string_view text)
{
    bool isTooDeep = false;
    const json::parser_callback_t watchDepth = [&](int depth, json::parse_event_t, json&) {
        isTooDeep |= depth > MostJsonDepth;
        return !isTooDeep; // what is deeper is dropped at once
    };
    json value = json::parse(text, watchDepth, false);
    return isTooDeep ? json(json::value_t::discarded) : value;
}

std::optional<std::string> optionalText(const json& object, const char* key, bool& isWrong)
{
    const auto found = object.find(key);
    if (found == object.end() || found->is_null())
        return std::nullopt;
    if (found->is_string())
        return found->get<std::string>();
    isWrong = true;
    return std::nullopt;
}

bool isHexText(std::string_view text, std::size_t digits) noexcept
{
    return text.size() == digits
        && std::all_of(text.begin(), text.end(), [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f'); });
}

Result<std::vector<HubFile>> parseHubFiles(std::string_view text)
{
    const json list = parseHubJson(text);
    if (!list.is_array())
        return notUnderstood("list of files");
    std::vector<HubFile> files;
    files.reserve(list.size());
    for (const json& entry : list) {
        DS_TRY(std::optional<HubFile> file, parseHubFile(entry));
        if (file)
            files.push_back(std::move(*file));
    }
    return files;
}

std::optional<std::int64_t> isoTimeUs(std::string_view text) noexcept
{
    using namespace std::chrono;
    std::size_t at = 0;
    const auto year = digitsAt(text, at, 4);
    const bool hasMonth = skipAt(text, at, '-');
    const auto month = digitsAt(text, at, 2);
    const bool hasDay = skipAt(text, at, '-');
    const auto day = digitsAt(text, at, 2);
    const bool hasTime = skipAt(text, at, 'T') || skipAt(text, at, ' ');
    const auto hour = digitsAt(text, at, 2);
    const bool hasMinute = skipAt(text, at, ':');
    const auto minute = digitsAt(text, at, 2);
    const bool hasSecond = skipAt(text, at, ':');
    const auto second = digitsAt(text, at, 2);
    if (!year || !hasMonth || !month || !hasDay || !day || !hasTime || !hour || !hasMinute || !minute || !hasSecond
        || !second || *hour > 23 || *minute > 59 || *second > 60)
        return std::nullopt;
    const std::int64_t fraction = fractionAt(text, at);
    const std::string_view zone = text.substr(at);
    const year_month_day date { std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                std::chrono::day(static_cast<unsigned>(*day)) };
    if (!date.ok() || *year < 1970 || (zone != "Z" && zone != "+00:00" && zone != "+0000"))
        return std::nullopt;
    const std::int64_t days = sys_days(date).time_since_epoch().count();
    return ((days * 24 + *hour) * 60 + *minute) * 60'000'000 + std::int64_t { *second } * 1'000'000 + fraction;
}

Result<BucketInfo> parseBucketInfo(std::string_view text)
{
    const json object = parseHubJson(text);
    bool isWrong = !object.is_object();
    BucketInfo info;
    if (!isWrong)
        info.updatedAt = optionalText(object, "updatedAt", isWrong).value_or("");
    if (isWrong || info.updatedAt.size() > 64)
        return notUnderstood("description of a bucket");
    return info;
}

Result<XetTokenReply> parseXetToken(std::string_view text)
{
    const json object = parseHubJson(text);
    bool isWrong = !object.is_object();
    XetTokenReply reply;
    std::optional<std::uint64_t> expires;
    if (!isWrong) {
        reply.accessToken = optionalText(object, "accessToken", isWrong).value_or("");
        reply.casUrl = optionalText(object, "casUrl", isWrong).value_or("");
        expires = optionalNumber(object, "exp", isWrong);
    }
    isWrong |= !expires || *expires > MostFileBytes || reply.accessToken.empty() || reply.casUrl.empty()
        || reply.accessToken.size() > MostTokenBytes || reply.casUrl.size() > MostTokenBytes;
    if (isWrong)
        return notUnderstood("token for the Xet servers");
    reply.expiresAtSeconds = static_cast<std::int64_t>(*expires);
    return reply;
}

Result<BatchReply> parseBatchReply(std::string_view text)
{
    const json object = parseHubJson(text);
    if (!object.is_object())
        return notUnderstood("answer to a batch of changes");
    bool isWrong = false;
    BatchReply reply;
    if (const auto success = object.find("success"); success != object.end() && success->is_boolean())
        reply.success = success->get<bool>();
    reply.processed = optionalNumber(object, "processed", isWrong);
    reply.succeeded = optionalNumber(object, "succeeded", isWrong);
    const auto failed = object.find("failed");
    if (failed != object.end() && !failed->is_null()) {
        isWrong |= !failed->is_array();
        for (const json& one : failed->is_array() ? *failed : json::array()) {
            isWrong |= !one.is_object();
            if (isWrong)
                break;
            reply.failed.push_back(
                { optionalText(one, "path", isWrong).value_or(""), optionalText(one, "error", isWrong).value_or("") });
        }
    }
    if (isWrong || (!reply.success && failed == object.end()))
        return notUnderstood("answer to a batch of changes");
    return reply;
}

Result<RevisionInfo> parseRevisionInfo(std::string_view text)
{
    const json object = parseHubJson(text);
    bool isWrong = !object.is_object();
    RevisionInfo info;
    if (!isWrong) {
        info.commit = optionalText(object, "sha", isWrong).value_or("");
        info.modifiedAt = optionalText(object, "lastModified", isWrong).value_or("");
    }
    if (isWrong || !isHexText(info.commit, 40))
        return notUnderstood("description of a revision");
    return info;
}

std::string parseErrorText(std::string_view text)
{
    const json object = parseHubJson(text);
    if (!object.is_object())
        return {};
    bool isWrong = false;
    std::string words = optionalText(object, "error", isWrong).value_or("");
    if (const auto more = optionalText(object, "error_description", isWrong))
        words += (words.empty() ? "" : ": ") + *more;
    if (const auto errors = object.find("errors"); words.empty() && errors != object.end() && errors->is_array()
        && !errors->empty() && errors->front().is_object())
        words = optionalText(errors->front(), "message", isWrong).value_or("");
    return words;
}

} // namespace deltascope::hub
