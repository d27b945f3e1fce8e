#pragma once

#include "driver/driver.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>

namespace deltascope::cuda {

/// What holds the kernels: a fat binary for a driver, or what a test's driver takes for one.
struct KernelImage {
    const void* data = nullptr;
    const char* capabilities = ""; ///< compute capabilities that it is for: "8.0, 9.0"
};

/// A device of a driver, in its primary context, which the frameworks of the process share. Thread-safe.
class Device {
public:
    /// A device that need not be open. `ordinal`: as the driver counts them in this process. Errors: Unsupported
    /// (driver too old or not started, no such device).
    static Result<DeviceNumber> find(const Driver& driver, int ordinal);
    /// Errors: those of find(), Unsupported (no kernels for it).
    static Result<std::unique_ptr<Device>> open(const Driver& driver, KernelImage image, int ordinal);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Driver& driver() const noexcept { return m_driver; }
    DeviceNumber number() const noexcept { return m_number; }
    /// A kernel by its name (kernels/list.h).
    Result<Handle> kernel(const std::string& name) const;
    /// The failure of a call, if it failed. Errors: NoSpace (memory of the device), Io (everything else).
    static Result<void> check(const Driver& driver, Status status, const char* call);
    /// The same of a call that uses this device. What it does not recover from is kept: expectAlive().
    Result<void> check(Status status, const char* call) const;
    /// Whether the memory at an address is that of this device: kernels must touch no other. Errors: Usage, those of
    /// check().
    Result<void> expectOwn(Address address) const;
    /// Fails once the device is lost.
    Result<void> expectAlive() const;

private:
    explicit Device(const Driver& driver)
        : m_driver(driver)
    {
    }
    Result<void> loadKernels(KernelImage image);

    Driver m_driver;
    DeviceNumber m_number = 0;
    Handle m_context = nullptr;
    Handle m_module = nullptr;
    std::map<std::string, Handle, std::less<>> m_kernels;
    mutable std::atomic<Status> m_lostWith = Success;

    friend class Current;
};

/// Makes the context of a device current on this thread while it lives.
class Current {
public:
    explicit Current(const Device& device)
        : m_device(device)
        , m_status(device.m_driver.ctxPushCurrent(device.m_context))
    {
    }
    ~Current()
    {
        Handle context = nullptr;
        if (m_status == Success)
            m_device.m_driver.ctxPopCurrent(&context);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    Result<void> check() const { return m_device.check(m_status, "cuCtxPushCurrent"); }

private:
    const Device& m_device;
    Status m_status;
};

} // namespace deltascope::cuda
