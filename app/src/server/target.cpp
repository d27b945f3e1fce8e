#include "target.h"

#include <algorithm>
#include <charconv>

namespace deltascope::server {

namespace {

std::optional<std::string> unescape(std::string_view text, bool plusIsSpace)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plusIsSpace) {
            out += ' ';
        } else if (text[i] != '%') {
            out += text[i];
        } else {
            unsigned char value = 0;
            const std::string_view digits = text.substr(i + 1, 2);
            const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
            if (digits.size() != 2 || parsed.ptr != digits.data() + 2)
                return std::nullopt;
            out += char(value);
            i += 2;
        }
    }
    return out;
}

bool hasControls(std::string_view text)
{
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool addField(std::string_view field, Target& target)
{
    const std::size_t equals = std::min(field.find('='), field.size());
    const auto key = unescape(field.substr(0, equals), true);
    const auto value = unescape(field.substr(std::min(equals + 1, field.size())), true);
    if (!key || !value || hasControls(*key) || hasControls(*value))
        return false;
    if (!key->empty())
        target.query.insert_or_assign(*key, *value);
    return true;
}

}

std::optional<Target> parseTarget(std::string_view target)
{
    if (!target.starts_with('/'))
        return std::nullopt;
    const std::size_t question = std::min(target.find('?'), target.size());
    const std::string_view rawPath = target.substr(0, question);
    const auto path = unescape(rawPath, false);
    // An escaped slash would make one name look like two.
    if (!path || hasControls(*path)
        || std::count(path->begin(), path->end(), '/') != std::count(rawPath.begin(), rawPath.end(), '/'))
        return std::nullopt;

    Target out { *path, {} };
    std::string_view rest = target.substr(std::min(question + 1, target.size()));
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('&'), rest.size());
        if (!addField(rest.substr(0, end), out))
            return std::nullopt;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
}

} // namespace deltascope::server
