#include "logs/log_form.h"

#include "deltascope/base/ascii.h"

#include <algorithm>

namespace deltascope {

namespace {

constexpr auto None = std::string_view::npos;

std::size_t digitsEnd(std::string_view text, std::size_t at)
{
    while (at < text.size() && isDigit(text[at]))
        ++at;
    return at;
}

/// Where the number at `at` ends; `at` if there is none.
std::size_t numberEnd(std::string_view text, std::size_t at)
{
    std::size_t end = digitsEnd(text, at);
    if (end == at)
        return at;
    if (end + 1 < text.size() && text[end] == '.' && isDigit(text[end + 1]))
        end = digitsEnd(text, end + 1);
    if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        const std::size_t sign = text[end + 1] == '-' || text[end + 1] == '+' ? 2 : 1;
        if (const std::size_t exponent = digitsEnd(text, end + sign); exponent > end + sign)
            end = exponent;
    }
    return end;
}

/// Where the form ends if it matches at `at`.
std::optional<std::size_t> matchAt(std::string_view form, std::string_view text, std::size_t at,
                                   std::vector<LogField>& fields)
{
    while (!form.empty()) {
        const std::string_view literal = form.substr(0, form.find('{'));
        if (text.substr(at, literal.size()) != literal)
            return std::nullopt;
        at += literal.size();
        form.remove_prefix(literal.size());
        if (form.empty())
            break;
        const std::size_t close = form.find('}');
        const std::string_view name = form.substr(1, close - 1);
        form.remove_prefix(close + 1);
        std::size_t end = None;
        if (name == "text")
            end = text.find(form.substr(0, form.find('{')), at);
        else if (const std::size_t number = numberEnd(text, at); number > at)
            end = number;
        if (end == None)
            return std::nullopt;
        fields.push_back(LogField { name, text.substr(at, end - at) });
        at = end;
    }
    return at;
}

}

std::optional<LogMatch> findForm(std::string_view form, std::string_view text, std::size_t from,
                                 std::vector<LogField>& fields)
{
    const std::string_view first = form.substr(0, form.find('{'));
    const std::size_t before = fields.size();
    for (std::size_t at = text.find(first, from); at != None; at = text.find(first, at + 1)) {
        if (at > 0 && isWordCharacter(first.front()) && isWordCharacter(text[at - 1]))
            continue;
        if (const std::optional<std::size_t> end = matchAt(form, text, at, fields))
            return LogMatch { at, *end };
        fields.resize(before);
    }
    return std::nullopt;
}

} // namespace deltascope
