#include "support/fake_driver.h"

#include "kernels/host_kernels.h"

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace deltascope::test {

namespace {

using namespace cuda;

constexpr Status NotFound = 500;
constexpr Status IllegalAddress = 700;

/// Memory of the device: pages that host code may not touch.
struct Memory {
    std::byte* at = nullptr;
    std::size_t mapped = 0;
};

struct Stream {
    std::deque<std::function<Status()>> submitted;
    std::uint64_t done = 0; ///< of all that was ever submitted
    std::uint64_t all() const { return done + submitted.size(); }
};

/// A place in a stream.
struct Event {
    Stream* stream = nullptr; ///< null: the default one, where nothing waits
    std::uint64_t until = 0;
};

struct State {
    std::mutex mutex;
    FakeDriverPlan plan;
    FakeDriverCounts counts;
    Status lostWith = Success;
    std::map<Address, Memory> device;
    std::map<void*, std::size_t> pinned;
    std::set<Stream*> streams;
    std::set<Event*> events;
    std::vector<void*> current; ///< contexts; of all threads
};

State& state()
{
    static State& all = *new State; // backends that live as long as the process use it to the end
    return all;
}

const int Context = 0;
const int Image = 0;

/// Whether every later call fails, too; 802 and 803 are of a driver that never started.
bool endsContext(Status status)
{
    constexpr Status Contained = 226;
    return status >= IllegalAddress || status == Contained;
}

/// What every function begins with: the failure that is planned for this call, or that of a lost device.
Status begin(const char* function)
{
    State& all = state();
    if (++all.counts.calls == all.plan.failAtCall) {
        all.counts.failed = function;
        if (endsContext(all.plan.failWith))
            all.lostWith = all.plan.failWith;
        return all.plan.failWith;
    }
    return all.lostWith;
}

std::size_t pages(std::size_t bytes)
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

void openMemory(bool open)
{
    for (auto& [address, memory] : state().device)
        mprotect(memory.at, memory.mapped, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/// Whether a stretch lies in one buffer of the device.
bool isOfDevice(Address address, std::size_t bytes)
{
    const auto& device = state().device;
    auto found = device.upper_bound(address);
    return found != device.begin() && address + bytes <= (--found)->first + found->second.mapped;
}

/// Runs what stands in front of a place. With open memory.
Status runUntil(Stream& stream, std::uint64_t until)
{
    Status status = Success;
    for (; stream.done < until && !stream.submitted.empty(); ++stream.done) {
        const std::function<Status()> work = std::move(stream.submitted.front());
        stream.submitted.pop_front();
        if (status == Success)
            status = work();
    }
    return status;
}

Status run(Stream& stream)
{
    openMemory(true);
    const Status status = runUntil(stream, stream.all());
    openMemory(false);
    if (status != Success)
        state().lostWith = status;
    return status;
}

/// A function of the table: locked, counted, and failing where that is planned.
template <class Work> Status locked(const char* function, Work work)
{
    const std::lock_guard lock(state().mutex);
    if (const Status status = begin(function); status != Success)
        return status;
    return work(state());
}

Status init(unsigned)
{
    return locked("cuInit", [](State&) { return Success; });
}
Status driverGetVersion(int* version)
{
    return locked("cuDriverGetVersion", [&](State& all) { return *version = all.plan.version, Success; });
}
Status getErrorName(Status status, const char** name)
{
    *name = status == IllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
        : status == OutOfMemory      ? "CUDA_ERROR_OUT_OF_MEMORY"
                                     : "CUDA_ERROR_OF_A_TEST";
    return Success;
}
Status deviceGetCount(int* count)
{
    return locked("cuDeviceGetCount", [&](State& all) { return *count = all.plan.devices, Success; });
}
Status deviceGet(DeviceNumber* device, int ordinal)
{
    return locked("cuDeviceGet", [&](State&) { return *device = ordinal, Success; });
}
Status deviceGetName(char* name, int room, DeviceNumber)
{
    return locked("cuDeviceGetName", [&](State&) { return std::strncpy(name, "a device of a test", room), Success; });
}
constexpr std::size_t TotalBytes = std::size_t { 2 } << 30;

Status deviceTotalMem(std::size_t* bytes, DeviceNumber)
{
    return locked("cuDeviceTotalMem", [&](State&) { return *bytes = TotalBytes, Success; });
}
Status deviceGetAttribute(int* value, int attribute, DeviceNumber)
{
    return locked("cuDeviceGetAttribute",
                  [&](State&) { return *value = attribute == MajorCapability ? 9 : 0, Success; });
}
Status devicePrimaryCtxRetain(Handle* context, DeviceNumber)
{
    return locked("cuDevicePrimaryCtxRetain", [&](State& all) {
        ++all.counts.contexts;
        *context = const_cast<int*>(&Context);
        return Success;
    });
}

// What gives something back works always, as far as leaks are concerned: a lost device keeps nothing either.

Status devicePrimaryCtxRelease(DeviceNumber)
{
    const std::lock_guard lock(state().mutex);
    return --state().counts.contexts, Success;
}
Status ctxPushCurrent(Handle context)
{
    return locked("cuCtxPushCurrent", [&](State& all) { return all.current.push_back(context), Success; });
}
Status ctxPopCurrent(Handle* context)
{
    const std::lock_guard lock(state().mutex);
    if (state().current.empty())
        return InvalidValue;
    *context = state().current.back();
    state().current.pop_back();
    return Success;
}
Status ctxGetStreamPriorityRange(int* least, int* greatest)
{
    return locked("cuCtxGetStreamPriorityRange", [&](State&) { return *least = 0, *greatest = -5, Success; });
}
Status memGetInfo(std::size_t* free, std::size_t* total)
{
    return locked("cuMemGetInfo", [&](State& all) { return *free = all.plan.freeBytes, *total = TotalBytes, Success; });
}
Status memAlloc(Address* address, std::size_t bytes)
{
    return locked("cuMemAlloc", [&](State& all) {
        if (all.plan.isFull)
            return OutOfMemory;
        Memory memory { nullptr, pages(bytes) };
        void* const at = mmap(nullptr, memory.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes == 0 || at == MAP_FAILED)
            return bytes == 0 ? InvalidValue : OutOfMemory;
        memory.at = static_cast<std::byte*>(at);
        *address = reinterpret_cast<Address>(at);
        all.device[*address] = memory;
        ++all.counts.buffers;
        return Success;
    });
}
Status memFree(Address address)
{
    const std::lock_guard lock(state().mutex);
    const auto found = state().device.find(address);
    if (found == state().device.end())
        return InvalidValue;
    munmap(found->second.at, found->second.mapped);
    state().device.erase(found);
    --state().counts.buffers;
    return Success;
}
Status memHostAlloc(void** host, std::size_t bytes, unsigned)
{
    return locked("cuMemHostAlloc", [&](State& all) {
        *host = ::operator new(bytes);
        all.pinned[*host] = bytes;
        ++all.counts.buffers;
        return Success;
    });
}
Status memFreeHost(void* host)
{
    const std::lock_guard lock(state().mutex);
    if (state().pinned.erase(host) == 0)
        return InvalidValue;
    ::operator delete(host);
    --state().counts.buffers;
    return Success;
}
Status memHostRegister(void* host, std::size_t bytes, unsigned)
{
    return locked("cuMemHostRegister", [&](State& all) {
        all.pinned[host] = bytes;
        ++all.counts.buffers;
        return Success;
    });
}
Status memHostUnregister(void* host)
{
    const std::lock_guard lock(state().mutex);
    if (state().pinned.erase(host) == 0)
        return InvalidValue;
    --state().counts.buffers;
    return Success;
}
Status memHostGetDevicePointer(Address* address, void* host, unsigned)
{
    return locked("cuMemHostGetDevicePointer", [&](State& all) {
        if (!all.pinned.contains(host))
            return InvalidValue;
        *address = reinterpret_cast<Address>(host);
        return Success;
    });
}
Status memcpyHtoDAsync(Address to, const void* from, std::size_t bytes, Handle stream)
{
    return locked("cuMemcpyHtoDAsync", [&](State&) {
        static_cast<Stream*>(stream)->submitted.push_back([=] {
            if (!isOfDevice(to, bytes))
                return IllegalAddress;
            if (bytes > 0)
                std::memcpy(reinterpret_cast<void*>(to), from, bytes);
            return Success;
        });
        return Success;
    });
}
Status memcpyDtoHAsync(void* to, Address from, std::size_t bytes, Handle stream)
{
    return locked("cuMemcpyDtoHAsync", [&](State& all) {
        const bool flips = bytes > 0 && ++all.counts.downloads == all.plan.flipAtDownload;
        static_cast<Stream*>(stream)->submitted.push_back([=] {
            if (!isOfDevice(from, bytes))
                return IllegalAddress;
            if (bytes > 0)
                std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
            if (flips)
                static_cast<std::byte*>(to)[bytes / 2] ^= std::byte { 1 };
            return Success;
        });
        return Success;
    });
}
Status memcpyDtoDAsync(Address to, Address from, std::size_t bytes, Handle stream)
{
    return locked("cuMemcpyDtoDAsync", [&](State& all) {
        const bool flips = bytes > 0 && ++all.counts.deviceCopies == all.plan.flipAtDeviceCopy;
        static_cast<Stream*>(stream)->submitted.push_back([=] {
            if (!isOfDevice(to, bytes) || !isOfDevice(from, bytes))
                return IllegalAddress;
            if (bytes > 0)
                std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
            if (flips)
                reinterpret_cast<std::byte*>(to)[bytes / 2] ^= std::byte { 1 };
            return Success;
        });
        return Success;
    });
}
Status pointerGetAttribute(void* value, int attribute, Address address)
{
    return locked("cuPointerGetAttribute", [&](State& all) {
        if (!isOfDevice(address, 1))
            return InvalidValue;
        if (attribute == MemoryType)
            *static_cast<unsigned*>(value) = DeviceMemory;
        else
            *static_cast<int*>(value) = all.plan.memoryOn;
        return Success;
    });
}
Status eventCreate(Handle* event, unsigned)
{
    return locked("cuEventCreate", [&](State& all) {
        auto* const made = new Event;
        all.events.insert(made);
        ++all.counts.events;
        *event = made;
        return Success;
    });
}
Status eventDestroy(Handle event)
{
    const std::lock_guard lock(state().mutex);
    auto* const known = static_cast<Event*>(event);
    if (state().events.erase(known) == 0)
        return InvalidValue;
    delete known;
    --state().counts.events;
    return Success;
}
Status eventRecord(Handle event, Handle stream)
{
    return locked("cuEventRecord", [&](State&) {
        auto* const of = static_cast<Stream*>(stream);
        *static_cast<Event*>(event) = Event { of, of ? of->all() : 0 };
        return Success;
    });
}
Status streamWaitEvent(Handle stream, Handle event, unsigned)
{
    return locked("cuStreamWaitEvent", [&](State&) {
        static_cast<Stream*>(stream)->submitted.push_back([place = *static_cast<Event*>(event)] {
            const bool isThere = place.stream && state().streams.contains(place.stream);
            return isThere ? runUntil(*place.stream, place.until) : Success;
        });
        return Success;
    });
}
Status memsetD8Async(Address to, unsigned char value, std::size_t bytes, Handle stream)
{
    return locked("cuMemsetD8Async", [&](State&) {
        static_cast<Stream*>(stream)->submitted.push_back([=] {
            if (!isOfDevice(to, bytes))
                return IllegalAddress;
            std::memset(reinterpret_cast<void*>(to), value, bytes);
            return Success;
        });
        return Success;
    });
}
Status streamCreateWithPriority(Handle* stream, unsigned, int)
{
    return locked("cuStreamCreateWithPriority", [&](State& all) {
        auto* const made = new Stream;
        all.streams.insert(made);
        ++all.counts.streams;
        *stream = made;
        return Success;
    });
}
Status streamSynchronize(Handle stream)
{
    return locked("cuStreamSynchronize", [&](State&) { return run(*static_cast<Stream*>(stream)); });
}
Status streamDestroy(Handle stream)
{
    const std::lock_guard lock(state().mutex);
    auto* const known = static_cast<Stream*>(stream);
    if (state().streams.erase(known) == 0)
        return InvalidValue;
    delete known;
    --state().counts.streams;
    return Success;
}
Status moduleLoadData(Handle* module, const void* image)
{
    return locked("cuModuleLoadData", [&](State& all) {
        if (image != &Image)
            return InvalidValue;
        ++all.counts.modules;
        *module = const_cast<int*>(&Image);
        return Success;
    });
}
Status moduleUnload(Handle)
{
    const std::lock_guard lock(state().mutex);
    return --state().counts.modules, Success;
}
Status moduleGetFunction(Handle* function, Handle, const char* name)
{
    return locked("cuModuleGetFunction", [&](State&) {
        *function = const_cast<HostKernel*>(hostKernel(name));
        return *function ? Success : NotFound;
    });
}

Status launchKernel(Handle function, unsigned gridX, unsigned, unsigned, unsigned blockX, unsigned, unsigned, unsigned,
                    Handle stream, void** parameters, void**)
{
    return locked("cuLaunchKernel", [&](State& all) {
        if (++all.counts.launches == all.plan.skipLaunch)
            return Success;
        const HostKernel& kernel = *static_cast<const HostKernel*>(function);
        std::vector<std::byte> arguments(kernel.argumentBytes); // copied now, as the driver does
        std::memcpy(arguments.data(), parameters[0], arguments.size());
        static_cast<Stream*>(stream)->submitted.push_back([&kernel, gridX, blockX, arguments = std::move(arguments)] {
            kernel.run(gridX, blockX, arguments.data());
            return Success;
        });
        return Success;
    });
}

} // namespace

Result<Driver> fakeDriver()
{
    Driver driver;
    driver.init = init;
    driver.driverGetVersion = driverGetVersion;
    driver.getErrorName = getErrorName;
    driver.deviceGetCount = deviceGetCount;
    driver.deviceGet = deviceGet;
    driver.deviceGetName = deviceGetName;
    driver.deviceTotalMem = deviceTotalMem;
    driver.deviceGetAttribute = deviceGetAttribute;
    driver.devicePrimaryCtxRetain = devicePrimaryCtxRetain;
    driver.devicePrimaryCtxRelease = devicePrimaryCtxRelease;
    driver.ctxPushCurrent = ctxPushCurrent;
    driver.ctxPopCurrent = ctxPopCurrent;
    driver.ctxGetStreamPriorityRange = ctxGetStreamPriorityRange;
    driver.memGetInfo = memGetInfo;
    driver.memAlloc = memAlloc;
    driver.memFree = memFree;
    driver.memHostAlloc = memHostAlloc;
    driver.memFreeHost = memFreeHost;
    driver.memHostRegister = memHostRegister;
    driver.memHostUnregister = memHostUnregister;
    driver.memHostGetDevicePointer = memHostGetDevicePointer;
    driver.memcpyHtoDAsync = memcpyHtoDAsync;
    driver.memcpyDtoHAsync = memcpyDtoHAsync;
    driver.memcpyDtoDAsync = memcpyDtoDAsync;
    driver.memsetD8Async = memsetD8Async;
    driver.pointerGetAttribute = pointerGetAttribute;
    driver.eventCreate = eventCreate;
    driver.eventDestroy = eventDestroy;
    driver.eventRecord = eventRecord;
    driver.streamWaitEvent = streamWaitEvent;
    driver.streamCreateWithPriority = streamCreateWithPriority;
    driver.streamDestroy = streamDestroy;
    driver.streamSynchronize = streamSynchronize;
    driver.moduleLoadData = moduleLoadData;
    driver.moduleUnload = moduleUnload;
    driver.moduleGetFunction = moduleGetFunction;
    driver.launchKernel = launchKernel;
    return driver;
}

cuda::KernelImage fakeImage() { return { &Image, "8.0, 9.0" }; }

void plan(const FakeDriverPlan& plan)
{
    const std::lock_guard lock(state().mutex);
    state().plan = plan;
    state().counts.calls = 0;
    state().counts.launches = 0;
    state().counts.downloads = 0;
    state().counts.deviceCopies = 0;
    state().counts.failed.clear();
    state().lostWith = Success;
}

FakeDriverCounts counts()
{
    const std::lock_guard lock(state().mutex);
    return state().counts;
}

} // namespace deltascope::test
