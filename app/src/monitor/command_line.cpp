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
    if (source.searchDepth != DefaultSearchDepth)
        text += fmt::format(" --depth {}", source.searchDepth);
    return text;
}

std::string publishCommand(const SourceRequest& into, const PublishArgs& args)
{
    const PublishArgs standard;
    SourceRequest run = into;
    run.mirrors.clear();
    run.epochs.clear();
    std::string text = fmt::format("deltascope publish --into {} --from {} --to {}{}", quotedPath(into.source.text()),
                                   quotedPath(args.from), quotedPath(args.to), sourceOptions(run));
    if (!args.encoding.empty())
        text += " --encoding " + quoted(args.encoding);
    if (!args.checksum.empty())
        text += " --checksum " + quoted(args.checksum);
    if (args.anchorEvery != standard.anchorEvery)
        text += fmt::format(" --anchor-every {}", args.anchorEvery);
    if (args.anchorWhenCheaper)
        text += " --anchor-when-cheaper";
    if (args.restoresPerAnchor != standard.restoresPerAnchor)
        text += fmt::format(" --restores {}", args.restoresPerAnchor);
    for (const auto& [isSet, option] :
         { std::pair(args.newEpoch, " --new-epoch"), std::pair(args.allowSuspect, " --allow-suspect"),
           std::pair(args.acceptRewritten, " --accept-rewritten"), std::pair(args.soleWriter, " --sole-writer") })
        text += isSet ? option : "";
    if (!args.mapPrefix.empty())
        text += " --map-prefix " + quoted(args.mapPrefix);
    return text;
}

} // namespace deltascope::app
