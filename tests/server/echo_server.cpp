#include "server/server.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>

// The real server before an Api that does nothing of its own: what the black-box tests talk to.
//
// usage: deltascope-echo-server OPTION=VALUE…
//   listen unix base token_file allow_host auth_proxy auth_proxy_from tls_cert tls_key insecure_http allow_embed acts
//   body_limit max_clients max_of_client
//   idle_ms head_ms body_ms write_ms ping_ms    time limits
//   events=N bytes=N    N events a second of topic "tick", run "a" and "b" in turn, about so many bytes each
// Prints url and sign-in address, and stops at SIGTERM.

namespace deltascope::server {
namespace {

/// Answers with what it was asked; slow calls answer from a thread of their own.
class EchoApi final : public Api {
public:
    explicit EchoApi(EventHub& hub)
        : m_hub(hub)
    {
    }
    ~EchoApi() override
    {
        for (std::thread& thread : m_threads)
            thread.join();
    }

    void handle(const HttpRequest& request, Reply reply) override
    {
        if (request.path == "/api/v1/publish") {
            m_hub.publish(request.query.at("topic"), request.query.at("run"), request.body, request.query.at("key"));
            return reply({});
        }
        HttpResponse response;
        response.body =
            nlohmann::json {
                { "method", request.method },
                { "path", request.path },
                { "query", request.query },
                { "body", request.body },
                { "principal", request.principal.name },
                { "scope", int(request.principal.scope) },
            }
                .dump();
        if (const auto bytes = request.query.find("bytes"); bytes != request.query.end())
            response.body = std::string(std::stoul(bytes->second), 'x');
        if (const auto etag = request.query.find("etag"); etag != request.query.end())
            response.etag = etag->second;
        const auto slow = request.query.find("slow_ms");
        if (slow == request.query.end())
            return reply(response);
        m_threads.emplace_back([reply, response, wait = std::chrono::milliseconds(std::stol(slow->second))] {
            std::this_thread::sleep_for(wait);
            reply(response);
        });
    }
    std::string metrics() override { return "deltascope_echo 1\n"; }
    bool ready() override { return true; }

private:
    EventHub& m_hub;
    std::vector<std::thread> m_threads;
};

/// Publishes events that say when they were made.
void tick(EventHub& hub, int perSecond, std::size_t bytes, const std::atomic<bool>& stop)
{
    const std::string filler(bytes, 'x');
    auto next = std::chrono::steady_clock::now();
    for (std::uint64_t n = 0; !stop; ++n) {
        const auto now =
            std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch());
        hub.publish("tick", n % 2 == 0 ? "a" : "b",
                    fmt::format(R"({{"n":{},"t_us":{},"filler":"{}"}})", n, now.count(), filler));
        next += std::chrono::microseconds(1'000'000 / perSecond);
        std::this_thread::sleep_until(next);
    }
}

int run(const std::map<std::string, std::string>& words)
{
    const auto text = [&](const char* name, std::string fallback) {
        const auto found = words.find(name);
        return found == words.end() ? fallback : found->second;
    };
    const auto number = [&](const char* name, long fallback) {
        return std::stol(text(name, std::to_string(fallback)));
    };
    const auto limit = [&](const char* name, std::chrono::milliseconds fallback) {
        return std::chrono::milliseconds(number(name, fallback.count()));
    };

    ServerOptions options;
    options.listen = text("listen", "127.0.0.1:0");
    options.unixSocket = text("unix", "");
    options.basePath = text("base", "/");
    options.tokenFile = text("token_file", "");
    options.authProxyHeader = text("auth_proxy", "");
    if (words.contains("auth_proxy_from"))
        options.authProxyFrom = { words.at("auth_proxy_from") };
    options.tlsCertificate = text("tls_cert", "");
    options.tlsKey = text("tls_key", "");
    options.insecureHttp = number("insecure_http", 0) != 0;
    if (words.contains("allow_host"))
        options.allowedHosts = { words.at("allow_host") };
    if (words.contains("allow_embed"))
        options.embedders = { words.at("allow_embed") };
    options.allowActs = number("acts", 0) != 0;
    options.bodyLimit = std::size_t(number("body_limit", long(options.bodyLimit)));
    options.maxClients = std::size_t(number("max_clients", long(options.maxClients)));
    options.maxOfClient = std::size_t(number("max_of_client", long(options.maxOfClient)));
    options.timeouts = { limit("idle_ms", options.timeouts.idle), limit("head_ms", options.timeouts.head),
                         limit("body_ms", options.timeouts.body), limit("write_ms", options.timeouts.write),
                         limit("ping_ms", options.timeouts.ping) };

    EventHub hub;
    EchoApi api(hub);
    auto server = Server::start(options, api, hub);
    if (!server) {
        fmt::print(stderr, "{} {}\n", word(server.error().code), server.error().text);
        return 2;
    }
    fmt::print("{}\n{}\n", (*server)->url(), (*server)->signInUrl());
    for (const std::string& warning : (*server)->warnings())
        fmt::print(stderr, "{}\n", warning);
    std::fflush(stdout);

    std::atomic<bool> stop = false;
    std::thread ticker;
    if (number("events", 0) > 0)
        ticker = std::thread([&] { tick(hub, int(number("events", 0)), std::size_t(number("bytes", 0)), stop); });
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    int signal = 0;
    sigwait(&signals, &signal);
    (*server)->stop();
    stop = true;
    if (ticker.joinable())
        ticker.join();
    return 0;
}

}
}

int main(int argc, char** argv)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    std::map<std::string, std::string> words;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::size_t equals = word.find('=');
        words.insert_or_assign(word.substr(0, equals), equals == std::string::npos ? "1" : word.substr(equals + 1));
    }
    return deltascope::server::run(words);
}
