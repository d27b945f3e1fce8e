#include "token_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <sstream>

namespace deltascope::server {

namespace {

constexpr std::size_t kShortestToken = 16;

std::optional<Scope> parseScope(std::string_view word)
{
    if (word == "read")
        return Scope::Read;
    if (word == "act")
        return Scope::Act;
    if (word == "admin")
        return Scope::Admin;
    return std::nullopt;
}

std::optional<SecretDigest> parseDigest(std::string_view hex)
{
    const auto nibble = [](char c) {
        if (c >= '0' && c <= '9')
            return c - '0';
        const char lower = char(c | 0x20);
        return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    };
    SecretDigest digest;
    if (hex.size() != 2 * digest.size())
        return std::nullopt;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        const int high = nibble(hex[2 * i]);
        const int low = nibble(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return std::nullopt;
        digest[i] = static_cast<unsigned char>(high * 16 + low);
    }
    return digest;
}

Result<Token> parseLine(const std::string& line, int number)
{
    const auto wrong = [number](std::string_view what) {
        return fail(Code::Usage, fmt::format("line {} of the token file {}", number, what), {},
                    "Write NAME SCOPE SECRET; SCOPE is read, act or admin, SECRET is sha256:HEX or the token itself.");
    };
    std::istringstream words(line);
    std::string name, scopeWord, secret, rest;
    if (!(words >> name >> scopeWord >> secret) || (words >> rest))
        return wrong("does not have three words");
    const std::optional<Scope> scope = parseScope(scopeWord);
    if (!scope)
        return wrong("has an unknown scope");
    if (!isPrincipalName(name))
        return wrong("has a name that is not made of letters, digits and ._@+-");
    constexpr std::string_view kHashed = "sha256:";
    if (!secret.starts_with(kHashed)) {
        if (secret.size() < kShortestToken)
            return wrong("has a token of less than 16 characters");
        return Token { name, *scope, digestOf(secret) };
    }
    const std::optional<SecretDigest> digest = parseDigest(std::string_view(secret).substr(kHashed.size()));
    if (!digest)
        return wrong("has a sha256 that is not 64 hexadecimal digits");
    return Token { name, *scope, *digest };
}

}

bool isPrincipalName(std::string_view name) noexcept
{
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || std::string_view("._@+-").find(c) != std::string_view::npos;
    });
}

Result<std::vector<Token>> parseTokens(std::string_view text)
{
    std::vector<Token> tokens;
    std::istringstream lines { std::string(text) };
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first == std::string::npos || line[first] == '#')
            continue;
        DS_TRY(Token token, parseLine(line, number));
        tokens.push_back(std::move(token));
    }
    if (tokens.empty())
        return fail(Code::Usage, "the token file names no token");
    return tokens;
}

} // namespace deltascope::server
