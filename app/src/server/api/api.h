#pragma once

#include "server/event_hub.h"
#include "server/http.h"

#include "deltascope/app/monitor.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace deltascope::server {

struct ApiOptions {
    bool allowActs = false;
};

/// The HTTP API: translates requests to the monitor and its views, and what happens there to events. Everything that is
/// passed in outlives it.
std::unique_ptr<Api> makeApi(app::Service& service, app::Monitor& monitor, EventHub& hub, ApiOptions options);

} // namespace deltascope::server
