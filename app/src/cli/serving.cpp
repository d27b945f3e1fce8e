#include "serving.h"

#include "browser.h"
#include "channel_watch.h"
#include "server/api/api.h"
#include "server/server.h"

#include "deltascope/app/monitor.h"

#include <filesystem>
#include <fmt/format.h>

namespace deltascope::cli {

namespace {

server::ServerOptions serverOptions(const ServeOptions& options)
{
    server::ServerOptions out;
    out.listen = options.listen;
    out.unixSocket = options.unixSocket;
    out.basePath = options.basePath;
    out.tokenFile = options.tokenFile;
    out.allowedHosts = options.allowedHosts;
    out.authProxyHeader = options.authProxyHeader;
    out.authProxyFrom = options.authProxyFrom;
    out.tlsCertificate = options.tlsCertificate;
    out.tlsKey = options.tlsKey;
    out.insecureHttp = options.insecureHttp;
    out.embedders = options.embedders;
    out.allowActs = options.allowActs;
    return out;
}

/// The address is data; how to get there from elsewhere is a suggestion.
void printWhere(const server::Server& server, const ServeOptions& options, const Style& style)
{
    writeOut(server.signInUrl() + "\n");
    for (const std::string& warning : server.warnings())
        writeErr("warning: " + safe(warning) + "\n");
    if (style.quiet)
        return;
    writeErr("the code in this address is good for one browser\n");
    if (!server.isLoopback() && options.allowedHosts.empty())
        writeErr("other machines need a name that it answers to: --allow-host NAME\n");
    else if (server.isLoopback() && server.port() != 0)
        writeErr(fmt::format("from another machine: ssh -L {0}:127.0.0.1:{0} THIS-MACHINE, then the same address\n",
                             server.port()));
    writeErr(options.allowActs ? fmt::format("acts are allowed; checkpoints are written below {}\n",
                                             safe(std::filesystem::absolute(options.output).string()))
                               : "read-only; --allow-acts lets browsers verify and materialize\n");
}

void warnOf(const std::vector<app::AlertChannel>& channels)
{
    for (std::size_t i = 0; i < channels.size(); ++i) {
        if (const std::optional<std::string> why = app::whyItCannotSend(channels[i]))
            writeErr(fmt::format("warning: channel {} gets no message about alerts, {}: {}\n", i + 1, *why,
                                 safe(channels[i].name)));
    }
}

}

Result<void> serve(app::Service& service, const ServeOptions& options, const std::vector<ServedRun>& runs,
                   const Style& style, const std::function<Result<void>()>& wait)
{
    std::vector<app::AlertChannel> channels;
    if (!options.channels.empty()) {
        DS_TRY(channels, app::readChannels(options.channels));
    }
    server::ApiOptions shown;
    shown.allowActs = options.allowActs;
    DS_CHECK(service.backend());

    const app::Settings settings = app::Settings::fromEnvironment();
    const std::unique_ptr<app::Monitor> monitor =
        app::Monitor::create(service,
                             { .outputFolder = std::filesystem::absolute(options.output).string(),
                               .verifyLevel = options.verifyLevel,
                               .taskFolder = settings.stateFolder + "/serve-tasks",
                               .alertRules = settings.stateFolder + "/alert-rules.json" });
    server::EventHub hub;
    const std::unique_ptr<server::Api> api = server::makeApi(service, *monitor, hub, shown);
    DS_TRY(const std::unique_ptr<server::Server> server, server::Server::start(serverOptions(options), *api, hub));
    warnOf(channels);
    monitor->sender()->setChannels(std::move(channels), server->url());
    ChannelWatch watch(*monitor->sender(), [](const std::string& line) { writeErr(safe(line) + "\n"); });
    if (!options.channels.empty())
        DS_CHECK(watch.start());
    for (const ServedRun& run : runs)
        monitor->follow(run.source, run.name, run.demo);
    printWhere(*server, options, style);
    BrowserPage page;
    if (options.open) {
        Result<BrowserPage> shown = BrowserPage::show(
            server->signInUrl(), fmt::format("{}/sign-in-{}.html", settings.stateFolder, server->port()));
        if (shown)
            page = std::move(*shown);
        else
            writeErr("the browser cannot be opened: " + safe(shown.error().text) + "\n");
    }
    Result<void> end = wait();
    server->stop();
    return end;
}

} // namespace deltascope::cli
