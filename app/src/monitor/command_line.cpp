#include "deltascope/app/command_line.h"

#include <string_view>

namespace deltascope::app {

std::string quoted(const std::string& text)
{
    constexpr std::string_view Plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (!text.empty() && text.find_first_not_of(Plain) == std::string::npos)
        return text;
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string sourceOptions(const SourceRequest& source)
{
    std::string text;
    if (!source.base.isEmpty())
        text += " --base " + quoted(source.base.text());
    for (const Address& mirror : source.mirrors)
        text += " --mirror " + quoted(mirror.text());
    if (!source.layout.empty())
        text += " --layout " + quoted(source.layout);
    if (!source.epochs.empty() && source.epochs != "auto")
        text += " --epochs " + quoted(source.epochs);
    return text;
}

} // namespace deltascope::app
