#pragma once

#include "deltascope/engine/publish.h"
#include "from_device/kept_model.h"

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

struct DevicePublisherOptions {
    PublishOptions publish;
    std::string into; ///< address of the run
    std::string base; ///< address of the external base; empty: none
    bool keepsOnDevice = true;
    unsigned threads = 2;
};

/// What became of a step.
struct DevicePublication {
    PublishedVersion version;
    std::uint64_t bytesDown = 0; ///< that came from the device
    std::int64_t blockedUs = 0; ///< how long publish() took, once the step before was put
    bool isProven = false; ///< the device has hashed its copy, and the step has the same root
    std::vector<Error> notices; ///< of this step, and of those before it that were not put or not waited for
};

/// Publishes the steps of a model whose tensors lie on a device, into one run. Taking a step off the device and putting
/// it are apart: the caller waits for the first alone. One thread at a time.
class DevicePublisher {
public:
    /// Opens the device and the run, and takes the lease of the run. `module` outlives it. Errors: Unsupported (no such
    /// device), BaseMissing (the layout needs a base), those of Publisher::open.
    static Result<std::unique_ptr<DevicePublisher>> open(const DeviceModule& module, int ordinal,
                                                         DevicePublisherOptions options);
    ~DevicePublisher(); ///< waits for the step that is being put, and gives the lease back

    /// Takes a step. Waits first for the one before it to be put. The tensors may change as soon as this returns.
    /// Errors: those of KeptModel; that of the step before, where it was not put and wait() was not called: each once.
    /// Then nothing is taken.
    Result<void> publish(std::vector<DeviceTensor> tensors, void* stream, std::string origin);
    /// The result of the step that was taken last; a publish() that failed took none. Errors: Usage (none was), those
    /// of Publisher::publish; the step is lost then, and the next one holds its changes, too.
    Result<DevicePublication> wait();

private:
    struct Parts;
    explicit DevicePublisher(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> m_parts;
};

} // namespace deltascope
