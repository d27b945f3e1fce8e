#pragma once

#include "deltascope/engine/device_module.h"
#include "module/device.h"

namespace deltascope::cuda {

/// The functions of a module over a driver. The first call decides which driver and image: a process has one module.
/// `driver` is asked for when a device is opened.
const DeviceModule* moduleOver(Result<Driver> (*driver)(), KernelImage image, const char* build);

} // namespace deltascope::cuda
