#pragma once

#include "deltascope/engine/device_module.h"
#include "deltascope/engine/diff_backend.h"

#include <functional>
#include <memory>
#include <string>

namespace deltascope {

/// The DiffBackend "cuda". Its first use loads the module and opens the first device of this machine. It copies bytes
/// to the device and results back. Where the device fails, the processor repeats the work, so every result is right,
/// and notices() reports it; this object does not use a device again that did not recover. Any thread; each has its own
/// queue while it works.
class DeviceBackend : public DiffBackend {
public:
    using Load = std::function<Result<const DeviceModule*>()>;

    /// `processor`: what does the work of a device that fails.
    static std::shared_ptr<const DeviceBackend> make(Load load, std::shared_ptr<const DiffBackend> processor);

    /// The device and its driver. Opens it. Errors: Unsupported (no module, driver or device), Io, NoSpace.
    virtual Result<DeviceInfo> describe() const = 0;
};

/// Loads the module of a file, once for each, and never unloads it. Errors: Unsupported (there is none, or one of
/// another build).
Result<const DeviceModule*> loadDeviceModule(const std::string& path);

} // namespace deltascope
