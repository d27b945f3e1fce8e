#include "module/device.h"

#include "kernels/list.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace deltascope::cuda {

namespace {

/// CUDA 13 is the oldest whose kernels this module has: the 580 series.
constexpr int OldestDriver = 13000;

/// Failures of the driver API that end the context: what was submitted is lost, and so is what follows. Deinitialized,
/// errors of memory and links that are not corrected or were contained, what a kernel does wrong, a client that the
/// server of MPS has ended, and what an external device does wrong.
bool endsContext(Status status)
{
    constexpr std::array Ends {
        4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999
    };
    return std::find(Ends.begin(), Ends.end(), status) != Ends.end();
}

/// What a driver says that does not start.
constexpr Status NoDevice = 100;
constexpr Status NotReady = 802;
constexpr Status OtherVersion = 803;

const char* remedyOfStart(Status status)
{
    switch (status) {
    case NotReady:
        return "Wait until the system has started its devices (nvidia-fabricmanager), and try again.";
    case OtherVersion:
        return "Restart the machine: the kernel still runs another version of the driver than libcuda.so.1.";
    default:
        return "nvidia-smi shows what the driver sees.";
    }
}

std::string capabilityOf(const Driver& driver, DeviceNumber number)
{
    int major = 0;
    int minor = 0;
    const bool isKnown = driver.deviceGetAttribute(&major, MajorCapability, number) == Success
        && driver.deviceGetAttribute(&minor, MinorCapability, number) == Success;
    return isKnown ? std::to_string(major) + '.' + std::to_string(minor) : "that is not known";
}

constexpr const char* KernelNames[] = {
#define KERNEL(bytes, Word) "sum_" #bytes, "extract_" #bytes, "replay_" #bytes,
    DELTASCOPE_KERNELS_OF_WORDS(KERNEL)
#undef KERNEL
#define KERNEL(type) "moments_" #type,
        DELTASCOPE_KERNELS_OF_NUMBERS(KERNEL)
#undef KERNEL
            "hash_leaves",
};

} // namespace

Result<DeviceNumber> Device::find(const Driver& driver, int ordinal)
{
    int version = 0;
    DS_CHECK(check(driver, driver.driverGetVersion(&version), "cuDriverGetVersion"));
    if (version < OldestDriver)
        return fail(Code::Unsupported,
                    "the driver knows CUDA " + std::to_string(version / 1000) + '.'
                        + std::to_string(version % 1000 / 10) + ", and CUDA 13.0 is needed",
                    "libcuda.so.1", "Install a driver of the 580 series or a newer one.");
    int count = 0;
    Status status = driver.init(0);
    const char* call = "cuInit";
    if (status == Success) {
        status = driver.deviceGetCount(&count);
        call = "cuDeviceGetCount";
    }
    if (status != Success && status != NoDevice)
        return fail(Code::Unsupported,
                    "the driver of NVIDIA does not start: " + check(driver, status, call).error().text, "libcuda.so.1",
                    remedyOfStart(status));
    if (count == 0)
        return fail(Code::Unsupported, "the driver of NVIDIA finds no device", "libcuda.so.1", remedyOfStart(NoDevice));
    if (ordinal < 0 || ordinal >= count)
        return fail(Code::Unsupported,
                    "the driver shows " + std::to_string(count) + " devices, and no number " + std::to_string(ordinal),
                    "libcuda.so.1", "CUDA_VISIBLE_DEVICES says which devices this process sees.");
    DeviceNumber number = 0;
    DS_CHECK(check(driver, driver.deviceGet(&number, ordinal), "cuDeviceGet"));
    return number;
}

Result<std::unique_ptr<Device>> Device::open(const Driver& driver, KernelImage image, int ordinal)
{
    std::unique_ptr<Device> device(new Device(driver));
    DS_TRY(device->m_number, find(driver, ordinal));
    DS_CHECK(
        device->check(driver.devicePrimaryCtxRetain(&device->m_context, device->m_number), "cuDevicePrimaryCtxRetain"));
    DS_CHECK(device->loadKernels(image));
    return device;
}

Device::~Device()
{
    if (!m_context)
        return;
    if (m_module) {
        const Current current(*this);
        m_driver.moduleUnload(m_module);
    }
    m_driver.devicePrimaryCtxRelease(m_number);
}

Result<void> Device::loadKernels(KernelImage image)
{
    const Current current(*this);
    DS_CHECK(current.check());
    if (const Status status = m_driver.moduleLoadData(&m_module, image.data); status != Success) {
        m_module = nullptr;
        if (status == NoBinary)
            return fail(
                Code::Unsupported,
                "the module has no kernels for a device of compute capability " + capabilityOf(m_driver, m_number)
                    + ": it has those for " + image.capabilities + " and newer ones",
                {}, "Use a device of one of these, or build the module for this one (DELTASCOPE_CUDA_TARGETS).");
        DS_CHECK(check(status, "cuModuleLoadData"));
    }
    for (const char* const name : KernelNames) {
        Handle& function = m_kernels[name];
        DS_CHECK(check(m_driver.moduleGetFunction(&function, m_module, name), "cuModuleGetFunction"));
    }
    return {};
}

Result<Handle> Device::kernel(const std::string& name) const
{
    const auto found = m_kernels.find(name);
    if (found == m_kernels.end())
        return fail(Code::Internal, "there is no kernel " + name);
    return found->second;
}

Result<void> Device::check(Status status, const char* call) const
{
    if (endsContext(status))
        m_lostWith = status;
    return check(m_driver, status, call);
}

Result<void> Device::check(const Driver& driver, Status status, const char* call)
{
    if (status == Success)
        return {};
    const char* name = nullptr;
    const bool isKnown = driver.getErrorName(status, &name) == Success && name;
    const std::string text = std::string(call) + " fails: " + (isKnown ? name : "status " + std::to_string(status));
    if (status == OutOfMemory && std::string_view(call).starts_with("cuMemHost"))
        return fail(
            Code::NoSpace, text, {},
            "Free memory of this machine, or let the process lock more of it (ulimit -l, limits of a container).");
    if (status == OutOfMemory)
        return fail(Code::NoSpace, text, {}, "Free memory of the device.");
    return fail(Code::Io, text, {}, "nvidia-smi and the kernel's log say more of the device.");
}

Result<void> Device::expectOwn(Address address) const
{
    unsigned type = 0;
    int ordinal = -1;
    Status status = m_driver.pointerGetAttribute(&type, MemoryType, address);
    if (status == Success)
        status = m_driver.pointerGetAttribute(&ordinal, MemoryOrdinal, address);
    if (status != InvalidValue) // which an address has that the driver does not know
        DS_CHECK(check(status, "cuPointerGetAttribute"));
    if (status == InvalidValue || type != DeviceMemory)
        return fail(Code::Usage, "its address is not in the memory of a device", {},
                    "Hand over the address of device memory, as data_ptr() of a CUDA tensor gives it.");
    if (ordinal != m_number)
        return fail(Code::Usage,
                    "it lies on device " + std::to_string(ordinal) + ", and device " + std::to_string(m_number)
                        + " was opened",
                    {}, "Open the publisher on the device of the tensors.");
    return {};
}

Result<void> Device::expectAlive() const
{
    if (const Status status = m_lostWith; status != Success)
        return check(status, "the device, which does not recover from what failed before,");
    return {};
}

} // namespace deltascope::cuda
