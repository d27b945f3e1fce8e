#include "hub_environment.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace deltascope::hub {

namespace {

constexpr std::size_t MostTokenFileBytes = 64 * 1024;

const char* realVariable(const char* name) { return std::getenv(name); }

bool isTrueVariable(const char* value)
{
    if (!value)
        return false;
    std::string upper = value;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return upper == "1" || upper == "ON" || upper == "YES" || upper == "TRUE";
}

/// The first one if it is set and not empty, else the second, as Python's `a or b` chooses.
const char* eitherVariable(const char* first, const char* second) { return first && *first ? first : second; }

/// Joins like os.path.join.
std::string joinedPath(const std::string& folder, const std::string& name)
{
    return folder.empty() || folder.back() == '/' ? folder + name : folder + "/" + name;
}

std::string cleanToken(std::string text)
{
    std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
    constexpr const char* Blanks = " \t\v\f\x1c\x1d\x1e\x1f";
    const std::size_t begin = text.find_first_not_of(Blanks);
    if (begin == std::string::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(Blanks) - begin + 1);
}

std::string withHome(const std::string& path, Variables variables)
{
    if (path.empty() || path[0] != '~' || (path.size() > 1 && path[1] != '/'))
        return path;
    const char* const home = variables("HOME");
    if (!home)
        return path;
    std::string start = home;
    while (!start.empty() && start.back() == '/')
        start.pop_back();
    const std::string whole = start + path.substr(1);
    return whole.empty() ? "/" : whole;
}

bool isNameLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Errors: Auth, where there is a file that cannot be read.
Result<std::string> tokenOfFile(const std::string& path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0 && errno == ENOENT)
        return std::string();
    const auto unreadable = [&](const char* why) {
        return fail(Code::Auth, fmt::format("the token of the Hugging Face login cannot be read: {}", why), path,
                    "make the file readable, or set HF_TOKEN");
    };
    if (file < 0)
        return unreadable(std::strerror(errno));
    std::string text(MostTokenFileBytes, '\0');
    std::size_t done = 0;
    ssize_t got = 1;
    while (got > 0 && done < text.size()) {
        got = ::read(file, text.data() + done, text.size() - done);
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    const int error = errno;
    ::close(file);
    if (got < 0)
        return unreadable(std::strerror(error));
    if (done == text.size())
        return unreadable("it is too large for a token");
    text.resize(done);
    return cleanToken(std::move(text));
}

} // namespace

Variables orEnvironment(Variables variables) { return variables ? variables : realVariable; }

std::string endpointOf(Variables variables)
{
    const char* const set = orEnvironment(variables)("HF_ENDPOINT");
    std::string endpoint = set ? set : UsualEndpoint;
    while (!endpoint.empty() && endpoint.back() == '/')
        endpoint.pop_back();
    return endpoint;
}

bool isOffline(Variables variables)
{
    variables = orEnvironment(variables);
    return isTrueVariable(eitherVariable(variables("HF_HUB_OFFLINE"), variables("TRANSFORMERS_OFFLINE")));
}

std::string expandedPath(const std::string& path, Variables variables)
{
    const std::string start = withHome(path, variables);
    std::string out;
    for (std::size_t at = 0; at < start.size();) {
        if (start[at] != '$') {
            out += start[at++];
            continue;
        }
        const bool hasBrace = at + 1 < start.size() && start[at + 1] == '{';
        const std::size_t begin = at + (hasBrace ? 2 : 1);
        std::size_t end = begin;
        if (hasBrace)
            end = std::min(start.find('}', begin), start.size());
        else
            end = static_cast<std::size_t>(
                std::find_if_not(start.begin() + static_cast<std::ptrdiff_t>(begin), start.end(), isNameLetter)
                - start.begin());
        const std::size_t next = hasBrace && end < start.size() ? end + 1 : end;
        const char* const value = end > begin ? variables(start.substr(begin, end - begin).c_str()) : nullptr;
        if (value && (!hasBrace || end < start.size()))
            out += value;
        else
            out += start.substr(at, next - at); // stays as it is
        at = next;
    }
    return out;
}

std::string tokenPath(Variables variables)
{
    variables = orEnvironment(variables);
    const char* const path = variables("HF_TOKEN_PATH");
    if (path)
        return expandedPath(path, variables);
    const char* const home = variables("HF_HOME");
    const char* const cache = variables("XDG_CACHE_HOME");
    const std::string folder = home
        ? std::string(home)
        : joinedPath(cache ? std::string(cache) : expandedPath("~/.cache", variables), "huggingface");
    return expandedPath(joinedPath(expandedPath(folder, variables), "token"), variables);
}

Result<std::string> discoverToken(Variables variables)
{
    variables = orEnvironment(variables);
    if (isTrueVariable(variables("HF_HUB_DISABLE_IMPLICIT_TOKEN")))
        return std::string();
    const char* const set = eitherVariable(variables("HF_TOKEN"), variables("HUGGING_FACE_HUB_TOKEN"));
    if (std::string token = cleanToken(set ? set : ""); !token.empty())
        return token;
    return tokenOfFile(tokenPath(variables));
}

} // namespace deltascope::hub
