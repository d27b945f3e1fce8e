#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/device_module.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// Who did batches, in bytes of both sides of a pair.
struct DeviceShare {
    std::uint64_t byDevice = 0;
    std::uint64_t byProcessor = 0; ///< no slot was free, the device failed, or it has no operation for the piece
    bool isLost = false; ///< the device does nothing any more: notices() says why
};

/// The Backend "cuda". Its first use loads the module and opens the first device of this machine. The device does
/// batches: measure(), find() and patch() copy them to it, two by turns, and results back. To copy one block takes
/// longer than to compare it, so the processor does single blocks. Where the device fails, the processor repeats the
/// batch, so every result is right, and notices() reports it; this object does not use a device again that did not
/// recover. Memory: at most 8 batches, each 32 MiB of the device and as much of the host, pinned, are kept until
/// releaseIdle(). Any thread.
class DeviceBackend : public Backend {
public:
    using Load = std::function<Result<const DeviceModule*>()>;

    /// `processor`: what does the work of a device that fails.
    /// `memory`: bytes of the device that may be taken; nothing: a tenth of what is free.
    static std::shared_ptr<const DeviceBackend> make(Load load, std::shared_ptr<const Backend> processor,
                                                     std::optional<std::uint64_t> memory = std::nullopt);

    /// The device and its driver. Opens it. Errors: Unsupported (no module, driver or device), Io.
    virtual Result<DeviceInfo> describe() const = 0;
    /// All devices that the driver shows, in its order; opens none. Errors: as describe().
    virtual Result<std::vector<DeviceInfo>> devices() const = 0;
    /// Of all batches so far; nothing: the device was not opened. Does not open it.
    virtual std::optional<DeviceShare> share() const noexcept = 0;
    /// Frees the memory of batches that nobody works on; the next work allocates it again. The device stays open.
    virtual void releaseIdle() const noexcept = 0;
};

/// Loads the module of a file, once for each, and never unloads it. A relative path is from the current folder. Errors:
/// Unsupported (there is none, or one of another build).
Result<const DeviceModule*> loadDeviceModule(const std::string& file);

} // namespace deltascope
