#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/device_backend.h"
#include "deltascope/engine/operations.h"

namespace deltascope::app {

/// Looks at this machine, our own folders and, if given, a source. Changes nothing but what `clean` says (service.h).
DoctorView examine(const Settings& settings, Workbench& bench, const DeviceBackend& device,
                   const std::optional<SourceRequest>& source, bool clean, TaskContext& task);

} // namespace deltascope::app
