#pragma once

#include "deltascope/base/result.h"
#include "kernels/arguments.h"

#include <cstddef>
#include <cstdint>

namespace deltascope::cuda {

/// What the driver API calls CUresult, CUdevice, CUdeviceptr and so on; driver_check.cu compares them with its header.
using Status = int;
using DeviceNumber = int;
using Handle = void*; ///< a context, stream, module or function

constexpr Status Success = 0;
constexpr Status InvalidValue = 1;
constexpr Status OutOfMemory = 2;
constexpr Status NoBinary = 209; ///< the kernels of an image are for other devices

constexpr int MajorCapability = 75; ///< attributes of a device
constexpr int MinorCapability = 76;

constexpr int MemoryType = 2; ///< attributes of an address
constexpr int MemoryOrdinal = 9;
constexpr unsigned DeviceMemory = 2; ///< a value of MemoryType

constexpr unsigned EventWithoutTime = 2;
constexpr unsigned NonBlockingStream = 1;
constexpr unsigned PortableHost = 1; ///< pinned memory that every context may use
constexpr unsigned MappedHost = 2; ///< and kernels, at an address of their own; of memHostRegister

/// The functions of the driver API that are called, each named as there without "cu". Tests fill it with a driver of
/// their own (tests/support/fake_driver.h); nothing else is called. Thread-safe, as the driver is.
struct Driver {
    Status (*init)(unsigned flags) = nullptr;
    Status (*driverGetVersion)(int* version) = nullptr;
    Status (*getErrorName)(Status status, const char** name) = nullptr;
    Status (*deviceGetCount)(int* count) = nullptr;
    Status (*deviceGet)(DeviceNumber* device, int ordinal) = nullptr;
    Status (*deviceGetName)(char* name, int room, DeviceNumber device) = nullptr;
    Status (*deviceTotalMem)(std::size_t* bytes, DeviceNumber device) = nullptr;
    Status (*deviceGetAttribute)(int* value, int attribute, DeviceNumber device) = nullptr;
    Status (*devicePrimaryCtxRetain)(Handle* context, DeviceNumber device) = nullptr;
    Status (*devicePrimaryCtxRelease)(DeviceNumber device) = nullptr;
    Status (*ctxPushCurrent)(Handle context) = nullptr;
    Status (*ctxPopCurrent)(Handle* context) = nullptr;
    Status (*ctxGetStreamPriorityRange)(int* least, int* greatest) = nullptr;
    Status (*memGetInfo)(std::size_t* free, std::size_t* total) = nullptr;
    Status (*memAlloc)(Address* address, std::size_t bytes) = nullptr;
    Status (*memFree)(Address address) = nullptr;
    Status (*memHostAlloc)(void** host, std::size_t bytes, unsigned flags) = nullptr;
    Status (*memFreeHost)(void* host) = nullptr;
    Status (*memHostRegister)(void* host, std::size_t bytes, unsigned flags) = nullptr;
    Status (*memHostUnregister)(void* host) = nullptr;
    Status (*memHostGetDevicePointer)(Address* address, void* host, unsigned flags) = nullptr;
    Status (*memcpyHtoDAsync)(Address to, const void* from, std::size_t bytes, Handle stream) = nullptr;
    Status (*memcpyDtoHAsync)(void* to, Address from, std::size_t bytes, Handle stream) = nullptr;
    Status (*memcpyDtoDAsync)(Address to, Address from, std::size_t bytes, Handle stream) = nullptr;
    Status (*memsetD8Async)(Address to, unsigned char value, std::size_t bytes, Handle stream) = nullptr;
    Status (*pointerGetAttribute)(void* value, int attribute, Address address) = nullptr;
    Status (*eventCreate)(Handle* event, unsigned flags) = nullptr;
    Status (*eventDestroy)(Handle event) = nullptr;
    Status (*eventRecord)(Handle event, Handle stream) = nullptr;
    Status (*streamWaitEvent)(Handle stream, Handle event, unsigned flags) = nullptr;
    Status (*streamCreateWithPriority)(Handle* stream, unsigned flags, int priority) = nullptr;
    Status (*streamDestroy)(Handle stream) = nullptr;
    Status (*streamSynchronize)(Handle stream) = nullptr;
    Status (*moduleLoadData)(Handle* module, const void* image) = nullptr;
    Status (*moduleUnload)(Handle module) = nullptr;
    Status (*moduleGetFunction)(Handle* function, Handle module, const char* name) = nullptr;
    Status (*launchKernel)(Handle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                           unsigned blockY, unsigned blockZ, unsigned sharedBytes, Handle stream, void** parameters,
                           void** extra) = nullptr;
};

/// Calls `visit(member, symbol)` for each function: where it goes, and what libcuda.so.1 calls it. Those that changed
/// over time are named by their version.
template <class Visit> void eachFunction(Driver& driver, Visit&& visit)
{
    visit(driver.init, "cuInit");
    visit(driver.driverGetVersion, "cuDriverGetVersion");
    visit(driver.getErrorName, "cuGetErrorName");
    visit(driver.deviceGetCount, "cuDeviceGetCount");
    visit(driver.deviceGet, "cuDeviceGet");
    visit(driver.deviceGetName, "cuDeviceGetName");
    visit(driver.deviceTotalMem, "cuDeviceTotalMem_v2");
    visit(driver.deviceGetAttribute, "cuDeviceGetAttribute");
    visit(driver.devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    visit(driver.devicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
    visit(driver.ctxPushCurrent, "cuCtxPushCurrent_v2");
    visit(driver.ctxPopCurrent, "cuCtxPopCurrent_v2");
    visit(driver.ctxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange");
    visit(driver.memGetInfo, "cuMemGetInfo_v2");
    visit(driver.memAlloc, "cuMemAlloc_v2");
    visit(driver.memFree, "cuMemFree_v2");
    visit(driver.memHostAlloc, "cuMemHostAlloc");
    visit(driver.memFreeHost, "cuMemFreeHost");
    visit(driver.memHostRegister, "cuMemHostRegister_v2");
    visit(driver.memHostUnregister, "cuMemHostUnregister");
    visit(driver.memHostGetDevicePointer, "cuMemHostGetDevicePointer_v2");
    visit(driver.memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
    visit(driver.memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
    visit(driver.memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
    visit(driver.memsetD8Async, "cuMemsetD8Async");
    visit(driver.pointerGetAttribute, "cuPointerGetAttribute");
    visit(driver.eventCreate, "cuEventCreate");
    visit(driver.eventDestroy, "cuEventDestroy_v2");
    visit(driver.eventRecord, "cuEventRecord");
    visit(driver.streamWaitEvent, "cuStreamWaitEvent");
    visit(driver.streamCreateWithPriority, "cuStreamCreateWithPriority");
    visit(driver.streamDestroy, "cuStreamDestroy_v2");
    visit(driver.streamSynchronize, "cuStreamSynchronize");
    visit(driver.moduleLoadData, "cuModuleLoadData");
    visit(driver.moduleUnload, "cuModuleUnload");
    visit(driver.moduleGetFunction, "cuModuleGetFunction");
    visit(driver.launchKernel, "cuLaunchKernel");
}

/// The driver of this machine, loaded once and never unloaded. Errors: Unsupported (no driver, or one without a
/// function that is needed).
Result<Driver> systemDriver();

} // namespace deltascope::cuda
