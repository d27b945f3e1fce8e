#include "module/module.h"

#include "module/queue.h"

#include <algorithm>
#include <new>

// The functions of DeviceModule: values of the C++ side become codes and faults, and no exception leaves.

namespace deltascope {

struct DeviceHandle {
    std::unique_ptr<cuda::Device> device;
};

struct DeviceQueueHandle {
    std::unique_ptr<cuda::Queue> queue;
};

} // namespace deltascope

namespace deltascope::cuda {

namespace {

Result<Driver> (*findDriver)() = nullptr;
KernelImage kernels;

template <std::size_t Room> void copyText(const std::string& text, char (&to)[Room])
{
    const std::size_t bytes = std::min(text.size(), Room - 1);
    std::copy_n(text.begin(), bytes, to);
    to[bytes] = '\0';
}

std::int32_t report(const Error& error, DeviceFault* fault)
{
    fault->code = static_cast<std::int32_t>(error.code);
    copyText(error.text, fault->text);
    copyText(error.action, fault->action);
    return 1;
}

/// 0, or what to return instead.
template <class Work> std::int32_t guarded(DeviceFault* fault, Work work)
{
    try {
        const Result<void> done = work();
        return done ? 0 : report(done.error(), fault);
    } catch (const std::bad_alloc&) {
        return report(Error { Code::NoSpace, "memory is full", {}, {}, {} }, fault);
    }
}

std::int32_t open(std::int32_t ordinal, DeviceHandle** device, DeviceFault* fault)
{
    return guarded(fault, [&]() -> Result<void> {
        DS_TRY(const Driver driver, findDriver());
        DS_TRY(std::unique_ptr<Device> opened, Device::open(driver, kernels, ordinal));
        *device = new DeviceHandle { std::move(opened) };
        return {};
    });
}

void close(DeviceHandle* device) { delete device; }

/// What is known of a device that need not be open. `check`: of a call.
template <class Check> Result<void> lookAt(const Driver& driver, DeviceNumber number, DeviceInfo& info, Check&& check)
{
    info = {};
    std::size_t total = 0;
    DS_CHECK(check(driver.deviceGetName(info.name, sizeof info.name, number), "cuDeviceGetName"));
    DS_CHECK(check(driver.deviceTotalMem(&total, number), "cuDeviceTotalMem"));
    DS_CHECK(check(driver.driverGetVersion(&info.driverVersion), "cuDriverGetVersion"));
    DS_CHECK(check(driver.deviceGetAttribute(&info.major, MajorCapability, number), "cuDeviceGetAttribute"));
    DS_CHECK(check(driver.deviceGetAttribute(&info.minor, MinorCapability, number), "cuDeviceGetAttribute"));
    info.totalBytes = total;
    return {};
}

std::int32_t look(std::int32_t ordinal, DeviceInfo* info, DeviceFault* fault)
{
    return guarded(fault, [&]() -> Result<void> {
        DS_TRY(const Driver driver, findDriver());
        DS_TRY(const DeviceNumber number, Device::find(driver, ordinal));
        return lookAt(driver, number, *info,
                      [&](Status status, const char* call) { return Device::check(driver, status, call); });
    });
}

std::int32_t describe(DeviceHandle* handle, DeviceInfo* info, DeviceFault* fault)
{
    return guarded(fault, [&]() -> Result<void> {
        const Device& device = *handle->device;
        const Driver& driver = device.driver();
        const Current current(device);
        DS_CHECK(current.check());
        std::size_t free = 0;
        std::size_t total = 0;
        DS_CHECK(lookAt(driver, device.number(), *info,
                        [&](Status status, const char* call) { return device.check(status, call); }));
        DS_CHECK(device.check(driver.memGetInfo(&free, &total), "cuMemGetInfo"));
        info->freeBytes = free;
        info->totalBytes = total;
        return {};
    });
}

std::int32_t openQueue(DeviceHandle* device, DeviceQueueHandle** queue, DeviceFault* fault)
{
    return guarded(fault, [&]() -> Result<void> {
        DS_TRY(std::unique_ptr<Queue> opened, Queue::open(*device->device));
        *queue = new DeviceQueueHandle { std::move(opened) };
        return {};
    });
}

void closeQueue(DeviceQueueHandle* queue) { delete queue; }

std::int32_t allocate(DeviceQueueHandle* queue, std::uint64_t bytes, std::uint64_t* address, DeviceFault* fault)
{
    return guarded(fault, [&]() -> Result<void> {
        DS_TRY(*address, queue->queue->allocate(bytes));
        return {};
    });
}

void release(DeviceQueueHandle* queue, std::uint64_t address) { queue->queue->release(address); }

std::int32_t allocateHost(DeviceQueueHandle* queue, std::uint64_t bytes, void** host, DeviceFault* fault)
{
    return guarded(fault, [&]() -> Result<void> {
        DS_TRY(*host, queue->queue->allocateHost(bytes));
        return {};
    });
}

void releaseHost(DeviceQueueHandle* queue, void* host) { queue->queue->releaseHost(host); }

std::int32_t pin(DeviceQueueHandle* queue, void* host, std::uint64_t bytes, std::uint64_t* address, DeviceFault* fault)
{
    return guarded(fault, [&]() -> Result<void> {
        DS_TRY(*address, queue->queue->pin(host, bytes));
        return {};
    });
}

void unpin(DeviceQueueHandle* queue, void* host) { queue->queue->unpin(host); }

std::int32_t upload(DeviceQueueHandle* queue, std::uint64_t to, const void* from, std::uint64_t bytes,
                    DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->upload(to, from, bytes); });
}

std::int32_t download(DeviceQueueHandle* queue, void* to, std::uint64_t from, std::uint64_t bytes, DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->download(to, from, bytes); });
}

std::int32_t copy(DeviceQueueHandle* queue, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                  DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->copy(to, from, bytes); });
}

std::int32_t follow(DeviceQueueHandle* queue, void* stream, DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->follow(stream); });
}

std::int32_t expectOwn(DeviceQueueHandle* queue, std::uint64_t address, std::uint64_t bytes, DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->expectOwn(address, bytes); });
}

std::int32_t extract(DeviceQueueHandle* queue, const DevicePair* pairs, std::uint64_t pairCount,
                     std::uint32_t elementBytes, DeviceChanges* changes, DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->extract({ pairs, pairCount }, elementBytes, changes); });
}

std::int32_t find(DeviceQueueHandle* queue, const DevicePair* pairs, std::uint64_t pairCount,
                  std::uint32_t elementBytes, const DeviceFound* found, DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->find({ pairs, pairCount }, elementBytes, *found); });
}

std::int32_t sums(DeviceQueueHandle* queue, const DevicePair* pairs, std::uint64_t pairCount,
                  std::uint32_t elementBytes, std::uint32_t* sums, DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->sums({ pairs, pairCount }, elementBytes, sums); });
}

std::int32_t moments(DeviceQueueHandle* queue, const DevicePair* pairs, std::uint64_t pairCount, std::uint32_t dtype,
                     void* moments, DeviceFault* fault)
{
    return guarded(fault, [&] {
        return queue->queue->moments({ pairs, pairCount }, static_cast<Dtype>(dtype),
                                     static_cast<DiffMoments*>(moments));
    });
}

std::int32_t replay(DeviceQueueHandle* queue, const DeviceReplay* blocks, std::uint64_t blockCount,
                    const DevicePiece* pieces, std::uint32_t elementBytes, const DeviceBits* bits,
                    DevicePatchCounts* counts, DeviceFault* fault)
{
    return guarded(fault, [&] {
        return queue->queue->replay({ blocks, blockCount }, pieces, elementBytes, *bits, counts);
    });
}

std::int32_t hash(DeviceQueueHandle* queue, const DeviceLeaf* leaves, std::uint64_t leafCount, DeviceDigest* digests,
                  DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->hash({ leaves, leafCount }, digests); });
}

std::int32_t wait(DeviceQueueHandle* queue, DeviceFault* fault)
{
    return guarded(fault, [&] { return queue->queue->wait(); });
}

} // namespace

const DeviceModule* moduleOver(Result<Driver> (*driver)(), KernelImage image, const char* build)
{
    findDriver = driver;
    kernels = image;
    static DeviceModule functions { sizeof(DeviceModule),
                                    nullptr,
                                    look,
                                    open,
                                    close,
                                    describe,
                                    openQueue,
                                    closeQueue,
                                    allocate,
                                    release,
                                    allocateHost,
                                    releaseHost,
                                    pin,
                                    unpin,
                                    upload,
                                    download,
                                    copy,
                                    follow,
                                    expectOwn,
                                    extract,
                                    find,
                                    sums,
                                    moments,
                                    replay,
                                    hash,
                                    wait };
    functions.build = build;
    return &functions;
}

} // namespace deltascope::cuda
