#include "api.h"

#include "context.h"
#include "view/capabilities_description.h"
#include "view/io/json_writer.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace deltascope::server {

using namespace app;

namespace {

CapabilitiesView capabilitiesOf(const Context& context, const Principal& principal)
{
    CapabilitiesView view;
    view.version = DELTASCOPE_VERSION;
    view.readOnly = !context.options.allowActs;
    view.principal = principal.name;
    view.scopes = { "read" };
    if (principal.scope >= Scope::Act)
        view.scopes.emplace_back("act");
    if (principal.scope >= Scope::Admin)
        view.scopes.emplace_back("admin");
    if (Result<std::string> backend = context.service.backend(); backend && !backend->empty())
        view.backends = { std::move(*backend) };
    const auto runs = context.monitor.runs();
    view.demo = std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run->demo; });
    view.nowUs = Context::nowUs();
    return view;
}

class MonitorApi final : public Api {
public:
    MonitorApi(Service& service, Monitor& monitor, EventHub& hub, ApiOptions options)
        : m_context(service, monitor, hub, std::move(options))
    {
        m_routes.add("GET", "capabilities", Scope::Read, answering([this](const Call& call) -> Result<HttpResponse> {
                         return jsonAnswer(dump(written(capabilitiesOf(m_context, call.request.principal))));
                     }));
        addRunRoutes(m_routes, m_context);
        addSnapshotRoutes(m_routes, m_context);
        addHeatRoutes(m_routes, m_context);
        addTensorRoutes(m_routes, m_context);
        addActRoutes(m_routes, m_context);
        addAlertRoutes(m_routes, m_context);
        m_events = publishEvents(m_context);
    }
    ~MonitorApi() override { m_workers.join(); }

    void handle(const HttpRequest& request, Reply reply) override
    {
        boost::asio::post(m_workers, [this, request, reply = std::move(reply)] { answer(request, reply); });
    }

    std::string metrics() override { return metricsOf(m_context.monitor); }

    bool ready() override
    {
        const auto runs = m_context.monitor.runs();
        return std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run->run != nullptr; });
    }

private:
    /// Nothing of ours throws, but libraries do, and memory ends: that must not end the daemon.
    void answer(const HttpRequest& request, const Reply& reply) const
    {
        try {
            m_routes.handle(request, reply);
        } catch (const std::exception&) {
            reply(errorAnswer({ Code::Internal, "the answer could not be made", request.path, {}, {} }));
        }
    }

    static constexpr std::size_t Workers = 2; ///< for answers from memory; work is done by jobs of the service

    Context m_context;
    Routes m_routes;
    std::shared_ptr<void> m_events;
    boost::asio::thread_pool m_workers { Workers };
};

}

std::unique_ptr<Api> makeApi(Service& service, Monitor& monitor, EventHub& hub, ApiOptions options)
{
    return std::make_unique<MonitorApi>(service, monitor, hub, std::move(options));
}

} // namespace deltascope::server
