#include "sigv4.h"

#include "../../base/percent_code.h"
#include "../../hash/hashers.h"
#include "encoding.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace deltascope::s3 {

namespace {

using MacBytes = std::array<std::byte, 32>;

Result<MacBytes> hmacSha256(ByteSpan key, std::string_view text)
{
    MacBytes mac {};
    unsigned size = 0;
    const unsigned char* const made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                           reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                           reinterpret_cast<unsigned char*>(mac.data()), &size);
    if (!made || size != mac.size())
        return fail(Code::Internal, "this machine's OpenSSL offers no HMAC-SHA256");
    return mac;
}

Result<MacBytes> signingKey(const std::string& secret, const std::string& date, const SigningScope& scope)
{
    DS_TRY(MacBytes key, hmacSha256(asBytes("AWS4" + secret), date));
    for (const std::string_view part :
         { std::string_view(scope.region), std::string_view(scope.service), std::string_view("aws4_request") }) {
        DS_TRY(const MacBytes next, hmacSha256(key, part));
        key = next;
    }
    return key;
}

/// Blanks inside count once.
std::string canonicalValue(std::string_view value)
{
    std::string text;
    for (const char letter : trimBlanks(value)) {
        if (letter != ' ' || text.back() != ' ')
            text += letter;
    }
    return text;
}

/// Names in lower case and in order; equal ones joined by commas.
std::vector<std::pair<std::string, std::string>> canonicalHeaders(const http::Headers& headers, const std::string& host)
{
    std::vector<std::pair<std::string, std::string>> lines { { "host", host } };
    for (const http::Header& line : headers.lines())
        lines.emplace_back(lowerCased(line.name), canonicalValue(line.value));
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::pair<std::string, std::string>> joined;
    for (auto& line : lines) {
        if (!joined.empty() && joined.back().first == line.first)
            joined.back().second += "," + line.second;
        else
            joined.push_back(std::move(line));
    }
    return joined;
}

} // namespace

std::string queryText(const Query& query)
{
    Query encoded;
    for (const auto& [name, value] : query)
        encoded.emplace_back(percentEncode(name), percentEncode(value));
    std::sort(encoded.begin(), encoded.end());
    std::string text;
    for (const auto& [name, value] : encoded)
        text += (text.empty() ? "" : "&") + name + "=" + value;
    return text;
}

std::string amazonTime(std::chrono::system_clock::time_point time)
{
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    std::tm parts {};
    ::gmtime_r(&seconds, &parts);
    return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string sha256Hex(std::string_view text) { return toHex(sha256(asBytes(text))); }

Result<http::Headers> signRequest(const SignedParts& parts, const SigningScope& scope, const Credentials& credentials)
{
    const std::string time = amazonTime(scope.time);
    const std::string date = time.substr(0, 8);
    http::Headers headers = parts.headers;
    headers.add("x-amz-date", time);
    if (scope.service == "s3")
        headers.add("x-amz-content-sha256", parts.payloadHash);
    if (!credentials.sessionToken.empty())
        headers.add("x-amz-security-token", credentials.sessionToken);

    std::string lines;
    std::string names;
    for (const auto& [name, value] : canonicalHeaders(headers, parts.host)) {
        lines += name + ":" + value + "\n";
        names += (names.empty() ? "" : ";") + name;
    }
    const std::string path = scope.service == "s3" ? parts.path : percentEncode(parts.path, "/");
    const std::string canonical = parts.method + "\n" + path + "\n" + queryText(parts.query) + "\n" + lines + "\n"
        + names + "\n" + parts.payloadHash;
    const std::string place = fmt::format("{}/{}/{}/aws4_request", date, scope.region, scope.service);
    const std::string toSign = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, place, sha256Hex(canonical));
    DS_TRY(const MacBytes key, signingKey(credentials.secret, date, scope));
    DS_TRY(const MacBytes signature, hmacSha256(key, toSign));
    headers.add("Authorization",
                fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", credentials.keyId,
                            place, names, toHex(signature)));
    return headers;
}

} // namespace deltascope::s3
