#include "alerts/channel.h"

#include <array>
#include <curl/curl.h>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

namespace deltascope::app {

namespace {

constexpr std::array<const char*, 3> KindWords = { "webhook", "slack", "discord" };
constexpr std::array<const char*, 3> LevelWords = { "info", "warn", "error" };

template <class Word> std::optional<Word> parseWord(const std::array<const char*, 3>& words, const std::string& text)
{
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (text == words[i])
            return static_cast<Word>(i);
    }
    return std::nullopt;
}

struct Address {
    std::string scheme;
    std::string host;
    std::string port; ///< empty: the usual one
};

std::string partOf(CURLU* url, CURLUPart part)
{
    char* text = nullptr;
    if (curl_url_get(url, part, &text, 0) != CURLUE_OK)
        return {};
    const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
    return text;
}

std::optional<Address> parseUrl(const std::string& text)
{
    const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
    if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK)
        return std::nullopt;
    Address address { partOf(url.get(), CURLUPART_SCHEME), partOf(url.get(), CURLUPART_HOST),
                      partOf(url.get(), CURLUPART_PORT) };
    if ((address.scheme != "http" && address.scheme != "https") || address.host.empty())
        return std::nullopt;
    return address;
}

bool isAt(const std::string& host, const std::string& domain) { return host == domain || host.ends_with("." + domain); }

ChannelKind kindOf(const std::string& host)
{
    if (isAt(host, "hooks.slack.com") || isAt(host, "hooks.slack-gov.com"))
        return ChannelKind::Slack;
    if (isAt(host, "discord.com") || isAt(host, "discordapp.com"))
        return ChannelKind::Discord;
    return ChannelKind::Webhook;
}

/// Nothing if the line is no channel.
std::optional<Channel> parseChannel(const std::string& line)
{
    std::istringstream words(line);
    std::string level;
    Channel channel;
    words >> level >> channel.url;
    const std::optional<AlertLevel> minLevel = parseWord<AlertLevel>(LevelWords, level);
    const std::optional<Address> address = parseUrl(channel.url);
    if (!minLevel || !address)
        return std::nullopt;
    channel.minLevel = *minLevel;
    channel.kind = kindOf(address->host);
    channel.name =
        fmt::format("{}://{}{}{}", address->scheme, address->host, address->port.empty() ? "" : ":", address->port);
    for (std::string option; words >> option;) {
        if (option.starts_with("secret=")) {
            channel.secret = option.substr(7);
            continue;
        }
        const std::optional<ChannelKind> kind =
            option.starts_with("kind=") ? parseWord<ChannelKind>(KindWords, option.substr(5)) : std::nullopt;
        if (!kind)
            return std::nullopt;
        channel.kind = *kind;
    }
    return channel;
}

}

Result<std::vector<Channel>> readChannels(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
        return fail(Code::Io, "the file with the alert channels cannot be read", path);
    std::vector<Channel> channels;
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string::npos || line[begin] == '#')
            continue;
        std::optional<Channel> channel = parseChannel(line);
        if (!channel)
            return fail(Code::Usage, fmt::format("line {} is no alert channel", number), path,
                        "Write LEVEL URL [kind=webhook|slack|discord] [secret=KEY]; LEVEL is info, warn or error.");
        channels.push_back(std::move(*channel));
    }
    return channels;
}

AlertChannelView channelView(const Channel& channel)
{
    return { KindWords[static_cast<std::size_t>(channel.kind)], channel.name, channel.minLevel };
}

} // namespace deltascope::app
