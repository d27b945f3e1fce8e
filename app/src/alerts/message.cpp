#include "alerts/message.h"

#include "view/json_parts.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/chrono.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string_view>

namespace deltascope::app {

namespace {

std::string timeText(std::int64_t us)
{
    const std::time_t seconds = us / 1'000'000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

/// Whether a character of UTF-8 turns or hides text: C1 controls, line separators, bidirectional controls.
bool isUnsafe(std::string_view character)
{
    constexpr std::array<std::string_view, 14> Bidi = { "\u061c", "\u200e", "\u200f", "\u2028", "\u2029",
                                                        "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                                                        "\u2066", "\u2067", "\u2068", "\u2069" };
    const bool isC1 = character.size() == 2 && character[0] == '\xc2' && character[1] < '\xa0';
    return isC1 || std::find(Bidi.begin(), Bidi.end(), character) != Bidi.end();
}

/// Text for people who read it elsewhere: one line without control characters, of limited length.
std::string plain(const std::string& text)
{
    constexpr std::size_t Most = 500; // bytes
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = begin + 1;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
            ++end;
        if (end > Most)
            return out + "…";
        const std::string_view character = std::string_view(text).substr(begin, end - begin);
        const auto first = static_cast<unsigned char>(character.front());
        if (first < 0x20 || first == 0x7f)
            out += ' ';
        else if (isUnsafe(character))
            out += "\ufffd";
        else
            out += character;
        begin = end;
    }
    return out;
}

/// Slack reads entities, mentions and links in angle brackets.
std::string forSlack(const std::string& text)
{
    std::string out;
    for (const char c : plain(text)) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else
            out += c;
    }
    return out;
}

/// Discord reads Markdown, mentions and links.
std::string forDiscord(const std::string& text)
{
    std::string out;
    for (const char c : plain(text)) {
        if (std::string_view("\\*_~`|<>[]()#@:").find(c) != std::string_view::npos)
            out += '\\';
        out += c;
    }
    return out;
}

/// "error: Step 12 is damaged"
std::string headline(const AlertView& alert)
{
    return fmt::format("{}: {}", alert.state == AlertState::Cleared ? "cleared" : word(alert.level), alert.title);
}

std::string context(const AlertView& alert)
{
    std::string text = fmt::format("run {} · {}", alert.run, alert.rule);
    if (alert.step)
        text += fmt::format(" · step {}", *alert.step);
    if (alert.replica)
        text += fmt::format(" · replica {}", *alert.replica);
    return text;
}

ordered_json webhook(const AlertView& alert, const std::string& pageUrl, std::int64_t nowUs)
{
    return { { "level", word(alert.level) },
             { "title", alert.title },
             { "text", alert.text },
             { "rule", alert.rule },
             { "run", alert.run },
             { "step", orNull(alert.step) },
             { "replica", orNull(alert.replica) },
             { "value", orNull(alert.value) },
             { "threshold", orNull(alert.threshold) },
             { "url", pageUrl.empty() ? ordered_json(nullptr) : ordered_json(pageUrl) },
             { "timestamp", timeText(nowUs) },
             { "state", word(alert.state) } };
}

ordered_json slackText(const std::string& text)
{
    return { { "type", "plain_text" }, { "text", forSlack(text) }, { "emoji", false } };
}

ordered_json slack(const AlertView& alert, const std::string& pageUrl)
{
    ordered_json blocks = ordered_json::array();
    blocks.push_back({ { "type", "header" }, { "text", slackText(headline(alert)) } });
    if (!alert.text.empty())
        blocks.push_back({ { "type", "section" }, { "text", slackText(alert.text) } });
    blocks.push_back({ { "type", "section" }, { "text", slackText(alert.remedy) } });
    blocks.push_back({ { "type", "context" }, { "elements", ordered_json::array({ slackText(context(alert)) }) } });
    if (!pageUrl.empty())
        blocks.push_back(
            { { "type", "actions" },
              { "elements",
                ordered_json::array(
                    { { { "type", "button" }, { "text", slackText("Open the run") }, { "url", pageUrl } } }) } });
    return { { "text", forSlack(headline(alert)) }, { "blocks", std::move(blocks) } };
}

ordered_json discord(const AlertView& alert, const std::string& pageUrl, std::int64_t nowUs)
{
    constexpr int Magenta = 0x8f0a6b;
    constexpr int Gray = 0x6b7280;
    ordered_json embed {
        { "title", forDiscord(headline(alert)) },
        { "description", forDiscord(alert.text) },
        { "color", alert.level == AlertLevel::Error && !alert.clearedUs ? Magenta : Gray },
        { "fields", ordered_json::array({ { { "name", "What to do" }, { "value", forDiscord(alert.remedy) } } }) },
        { "footer", { { "text", plain(context(alert)) } } },
        { "timestamp", timeText(nowUs) }
    };
    if (!pageUrl.empty())
        embed["url"] = pageUrl;
    return { { "embeds", ordered_json::array({ std::move(embed) }) },
             { "allowed_mentions", { { "parse", ordered_json::array() } } } };
}

}

std::string messageBody(ChannelKind kind, const AlertView& alert, const std::string& pageUrl, std::int64_t nowUs)
{
    switch (kind) {
    case ChannelKind::Slack:
        return dump(slack(alert, pageUrl));
    case ChannelKind::Discord:
        return dump(discord(alert, pageUrl, nowUs));
    case ChannelKind::Webhook:
    case ChannelKind::Command:
        break;
    }
    return dump(webhook(alert, pageUrl, nowUs));
}

AlertView testAlert(std::int64_t nowUs)
{
    AlertView alert;
    alert.id = "test";
    alert.rule = "test";
    alert.title = "This is a test of Deltascope";
    alert.text = "Messages about alerts come this way.";
    alert.remedy = "Nothing: somebody has pressed the test button.";
    alert.firstUs = alert.lastUs = nowUs;
    return alert;
}

std::string signatureOf(const std::string& body, const std::string& secret)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest {};
    unsigned size = 0;
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest.data(), &size);
    std::string hex;
    for (unsigned i = 0; i < size; ++i)
        hex += fmt::format("{:02x}", digest[i]);
    return hex;
}

} // namespace deltascope::app
