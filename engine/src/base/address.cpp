#include "deltascope/base/address.h"

#include "base/percent_code.h"
#include "base/remote_place.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace deltascope {

namespace {

namespace fs = std::filesystem;

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
    return fail(Code::Unsupported, fmt::format("this build does not know addresses with {}://", scheme), address,
                "Give a folder, or an address that begins with file:///, s3:// or hf://.");
}

}

namespace {

bool lies(const RemotePlace& inner, const RemotePlace& outer)
{
    RemotePlace above = inner;
    above.prefix = outer.prefix;
    return above == outer
        && (outer.prefix.empty() || inner.prefix == outer.prefix || inner.prefix.starts_with(outer.prefix + '/'));
}

Address withoutSlash(const fs::path& path)
{
    return (path.has_filename() || !path.has_relative_path() ? path : path.parent_path()).string();
}

}

Address::Address(std::string text)
    : m_text(std::move(text))
    , m_path(std::string())
{
    const std::string scheme = schemeOf(m_text);
    if (!isRemoteScheme(scheme)) {
        m_path = pathOf(m_text);
        return;
    }
    Result<RemotePlace> place = parseRemotePlace(scheme, m_text);
    if (place) {
        m_remote = std::move(*place);
        m_path =
            fail(Code::Usage, "names a place in an object store, where a folder of this machine is needed", m_text);
    } else {
        m_path = fail(std::move(place.error()));
    }
}

bool Address::isAbsolute() const { return m_path ? fs::path(*m_path).is_absolute() : !schemeOf(m_text).empty(); }

Address Address::absolute() const
{
    if (m_remote)
        return m_remote->text();
    std::error_code error;
    const fs::path path = m_path ? fs::absolute(*m_path, error) : fs::path();
    return m_path && !error ? withoutSlash(path.lexically_normal()) : *this;
}

Address Address::canonical() const
{
    if (m_remote)
        return m_remote->text();
    std::error_code error;
    const fs::path path = m_path ? fs::absolute(*m_path, error) : fs::path();
    if (!m_path || error)
        return *this;
    const fs::path canonical = fs::weakly_canonical(path, error);
    return error ? absolute() : withoutSlash(canonical);
}

Address Address::below(const std::string& relative) const
{
    if (!m_remote)
        return m_text + "/" + relative;
    RemotePlace place = *m_remote;
    place.prefix += (place.prefix.empty() ? "" : "/") + relative;
    return place.text();
}

bool Address::isWithin(const Address& folder) const
{
    if (m_remote && folder.m_remote)
        return lies(*m_remote, *folder.m_remote);
    if (!m_path || !folder.m_path)
        return false;
    const fs::path inner(canonical().text());
    const fs::path outer(folder.canonical().text());
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

} // namespace deltascope
