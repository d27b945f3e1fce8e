#pragma once

#include "deltascope/engine/device_backend.h"

#include <memory>
#include <optional>

namespace deltascope::test {

/// The module under test: over a driver of the tests (support/fake_driver.h), or, where DELTASCOPE_CUDA_MODULE names
/// one, on the device of this machine.
Result<const DeviceModule*> deviceModule();
bool isRealDevice();

/// The backend over it, with the scalar one for what the device cannot do.
std::shared_ptr<const DeviceBackend> deviceBackend(std::optional<std::uint64_t> memory = std::nullopt);

/// A backend, by the name "cuda", whose operations are those of the module, one block at a time: what shows that its
/// kernels have the bits of the others. The module failing is a failure of the test.
std::shared_ptr<const Backend> moduleBackend();

/// The backends of the processor, and that one.
Backends allBackends();

} // namespace deltascope::test
