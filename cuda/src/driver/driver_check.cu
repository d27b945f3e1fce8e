#include "driver/driver.h"

#include <cstddef>
#include <cuda.h>
#include <type_traits>

// Nothing is called here: this file does not compile where the table differs from the header of the driver API.

namespace deltascope::cuda {
namespace {

template <class Own, class Theirs> struct IsSame : std::is_same<Own, Theirs> {
};
template <> struct IsSame<Status, CUresult> : std::bool_constant<sizeof(CUresult) == sizeof(Status)> {
};
template <> struct IsSame<Address, CUdeviceptr> : std::bool_constant<sizeof(CUdeviceptr) == sizeof(Address)> {
};
template <> struct IsSame<Handle, CUcontext> : std::true_type {
};
template <> struct IsSame<Handle, CUstream> : std::true_type {
};
template <> struct IsSame<Handle, CUmodule> : std::true_type {
};
template <> struct IsSame<Handle, CUfunction> : std::true_type {
};
template <> struct IsSame<Handle, CUevent> : std::true_type {
};
template <> struct IsSame<int, CUpointer_attribute> : std::bool_constant<sizeof(CUpointer_attribute) == sizeof(int)> {
};
template <> struct IsSame<int, CUdevice_attribute> : std::bool_constant<sizeof(CUdevice_attribute) == sizeof(int)> {
};
template <class Own, class Theirs> struct IsSame<Own*, Theirs*> : IsSame<Own, Theirs> {
};

template <class Own, class Theirs> struct Agree;
template <class... Own, class... Theirs>
struct Agree<Status (*)(Own...), CUresult (*)(Theirs...)> : std::conjunction<IsSame<Own, Theirs>...> {
};

#define DELTASCOPE_AGREES(member, function)                                                                            \
    static_assert(Agree<decltype(Driver::member), decltype(&function)>::value, #function " takes something else");

DELTASCOPE_AGREES(init, cuInit)
DELTASCOPE_AGREES(driverGetVersion, cuDriverGetVersion)
DELTASCOPE_AGREES(getErrorName, cuGetErrorName)
DELTASCOPE_AGREES(deviceGetCount, cuDeviceGetCount)
DELTASCOPE_AGREES(deviceGet, cuDeviceGet)
DELTASCOPE_AGREES(deviceGetName, cuDeviceGetName)
DELTASCOPE_AGREES(deviceTotalMem, cuDeviceTotalMem)
DELTASCOPE_AGREES(deviceGetAttribute, cuDeviceGetAttribute)
DELTASCOPE_AGREES(devicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)
DELTASCOPE_AGREES(devicePrimaryCtxRelease, cuDevicePrimaryCtxRelease)
DELTASCOPE_AGREES(ctxPushCurrent, cuCtxPushCurrent)
DELTASCOPE_AGREES(ctxPopCurrent, cuCtxPopCurrent)
DELTASCOPE_AGREES(ctxGetStreamPriorityRange, cuCtxGetStreamPriorityRange)
DELTASCOPE_AGREES(memGetInfo, cuMemGetInfo)
DELTASCOPE_AGREES(memAlloc, cuMemAlloc)
DELTASCOPE_AGREES(memFree, cuMemFree)
DELTASCOPE_AGREES(memHostAlloc, cuMemHostAlloc)
DELTASCOPE_AGREES(memFreeHost, cuMemFreeHost)
DELTASCOPE_AGREES(memHostRegister, cuMemHostRegister)
DELTASCOPE_AGREES(memHostUnregister, cuMemHostUnregister)
DELTASCOPE_AGREES(memHostGetDevicePointer, cuMemHostGetDevicePointer)
DELTASCOPE_AGREES(memcpyHtoDAsync, cuMemcpyHtoDAsync)
DELTASCOPE_AGREES(memcpyDtoHAsync, cuMemcpyDtoHAsync)
DELTASCOPE_AGREES(memcpyDtoDAsync, cuMemcpyDtoDAsync)
DELTASCOPE_AGREES(memsetD8Async, cuMemsetD8Async)
DELTASCOPE_AGREES(pointerGetAttribute, cuPointerGetAttribute)
DELTASCOPE_AGREES(eventCreate, cuEventCreate)
DELTASCOPE_AGREES(eventDestroy, cuEventDestroy)
DELTASCOPE_AGREES(eventRecord, cuEventRecord)
DELTASCOPE_AGREES(streamWaitEvent, cuStreamWaitEvent)
DELTASCOPE_AGREES(streamCreateWithPriority, cuStreamCreateWithPriority)
DELTASCOPE_AGREES(streamDestroy, cuStreamDestroy)
DELTASCOPE_AGREES(streamSynchronize, cuStreamSynchronize)
DELTASCOPE_AGREES(moduleLoadData, cuModuleLoadData)
DELTASCOPE_AGREES(moduleUnload, cuModuleUnload)
DELTASCOPE_AGREES(moduleGetFunction, cuModuleGetFunction)
DELTASCOPE_AGREES(launchKernel, cuLaunchKernel)

static_assert(Success == CUDA_SUCCESS && OutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(MajorCapability == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
              && MinorCapability == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(MemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE && MemoryOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
              && DeviceMemory == CU_MEMORYTYPE_DEVICE);
static_assert(EventWithoutTime == CU_EVENT_DISABLE_TIMING);
static_assert(NonBlockingStream == CU_STREAM_NON_BLOCKING && PortableHost == CU_MEMHOSTALLOC_PORTABLE);
static_assert(PortableHost == CU_MEMHOSTREGISTER_PORTABLE && MappedHost == CU_MEMHOSTREGISTER_DEVICEMAP);

} // namespace
} // namespace deltascope::cuda
