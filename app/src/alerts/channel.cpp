#include "deltascope/app/alert_channel.h"

#include "deltascope/engine/file_system.h"
#include "deltascope/engine/http_url.h"
#include "service/small_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> KindWords = { "webhook", "slack", "discord", "command" };
constexpr std::array<const char*, 3> LevelWords = { "info", "warn", "error" };

template <class Word, std::size_t Count>
std::optional<Word> parseWord(const std::array<const char*, Count>& words, const std::string& text)
{
    const auto found = std::find(words.begin(), words.end(), text);
    return found == words.end() ? std::nullopt : std::optional(static_cast<Word>(found - words.begin()));
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

/// Kind and name by the address; false if it is none.
bool takeAddress(AlertChannel& channel)
{
    if (channel.address.starts_with('/')) {
        channel.kind = ChannelKind::Command;
        channel.name = channel.address;
        return true;
    }
    const Result<http::Url> address = http::Url::parse(channel.address);
    if (!address || !address->isHttp() || address->host.empty())
        return false;
    channel.kind = kindOf(address->host);
    channel.name =
        fmt::format("{}://{}{}{}", address->scheme, address->host, address->port.empty() ? "" : ":", address->port);
    return true;
}

bool takeOption(AlertChannel& channel, const std::string& option)
{
    if (option.starts_with("secret=")) {
        channel.secret = option.substr(7);
        return true;
    }
    if (!option.starts_with("kind="))
        return false;
    const std::optional<ChannelKind> kind = parseWord<ChannelKind>(KindWords, option.substr(5));
    if (!kind || (*kind == ChannelKind::Command) != (channel.kind == ChannelKind::Command))
        return false;
    channel.kind = *kind;
    return true;
}

}

Result<AlertChannel> parseChannel(const std::string& line)
{
    const Error wrong { Code::Usage,
                        "this is no alert channel",
                        {},
                        {},
                        "Write LEVEL ADDRESS [kind=webhook|slack|discord] [secret=KEY]; LEVEL is info, warn or error, "
                        "ADDRESS a URL or the path of a program." };
    std::istringstream words(line);
    std::string level;
    AlertChannel channel;
    words >> level >> channel.address;
    const std::optional<AlertLevel> minLevel = parseWord<AlertLevel>(LevelWords, level);
    if (!minLevel || !takeAddress(channel))
        return fail(wrong);
    channel.minLevel = *minLevel;
    for (std::string option; words >> option;) {
        if (!takeOption(channel, option))
            return fail(wrong);
    }
    return channel;
}

std::string lineOf(const AlertChannel& channel)
{
    std::string line = fmt::format("{} {}", word(channel.minLevel), channel.address);
    if (channel.kind != ChannelKind::Command)
        line += fmt::format(" kind={}", KindWords[static_cast<std::size_t>(channel.kind)]);
    if (!channel.secret.empty())
        line += fmt::format(" secret={}", channel.secret);
    return line;
}

Result<std::vector<AlertChannel>> readChannels(const std::string& path)
{
    constexpr std::size_t MostBytes = std::size_t { 1 } << 20;
    DS_TRY(const std::string text, readSmallFile(path, "file with the alert channels", MostBytes));
    std::istringstream lines(text);
    std::vector<AlertChannel> channels;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string::npos || line[begin] == '#')
            continue;
        Result<AlertChannel> channel = parseChannel(line);
        if (!channel)
            return fail(Code::Usage, fmt::format("line {} is no alert channel", number), path, channel.error().action);
        channels.push_back(std::move(*channel));
    }
    return channels;
}

Result<void> writeChannels(const std::string& path, const std::vector<AlertChannel>& channels)
{
    std::error_code failed;
    fs::create_directories(fs::path(path).parent_path(), failed);
    const std::string aside = path + ".new";
    fs::remove(aside, failed);
    const std::unique_ptr<FileSystem> disk = makeFileSystem();
    DS_TRY(const std::unique_ptr<OutputFile> file, disk->create(aside));
    fs::permissions(aside, fs::perms::owner_read | fs::perms::owner_write, failed); // before anything is in it
    if (failed)
        return fail(Code::Io, failed.message(), path);
    std::string lines;
    for (const AlertChannel& channel : channels)
        lines += lineOf(channel) + '\n';
    if (Result<void> written = file->write(0, asBytes(lines)); !written) {
        fs::remove(aside, failed);
        return written;
    }
    return disk->replace(aside, path);
}

std::optional<std::string> whyItCannotSend(const AlertChannel& channel)
{
    if (channel.kind != ChannelKind::Command)
        return std::nullopt;
    std::error_code failed;
    const fs::file_status status = fs::status(channel.address, failed);
    if (!fs::exists(status))
        return "there is no such program";
    if (!fs::is_regular_file(status) || access(channel.address.c_str(), X_OK) != 0)
        return "it is no program that this user may execute";
    return std::nullopt;
}

AlertChannelView channelView(const AlertChannel& channel)
{
    AlertChannelView view;
    view.kind = KindWords[static_cast<std::size_t>(channel.kind)];
    view.name = channel.name;
    view.minLevel = channel.minLevel;
    return view;
}

} // namespace deltascope::app
