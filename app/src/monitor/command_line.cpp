#include "deltascope/app/command_line.h"

#include "deltascope/engine/layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace deltascope::app {

namespace {

bool isControl(unsigned char c) { return c < 0x20 || c == 0x7f; }

std::string quotedWithEscapes(const std::string& text)
{
    std::string out = "$'";
    for (const char c : text) {
        if (isControl(static_cast<unsigned char>(c)))
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return out + "'";
}

}

std::string quoted(const std::string& text)
{
    constexpr std::string_view Plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (!text.empty() && text.find_first_not_of(Plain) == std::string::npos)
        return text;
    if (std::any_of(text.begin(), text.end(), isControl))
        return quotedWithEscapes(text);
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string quotedPath(const std::string& path) { return quoted(path.starts_with('-') ? "./" + path : path); }

std::vector<std::string> layoutWords()
{
    std::vector<std::string> words;
    const LayoutRegistry layouts = builtinLayouts();
    for (const auto& layout : layouts.all())
        words.emplace_back(layout->word());
    return words;
}

std::string sourceOptions(const SourceRequest& source)
{
    std::string text;
    if (!source.base.isEmpty())
        text += " --base " + quotedPath(source.base.text());
    for (const Address& mirror : source.mirrors)
        text += " --mirror " + quotedPath(mirror.text());
    if (!source.layout.empty())
        text += " --layout " + quoted(source.layout);
    if (!source.epochs.empty() && source.epochs != "auto")
        text += " --epochs " + quoted(source.epochs);
    return text;
}

} // namespace deltascope::app
