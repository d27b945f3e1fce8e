#pragma once

#include "deltascope/device.h"
#include "from_device/device_publisher.h"

/// What the functions of deltascope/device.h work on.
struct DsDevicePublisher {
    std::unique_ptr<deltascope::DevicePublisher> publisher;
};

namespace deltascope {

/// ds_device_open() with a module that is loaded. Errors: Usage, those of DevicePublisher::open.
Result<DsDevicePublisher*> openDevicePublisher(const DeviceModule& module, const DsDeviceOptions& options);

} // namespace deltascope
