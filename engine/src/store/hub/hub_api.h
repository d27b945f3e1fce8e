#pragma once

#include "deltascope/engine/hub_store.h"
#include "hub_error.h"
#include "hub_json.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::hub {

/// Sends requests to one Hub as one account. The token goes nowhere else and into no text. Any thread.
class HubApi {
public:
    /// Errors: Usage (endpoint; HF_HUB_OFFLINE forbids the network), Auth (the token cannot be read).
    static Result<std::shared_ptr<const HubApi>> make(const HubAccount& account, std::shared_ptr<http::Sender> sender,
                                                      Variables variables = nullptr);

    const std::string& endpoint() const noexcept { return m_endpoint; } ///< without a slash at its end
    std::string unusualEndpoint() const; ///< empty where it is the one that everybody uses: addresses leave it out
    bool hasToken() const noexcept { return !m_token.empty(); }
    const std::shared_ptr<http::RetryClock>& clock() const noexcept { return m_clock; }
    /// Repeats what is worth it, as the account says. Lives as long as the pointer.
    const std::shared_ptr<http::Sender>& retrying() const noexcept { return m_retrying; }
    /// The same for what can be had in another way: it does not wait through an outage.
    const std::shared_ptr<http::Sender>& brief() const noexcept { return m_brief; }
    /// Sends once.
    const std::shared_ptr<http::Sender>& direct() const noexcept { return m_sender; }

    /// A request with the headers that all need. `path` begins with '/' and stands behind the endpoint.
    http::Request request(std::string method, std::string_view path) const;
    /// The same for an address that the Hub itself gave. Errors: Hostile, where it is on another host: the token would
    /// go there.
    Result<http::Request> requestTo(std::string method, const std::string& url) const;

    /// Sends a request that asks for JSON, with retries; an answer that is none is asked for again, and then returned.
    /// Errors: those of Sender::send and of hubError; a redirect is Unsupported.
    Result<http::Response> ask(const http::Request& request, const Subject& subject, TaskContext& task) const;

    /// Same scheme, host and port as the endpoint.
    bool isOwn(const std::string& url) const;

private:
    HubApi() = default;

    std::string m_endpoint;
    std::string m_token;
    std::shared_ptr<http::Sender> m_sender;
    std::shared_ptr<http::RetryClock> m_clock;
    std::shared_ptr<http::Sender> m_retrying;
    std::shared_ptr<http::Sender> m_brief;
};

/// The target of the `rel` entry in the Link headers of an answer; empty if there is none.
std::string linkTarget(const http::Headers& headers, std::string_view rel);

/// All files of a listing (`path`: the first page) whose paths begin with `prefix`, each once, in byte order, whatever
/// order the Hub has. A failure of any page is one of all. Errors: also Hostile (more than `mostFiles`, a page of
/// another host), ListSuspect (pages without an end).
Result<std::vector<HubFile>> fetchTree(const HubApi& hub, const std::string& path, const Subject& subject,
                                       const std::string& prefix, std::size_t mostFiles, TaskContext& task);

} // namespace deltascope::hub
