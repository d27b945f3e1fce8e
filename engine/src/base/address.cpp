#include "deltascope/base/address.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace deltascope {

namespace {

namespace fs = std::filesystem;

std::optional<unsigned> hexDigit(char digit) noexcept
{
    if (digit >= '0' && digit <= '9')
        return static_cast<unsigned>(digit - '0');
    if (digit >= 'a' && digit <= 'f')
        return static_cast<unsigned>(digit - 'a' + 10);
    if (digit >= 'A' && digit <= 'F')
        return static_cast<unsigned>(digit - 'A' + 10);
    return std::nullopt;
}

Result<std::string> percentDecode(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        const auto high = at + 2 < text.size() ? hexDigit(text[at + 1]) : std::nullopt;
        const auto low = at + 2 < text.size() ? hexDigit(text[at + 2]) : std::nullopt;
        if (!high || !low || (*high == 0 && *low == 0))
            return fail(Code::Usage, "\"%\" in the address is not followed by two hexadecimal digits of a character");
        out += static_cast<char>(*high * 16 + *low);
        at += 2;
    }
    return out;
}

/// "s3" of "s3://bucket/x" in lower case; empty for a plain path.
std::string schemeOf(std::string_view address)
{
    const std::size_t length = address.find("://");
    if (length == std::string_view::npos || length == 0)
        return {};
    std::string scheme;
    for (const char letter : address.substr(0, length)) {
        const char lower = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
        const bool isLetter = lower >= 'a' && lower <= 'z';
        const bool isOther = (lower >= '0' && lower <= '9') || lower == '+' || lower == '-' || lower == '.';
        if (!isLetter && (!isOther || scheme.empty()))
            return {};
        scheme += lower;
    }
    return scheme;
}

Result<std::string> pathOfFileUri(std::string_view address)
{
    std::string_view rest = address.substr(std::string_view("file://").size());
    constexpr std::string_view Host = "localhost";
    if (rest.starts_with(Host))
        rest.remove_prefix(Host.size());
    if (!rest.starts_with('/'))
        return fail(Code::Usage, "a file address names an absolute path on this machine: file:///folder",
                    std::string(address));
    return percentDecode(rest);
}

Result<std::string> pathOf(const std::string& address)
{
    if (address.empty() || address.find('\0') != std::string::npos)
        return fail(Code::Usage, "an address is a folder, a file or a URI such as file:///folder");
    const std::string scheme = schemeOf(address);
    if (scheme.empty())
        return address;
    if (scheme == "file")
        return pathOfFileUri(address);
    if (scheme == "s3")
        return fail(Code::Unsupported, "this build does not read S3 buckets", address,
                    "Copy the prefix to a local folder, for instance with \"aws s3 sync\", and open that folder.");
    if (scheme == "hf")
        return fail(Code::Unsupported, "this build does not read Hugging Face repositories or buckets", address,
                    "Download the files to a local folder, for instance with \"hf download\", and open that folder.");
    return fail(Code::Unsupported, fmt::format("this build does not know addresses with {}://", scheme), address,
                "Give a local folder or a file:/// address.");
}

}

namespace {

Address withoutSlash(const fs::path& path)
{
    return (path.has_filename() || !path.has_relative_path() ? path : path.parent_path()).string();
}

}

Address::Address(std::string text)
    : m_text(std::move(text))
    , m_path(pathOf(m_text))
{
}

bool Address::isAbsolute() const { return m_path ? fs::path(*m_path).is_absolute() : !schemeOf(m_text).empty(); }

Address Address::absolute() const
{
    std::error_code error;
    const fs::path path = m_path ? fs::absolute(*m_path, error) : fs::path();
    return m_path && !error ? withoutSlash(path.lexically_normal()) : *this;
}

Address Address::canonical() const
{
    std::error_code error;
    const fs::path path = m_path ? fs::absolute(*m_path, error) : fs::path();
    if (!m_path || error)
        return *this;
    const fs::path canonical = fs::weakly_canonical(path, error);
    return error ? absolute() : withoutSlash(canonical);
}

bool Address::isWithin(const Address& folder) const
{
    if (!m_path || !folder.m_path)
        return false;
    const fs::path inner(canonical().text());
    const fs::path outer(folder.canonical().text());
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

} // namespace deltascope
