#include "hub_names.h"

#include "deltascope/engine/http_url.h"

#include <algorithm>

namespace deltascope::hub {

namespace {

bool isLetterOrDigit(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

} // namespace

bool isHubName(std::string_view text) noexcept
{
    return !text.empty() && text.size() <= 96 && text != "." && text != ".."
        && std::all_of(text.begin(), text.end(),
                       [](char c) { return isLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; });
}

Result<std::string> checkedEndpoint(std::string text)
{
    while (!text.empty() && text.back() == '/')
        text.pop_back();
    const Result<http::Url> url = http::Url::parse(text);
    if (!url || !url->isHttp() || !url->userInfo.empty() || !url->query.empty() || !url->fragment.empty()
        || text.find_first_of("?#") != std::string::npos)
        return fail(Code::Usage, "the endpoint of the Hub is no plain http or https address", {},
                    "set HF_ENDPOINT, or the endpoint of the address, to https://HOST");
    return text;
}

} // namespace deltascope::hub
