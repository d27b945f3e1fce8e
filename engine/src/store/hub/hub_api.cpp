#include "hub_api.h"

#include "../../http/header_text.h"
#include "../ask_again.h"
#include "deltascope/engine/http_url.h"
#include "hub_environment.h"
#include "hub_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace deltascope::hub {

namespace {

constexpr std::size_t MostTreePageBytes = std::size_t { 16 } << 20;
constexpr std::size_t MostTreePages = 100'000;

// A name of our own: what stands before the Hub's files is said to treat those of common libraries in another way.
constexpr const char* AgentName = "deltascope; libcurl";

/// Keeps alive what it sends through.
class OwningRetries final : public http::Sender {
public:
    OwningRetries(std::shared_ptr<http::Sender> inner, const http::RetryPolicy& policy,
                  std::shared_ptr<http::RetryClock> clock)
        : m_inner(std::move(inner))
        , m_retries(*m_inner, policy, std::move(clock))
    {
    }
    Result<http::Response> send(const http::Request& request, TaskContext& task) override
    {
        return m_retries.send(request, task);
    }
    http::Counters counters() const override { return m_retries.counters(); }

private:
    const std::shared_ptr<http::Sender> m_inner;
    http::RetryingSender m_retries;
};

} // namespace

Result<std::shared_ptr<const HubApi>> HubApi::make(const HubAccount& account, std::shared_ptr<http::Sender> sender,
                                                   Variables variables)
{
    if (isOffline(variables))
        return fail(Code::Usage, "HF_HUB_OFFLINE forbids to ask the Hugging Face Hub", {},
                    "unset HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE, or name a local copy");
    auto api = std::shared_ptr<HubApi>(new HubApi());
    DS_TRY(api->m_endpoint, checkedEndpoint(account.endpoint.empty() ? endpointOf(variables) : account.endpoint));
    if (account.token) {
        api->m_token = *account.token;
    } else {
        DS_TRY(api->m_token, discoverToken(variables));
    }
    if (!http::isValid({ "Authorization", api->m_token }))
        return fail(Code::Auth, "the token of the Hub holds a line end or a NUL", {},
                    "set HF_TOKEN to the token alone");
    api->m_sender = std::move(sender);
    api->m_clock = account.clock;
    api->m_retrying = std::make_shared<OwningRetries>(api->m_sender, account.retries, account.clock);
    http::RetryPolicy brief = account.retries;
    brief.longestOutage = std::chrono::milliseconds(0);
    api->m_brief = std::make_shared<OwningRetries>(api->m_sender, brief, account.clock);
    return std::shared_ptr<const HubApi>(std::move(api));
}

std::string HubApi::unusualEndpoint() const { return m_endpoint == UsualEndpoint ? std::string() : m_endpoint; }

http::Request HubApi::request(std::string method, std::string_view path) const
{
    http::Request request;
    request.method = std::move(method);
    request.url = m_endpoint + std::string(path);
    request.headers.add("User-Agent", AgentName);
    if (hasToken())
        request.headers.add("Authorization", "Bearer " + m_token);
    return request;
}

Result<http::Request> HubApi::requestTo(std::string method, const std::string& url) const
{
    if (!isOwn(url))
        return fail(Code::Hostile, "the Hub sends us to another host, which must not see the token", m_endpoint,
                    "see that the endpoint is the address that the Hub uses for itself");
    http::Request made = request(std::move(method), "");
    made.url = url;
    return made;
}

Result<http::Response> HubApi::ask(const http::Request& request, const Subject& subject, TaskContext& task) const
{
    const auto askOnce = [&]() -> Result<http::Response> {
        DS_TRY(http::Response answer, m_retrying->send(request, task));
        if (!answer.isGood())
            return fail(hubError(answer, subject, hasToken()));
        return answer;
    };
    const auto isDamaged = [](const Result<http::Response>& answer) {
        return answer && !nlohmann::json::accept(answer->body);
    };
    return askAgain(askOnce, isDamaged, task, *m_clock);
}

bool HubApi::isOwn(const std::string& url) const
{
    const Result<http::Url> own = http::Url::parse(m_endpoint);
    const Result<http::Url> other = http::Url::parse(url);
    return own && other && own->scheme == other->scheme && http::isSameName(own->authority(), other->authority())
        && other->userInfo.empty();
}

std::string linkTarget(const http::Headers& headers, std::string_view rel)
{
    const std::string wanted = "rel=\"" + std::string(rel) + '"';
    for (const http::Header& line : headers.lines()) {
        if (!http::isSameName(line.name, "Link"))
            continue;
        std::string_view rest = line.value; // <URL>; rel="next", <URL>; rel="…"
        for (std::size_t begin = rest.find('<'); begin != std::string_view::npos; begin = rest.find('<')) {
            const std::size_t end = rest.find('>', begin);
            if (end == std::string_view::npos)
                break;
            const std::string_view url = rest.substr(begin + 1, end - begin - 1);
            rest.remove_prefix(end + 1);
            if (rest.substr(0, rest.find('<')).find(wanted) != std::string_view::npos)
                return std::string(url);
        }
    }
    return {};
}

Result<std::vector<HubFile>> fetchTree(const HubApi& hub, const std::string& path, const Subject& subject,
                                       const std::string& prefix, std::size_t mostFiles, TaskContext& task)
{
    http::Request request = hub.request("GET", path);
    request.destination = http::Keep { MostTreePageBytes };
    request.mayBeCompressed = true;
    std::vector<HubFile> files;
    std::unordered_set<std::string> seen { request.url };
    for (;;) {
        DS_TRY(const http::Response answer, hub.ask(request, subject, task));
        DS_TRY(std::vector<HubFile> page, parseHubFiles(answer.body));
        std::erase_if(page, [&](const HubFile& file) { return !file.path.starts_with(prefix); });
        if (page.size() > mostFiles - files.size())
            return fail(Code::Hostile, fmt::format("the {} lists more files than can be kept", subject.what), {},
                        "name a folder in it that holds less");
        files.insert(files.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
        const std::string next = linkTarget(answer.headers, "next");
        if (next.empty())
            break;
        DS_TRY(const http::Request following, hub.requestTo("GET", next));
        if (!seen.insert(next).second || seen.size() > MostTreePages)
            return fail(Code::ListSuspect, fmt::format("the pages of the listing of the {} do not end", subject.what));
        request.url = following.url;
    }
    // Pages are no snapshot: what moved between two of them may be in both, and the later one is right.
    std::stable_sort(files.begin(), files.end(), [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
    std::vector<HubFile> once;
    once.reserve(files.size());
    for (HubFile& file : files) {
        if (!once.empty() && once.back().path == file.path)
            once.back() = std::move(file);
        else
            once.push_back(std::move(file));
    }
    return once;
}

} // namespace deltascope::hub
