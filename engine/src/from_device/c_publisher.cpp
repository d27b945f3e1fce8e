#include "from_device/c_publisher.h"

#include "deltascope/engine/device_backend.h"
#include "from_device/c_remedies.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <string_view>
#include <thread>

// Values of the C++ side become numbers and structs, and no exception leaves.

namespace deltascope {

namespace {

std::string textOrNothing(const char* text) { return text ? text : ""; }

/// An empty name is none, for the program as for this library.
std::string moduleNamed(const char* byCaller)
{
    const char* const byEnvironment = std::getenv("DELTASCOPE_CUDA_MODULE");
    for (const char* const name : { byCaller, byEnvironment }) {
        if (name && *name != '\0')
            return name;
    }
    Dl_info info {};
    if (dladdr(reinterpret_cast<const void*>(&ds_device_open), &info) == 0 || !info.dli_fname)
        return "libdeltascope_cuda.so";
    return std::filesystem::path(info.dli_fname).parent_path() / "deltascope" / "libdeltascope_cuda.so";
}

template <std::size_t Room> void copyText(std::string_view text, char (&to)[Room])
{
    std::size_t bytes = std::min(text.size(), Room - 1);
    while (bytes < text.size() && bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80)
        --bytes; // no half of a character
    std::copy_n(text.begin(), bytes, to);
    to[bytes] = '\0';
}

int report(const Error& error, DsError* to)
{
    if (to) {
        copyText(word(error.code), to->code);
        copyText(error.text, to->text);
        copyText(error.where, to->where);
        copyText(remedyForC(error), to->action);
    }
    return 1 + static_cast<int>(error.code);
}

template <class Work> int guarded(DsError* error, Work work)
{
    if (error)
        *error = {};
    try {
        const Result<void> done = work();
        return done ? 0 : report(done.error(), error);
    } catch (const std::bad_alloc&) {
        return report(Error { Code::NoSpace, "memory is full", {}, {}, "Free memory of this machine." }, error);
    } catch (const std::exception& thrown) {
        return report(Error { Code::Internal, thrown.what(), {}, {}, {} }, error);
    }
}

Result<DeviceTensor> tensorOf(const DsDeviceTensor& tensor)
{
    if (!tensor.name || !tensor.dtype || (tensor.rank > 0 && !tensor.shape))
        return fail(Code::Usage, "a tensor has no name, no dtype or no shape");
    const std::optional<Dtype> dtype = parseDtype(tensor.dtype);
    if (!dtype)
        return fail(Code::Usage,
                    fmt::format("tensor {} has the dtype {}, which is none of safetensors", tensor.name, tensor.dtype));
    DeviceTensor made;
    made.info.name = tensor.name;
    made.info.dtype = *dtype;
    for (std::uint32_t i = 0; i < tensor.rank; ++i)
        made.info.shape.push_back(tensor.shape[i]);
    if (const Result<std::uint64_t> bytes = checkedSize(made.info); !bytes) // of the caller, not of an object
        return fail(Code::Usage, bytes.error().text);
    made.address = tensor.address;
    return made;
}

DsDeviceStep stepOf(const DevicePublication& publication)
{
    const PublishedVersion& version = publication.version;
    DsDeviceStep step {};
    step.step = version.step;
    step.anchor = version.anchor ? 1 : 0;
    step.put = version.objects.empty() ? 0 : 1;
    step.changed_elements = version.changedElements;
    step.total_elements = version.totalElements;
    step.bytes_down = publication.bytesDown;
    for (const ObjectInfo& object : version.objects)
        step.bytes_put += object.sizeBytes;
    step.blocked_us = static_cast<std::uint64_t>(publication.blockedUs);
    std::string notices;
    for (const Error& notice : publication.notices)
        notices += (notices.empty() ? "" : "\n") + std::string(word(notice.code)) + ": " + notice.text;
    copyText(notices, step.notice);
    step.proven = publication.isProven ? 1 : 0;
    return step;
}

/// The fields that the caller has room for.
void fillStep(DsDeviceStep made, DsDeviceStep& to)
{
    made.size = to.size;
    std::memcpy(&to, &made, std::min(to.size, sizeof made));
}

} // namespace

Result<DsDevicePublisher*> openDevicePublisher(const DeviceModule& module, const DsDeviceOptions& options)
{
    if (!options.into || !options.layout)
        return fail(Code::Usage, "a publisher needs an address to publish into, and a layout");
    if (options.keep != DS_KEEP_ON_DEVICE && options.keep != DS_KEEP_ON_HOST)
        return fail(Code::Usage, fmt::format("keep is {}, and a DsKeep is 0 or 1", options.keep));
    DevicePublisherOptions own;
    own.into = options.into;
    own.base = textOrNothing(options.base);
    own.keepsOnDevice = options.keep == DS_KEEP_ON_DEVICE;
    own.threads = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
    own.publish.layout = options.layout;
    own.publish.encoding = textOrNothing(options.encoding);
    own.publish.checksum = textOrNothing(options.checksum);
    if (options.anchor_every > 0)
        own.publish.anchorEvery = options.anchor_every;
    own.publish.newEpoch = options.new_epoch != 0;
    own.publish.allowSuspect = options.allow_suspect != 0;
    DS_TRY(std::unique_ptr<DevicePublisher> opened, DevicePublisher::open(module, options.device, std::move(own)));
    return new DsDevicePublisher { std::move(opened) };
}

} // namespace deltascope

using namespace deltascope;

int ds_device_open(const DsDeviceOptions* options, DsDevicePublisher** publisher, DsError* error)
{
    if (publisher)
        *publisher = nullptr;
    return guarded(error, [&]() -> Result<void> {
        if (!options || !publisher || options->size == 0)
            return fail(Code::Usage, "options need their size, and a place for the publisher");
        DsDeviceOptions known {}; // a caller of an older version has fewer fields
        std::memcpy(&known, options, std::min(options->size, sizeof known));
        DS_TRY(const DeviceModule* const module, loadDeviceModule(moduleNamed(known.module)));
        DS_TRY(*publisher, openDevicePublisher(*module, known));
        return {};
    });
}

int ds_device_publish(DsDevicePublisher* publisher, const DsDeviceTensor* tensors, size_t count, void* stream,
                      const char* origin, DsError* error)
{
    return guarded(error, [&]() -> Result<void> {
        if (!publisher || (!tensors && count > 0))
            return fail(Code::Usage, "there is no publisher, or there are no tensors");
        std::vector<DeviceTensor> taken;
        taken.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            DS_TRY(DeviceTensor tensor, tensorOf(tensors[i]));
            taken.push_back(std::move(tensor));
        }
        return publisher->publisher->publish(std::move(taken), stream, textOrNothing(origin));
    });
}

int ds_device_wait(DsDevicePublisher* publisher, DsDeviceStep* step, DsError* error)
{
    return guarded(error, [&]() -> Result<void> {
        if (!publisher || (step && step->size == 0))
            return fail(Code::Usage, "there is no publisher, or the step does not say its size");
        if (step)
            fillStep(DsDeviceStep(), *step);
        DS_TRY(const DevicePublication publication, publisher->publisher->wait());
        if (step)
            fillStep(stepOf(publication), *step);
        return {};
    });
}

void ds_device_close(DsDevicePublisher* publisher) { delete publisher; }
