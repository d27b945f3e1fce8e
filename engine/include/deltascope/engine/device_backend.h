#pragma once

#include "deltascope/engine/device_module.h"
#include "deltascope/engine/diff_backend.h"

#include <functional>
#include <memory>
#include <string>

namespace deltascope {

/// What works on the device of this machine: a DiffBackend of the name "cuda", over a module that is loaded and a
/// device that is opened at the first use. Bytes of the host go up, what is found comes down. Where the device fails,
/// the processor does the same work, so that every result is right, and notices() says so; a device that does not
/// recover is not used again by this object. Any thread; each has a queue of its own while it works.
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
