#pragma once

#include "deltascope/engine/device_backend.h"

#include <memory>

namespace deltascope::test {

/// The module under test: over a driver of the tests (support/fake_driver.h), or, where DELTASCOPE_CUDA_MODULE names
/// one, on the device of this machine.
Result<const DeviceModule*> deviceModule();
bool isRealDevice();

/// The backend over it, with the scalar one for what the device cannot do.
std::shared_ptr<const DeviceBackend> deviceBackend();

/// The backends of the processor, and that one.
DiffBackends allBackends();

} // namespace deltascope::test
