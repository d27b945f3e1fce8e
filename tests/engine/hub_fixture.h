#pragma once

#include "deltascope/engine/http.h"
#include "deltascope/engine/http_retry.h"
#include "store/hub/hub_api.h"
#include "support/scripted_server.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::hub {

/// The real clock, except that pauses take no time; they are counted. Any thread.
class QuickClock final : public http::RetryClock {
public:
    std::chrono::steady_clock::time_point now() const override
    {
        return std::chrono::steady_clock::now() + m_ahead.load();
    }
    std::chrono::system_clock::time_point date() const override
    {
        return std::chrono::system_clock::now() + m_ahead.load();
    }
    double chance() override { return 0.5; }
    Result<void> pause(std::chrono::milliseconds time, TaskContext& task) override
    {
        const std::lock_guard lock(m_mutex);
        m_pauses.push_back(time);
        return task.checkpoint();
    }
    std::vector<std::chrono::milliseconds> pauses() const
    {
        const std::lock_guard lock(m_mutex);
        return m_pauses;
    }
    void goOn(std::chrono::milliseconds time) { m_ahead = m_ahead.load() + time; }

private:
    std::atomic<std::chrono::milliseconds> m_ahead { std::chrono::milliseconds(0) };
    mutable std::mutex m_mutex; ///< guards what follows
    std::vector<std::chrono::milliseconds> m_pauses;
};

/// A Hub that answers what a test says.
class ScriptedHub {
public:
    using Request = test::ScriptedServer::Request;
    using Answer = std::function<std::string(const Request&)>;
    static constexpr const char* Token = "hf_very_secret";

    explicit ScriptedHub(Answer answer)
        : m_server([answer = std::move(answer)](const Request& request, test::ScriptedServer::Connection& connection) {
            connection.send(answer(request));
        })
    {
    }

    test::ScriptedServer& server() { return m_server; }
    std::string url(std::string_view path = "") const { return m_server.url(path); }
    HubAccount account(std::string token = Token) const
    {
        HubAccount account;
        account.endpoint = m_server.url("");
        account.token = std::move(token);
        account.retries.mostAttempts = 3;
        account.clock = clock;
        return account;
    }
    std::shared_ptr<const HubApi> api(std::string token = Token) const
    {
        auto made = HubApi::make(account(std::move(token)), std::make_shared<http::Client>());
        return made ? *made : nullptr;
    }
    std::vector<std::string> targets() const
    {
        std::vector<std::string> all;
        for (const Request& request : m_server.requests())
            all.push_back(request.method() + " " + request.target());
        return all;
    }

    std::shared_ptr<QuickClock> clock = std::make_shared<QuickClock>();

private:
    test::ScriptedServer m_server;
};

/// Nothing of an error repeats the token.
inline bool isDiscreet(const Error& error)
{
    const std::string all = error.text + error.where + error.action;
    return all.find("secret") == std::string::npos;
}

} // namespace deltascope::hub
