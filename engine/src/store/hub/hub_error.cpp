#include "hub_error.h"

#include "hub_json.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::hub {

namespace {

constexpr std::size_t MostWordBytes = 200;

/// What the server says itself, fit for one line.
std::string serverWords(const http::Response& answer)
{
    std::string words(answer.headers.find("X-Error-Message").value_or(""));
    if (words.empty())
        words = parseErrorText(answer.body);
    words.resize(std::min(words.size(), MostWordBytes));
    while (!words.empty() && (static_cast<unsigned char>(words.back()) & 0xC0) == 0x80 && words.size() == MostWordBytes)
        words.pop_back();
    std::replace_if(
        words.begin(), words.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    const auto id = answer.headers.find("X-Request-Id");
    if (id && id->size() <= 80)
        words += fmt::format("{}request {}", words.empty() ? "" : ", ", *id);
    return words.empty() ? words : " (" + words + ")";
}

Error refusalOf(const http::Response& answer, const Subject& subject, bool hasToken)
{
    constexpr const char* Login = "log in with \"hf auth login\", or set HF_TOKEN";
    const std::string code(answer.headers.find("X-Error-Code").value_or(""));
    const auto error = [&](Code kind, std::string text, const char* action) {
        return Error { kind, std::move(text), subject.where, std::nullopt, action };
    };
    if (code == "GatedRepo")
        return error(Code::Auth, fmt::format("the {} is gated, and this account was not let in", subject.what),
                     "ask for access on its page, and use a token of that account");
    if (code == "EntryNotFound")
        return error(Code::NotFound, fmt::format("there is no such file in the {}", subject.what), "");
    if (code == "RevisionNotFound")
        return error(Code::NotFound, fmt::format("there is no such revision of the {}", subject.what),
                     "name a branch, a tag or a commit that its page shows");
    switch (answer.status) {
    case 401:
        return hasToken
            ? error(Code::Auth, fmt::format("the Hub does not know the token that was sent for the {}", subject.what),
                    "see whether the token was revoked or has ended, and log in again or set HF_TOKEN")
            : error(Code::Auth, fmt::format("the {} is private or does not exist, and no token was sent", subject.what),
                    Login);
    case 403:
        return error(Code::Auth, fmt::format("the token does not allow this in the {}", subject.what),
                     "use a token that may read it, and write it where something is published");
    case 404:
    case 410:
        return error(Code::NotFound,
                     fmt::format("there is no {}{}", subject.what,
                                 hasToken ? ", or the token is of an account that may not see it"
                                          : ", or it is private and no token was sent"),
                     hasToken ? "see that owner and name are right, and that the token may read it" : Login);
    case 429:
        return error(Code::Transient, fmt::format("the Hub's quota of requests is used up at the {}", subject.what),
                     "wait a few minutes; the quotas are those of the account");
    default:
        break;
    }
    Error plain = http::errorOfStatus(answer.status, "");
    plain.text = fmt::format("the Hub answers with status {} about the {}", answer.status, subject.what);
    plain.where = subject.where;
    return plain;
}

} // namespace

Error hubError(const http::Response& answer, const Subject& subject, bool hasToken)
{
    Error error = refusalOf(answer, subject, hasToken);
    error.text += serverWords(answer);
    return error;
}

} // namespace deltascope::hub
