#pragma once

#include "api.h"
#include "route.h"

#include <map>
#include <mutex>

namespace deltascope::server {

/// What the handlers of the API share. Any thread.
class Context {
public:
    Context(app::Service& service, app::Monitor& monitor, EventHub& hub, ApiOptions options);

    app::Service& service;
    app::Monitor& monitor;
    EventHub& hub;
    const ApiOptions options;

    using Snapshot = std::shared_ptr<const app::RunSnapshot>;
    /// The run that the first part of a path names. Errors: NotFound.
    Result<Snapshot> snapshotOf(const Call& call) const;
    /// The same, once its source was opened. Errors: NotFound; the error of the source.
    Result<Snapshot> openRunOf(const Call& call) const;
    /// The same, once its heatmap is there. Errors: as openRunOf; Transient.
    Result<Snapshot> heatOf(const Call& call) const;
    /// Entity tag of something that changes with a revision.
    std::string etag(std::uint64_t revision) const;

    static std::int64_t nowUs();

private:
    std::string m_instance; ///< revisions begin anew with each daemon
};

/// The epoch of the query, or the newest one. Errors: Usage, NotFound.
Result<int> epochOf(const HttpRequest& request, const app::RunView& run);

void addRunRoutes(Routes& routes, Context& context);
void addSnapshotRoutes(Routes& routes, Context& context);
void addHeatRoutes(Routes& routes, Context& context);
void addTensorRoutes(Routes& routes, Context& context);
void addActRoutes(Routes& routes, Context& context);
void addAlertRoutes(Routes& routes, Context& context);

/// Tells the hub what the monitor tells, until the token is destroyed.
std::shared_ptr<void> publishEvents(Context& context);

/// Body of /metrics.
std::string metricsOf(app::Monitor& monitor);

/// Puts a handler that may fail into the form of a route.
Routes::Handler answering(std::function<Result<HttpResponse>(const Call& call)> handler);

} // namespace deltascope::server
