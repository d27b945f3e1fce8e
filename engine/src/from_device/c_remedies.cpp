#include "from_device/c_remedies.h"

#include <array>
#include <string_view>
#include <utility>

namespace deltascope {

namespace {

/// Of publish, as remedies name them; what begins as another one stands before it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> Fields { {
    { "--base DIR", "options.base" },
    { "--base", "options.base" },
    { "--allow-suspect", "options.allow_suspect" },
    { "--new-epoch", "options.new_epoch" },
    { "--encoding", "options.encoding" },
    { "--layout", "options.layout" },
} };

std::string withFields(std::string text)
{
    for (const auto& [option, field] : Fields) {
        for (auto at = text.find(option); at != std::string::npos; at = text.find(option, at + field.size()))
            text.replace(at, option.size(), field);
    }
    return text;
}

/// Whether a caller can do what a clause says: whole commands are at hand where the program is installed.
bool isPossible(std::string_view clause)
{
    const auto has = [&](std::string_view part) { return clause.find(part) != std::string_view::npos; };
    const bool isCommand = has("verify --") || has("materialize --");
    return !has("--") || isCommand;
}

std::string possibleClauses(std::string_view text)
{
    constexpr std::array<std::string_view, 2> Between { ", or ", "; " };
    std::string possible;
    std::string_view between;
    while (!text.empty()) {
        std::size_t end = text.size();
        std::string_view next;
        for (const std::string_view mark : Between) {
            if (const std::size_t at = text.find(mark); at < end) {
                end = at;
                next = mark;
            }
        }
        const std::string_view clause = text.substr(0, end);
        if (isPossible(clause))
            possible.append(possible.empty() ? std::string_view() : between).append(clause);
        between = next;
        text.remove_prefix(end + next.size());
    }
    return possible;
}

} // namespace

std::string remedyForC(const Error& error)
{
    if (error.action.empty() && error.code == Code::Usage)
        return "Correct what was handed over; deltascope/device.h says what each function takes.";
    if (error.action.empty() && error.code == Code::Canceled)
        return "Try again.";
    return possibleClauses(withFields(std::string(error.remedyText())));
}

} // namespace deltascope
