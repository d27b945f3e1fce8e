#include "from_device/device_publisher.h"

#include "deltascope/engine/memory_state.h"
#include "format/common/quote_name.h"
#include "from_device/proven_state.h"
#include "publish/writer_choice.h"

#include <chrono>
#include <fmt/format.h>
#include <new>
#include <utility>

namespace deltascope {

namespace {

std::int64_t systemNowUs()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::int64_t steadyNowUs()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// A device, as long as its queue.
class OwnDevice {
public:
    OwnDevice(const DeviceModule& module, DeviceHandle* handle)
        : m_module(module)
        , m_handle(handle)
    {
    }
    ~OwnDevice() { m_module.close(m_handle); }
    OwnDevice(const OwnDevice&) = delete;
    OwnDevice& operator=(const OwnDevice&) = delete;

private:
    const DeviceModule& m_module;
    DeviceHandle* m_handle;
};

} // namespace

struct DevicePublisher::Parts {
    std::unique_ptr<FileSystem> disk = makeFileSystem();
    Workbench bench;
    TaskContext task;
    std::unique_ptr<OwnDevice> device;
    std::unique_ptr<KeptModel> kept;
    std::optional<Publisher> publisher;
    /// What is being put. Until it is there, the kept model and the publisher belong to it.
    std::future<Result<DevicePublication>> running;
    std::optional<Result<DevicePublication>> ended;
    bool isReported = true; ///< the caller knows how that ended
    std::string origin; ///< of the step that was taken last
    bool isKept = false; ///< the run ends with the kept model
    bool hashesOnDevice = true;
    std::optional<Error> notHashed; ///< a notice that no step has said yet

    Result<DevicePublication> put(bool isFirst, const std::string& origin, DevicePublication publication)
    {
        std::optional<DeviceChangeSet> changes;
        if (!isFirst) {
            DS_TRY(changes, kept->collect());
            publication.bytesDown = changes->bytesDown;
        }
        std::vector<BorrowedTensor> tensors;
        for (std::size_t i = 0; i < kept->tensors().size(); ++i)
            tensors.push_back({ kept->tensors()[i], kept->bytesOf(i) });
        DS_TRY(const std::unique_ptr<State> state, stateOfMemory("the memory of the trainer", std::move(tensors)));
        if (isFirst) { // the run tells what was published before, if anything was
            DS_TRY(publication.version, publishProven(nullptr, *state, origin, publication));
            return publication;
        }
        const std::unique_ptr<State> now = changedState(*state, changes->tensors);
        DS_TRY(publication.version, publishProven(state.get(), *now, origin, publication));
        kept->accept(*changes);
        return publication;
    }

    /// Where the device keeps a copy, its hashes have to be those of the state.
    Result<PublishedVersion> publishProven(const State* from, const State& to, const std::string& origin,
                                           DevicePublication& publication)
    {
        Result<std::optional<std::vector<TensorNode>>> nodes = std::optional<std::vector<TensorNode>>();
        if (hashesOnDevice)
            nodes = kept->hashOnDevice();
        if (!nodes) { // the state is what came down, as where the device keeps no copy
            hashesOnDevice = false; // each attempt costs the copy on the device
            Error notice = std::move(nodes.error());
            notice.text = "the device did not hash its copy of the model (" + notice.text
                + "); this step and those that follow are put without its proof";
            notHashed = std::move(notice);
        }
        if (!nodes || !*nodes)
            return publisher->publish(from, to, origin, task);
        const ProvenState proven(to, std::move(**nodes));
        DS_TRY(PublishedVersion version, publisher->publish(from, proven, origin, task));
        publication.isProven = proven.isProven();
        return version;
    }

    void finish()
    {
        if (!running.valid())
            return;
        try {
            ended = running.get();
        } catch (const std::bad_alloc&) {
            ended = fail(Code::NoSpace, "memory is full");
        } catch (const std::exception& thrown) {
            ended = fail(Code::Internal, thrown.what());
        }
        isKept = isKept || *ended;
        isReported = false;
    }

    /// A step says what it and those before it, which may not have been put, have not said yet.
    void addNotices(DevicePublication& publication)
    {
        for (Error& notice : kept->newNotices())
            publication.notices.push_back(std::move(notice));
        if (notHashed)
            publication.notices.push_back(std::move(*notHashed));
        notHashed.reset();
    }
};

DevicePublisher::DevicePublisher(std::unique_ptr<Parts> parts)
    : m_parts(std::move(parts))
{
}

DevicePublisher::~DevicePublisher() { m_parts->finish(); }

Result<std::unique_ptr<DevicePublisher>> DevicePublisher::open(const DeviceModule& module, int ordinal,
                                                               DevicePublisherOptions options)
{
    DS_TRY(const WriterChoice writers, WriterChoice::of(options.publish, {}));
    if (!writers.hasAnchors() && options.base.empty())
        return fail(Code::BaseMissing,
                    fmt::format("a run in {} begins on a checkpoint, and none is named", options.publish.layout),
                    options.into);
    auto parts = std::make_unique<Parts>();
    DeviceFault fault {};
    DeviceHandle* device = nullptr;
    if (module.open(ordinal, &device, &fault) != 0)
        return fail(errorOf(fault));
    parts->device = std::make_unique<OwnDevice>(module, device);

    Workbench& bench = parts->bench;
    bench.layouts = builtinLayouts();
    bench.disk = parts->disk.get();
    bench.threads = options.threads;
    bench.nowUs = systemNowUs;
    DS_TRY(std::shared_ptr<const Backend> processor, bench.chooseBackend());
    parts->kept = std::make_unique<KeptModel>([&module, device] { return DeviceQueue::open(module, device); },
                                              std::move(processor), options.keepsOnDevice);

    const Address into = Address(options.into);
    DS_CHECK(bench.stores->create(into, parts->task));
    DS_TRY(std::shared_ptr<ObjectStore> store, bench.stores->open(into));
    OpenOptions base;
    base.layout = options.publish.layout;
    if (!options.base.empty()) {
        DS_TRY(base.base, bench.stores->open(Address(options.base)));
    }
    DS_TRY(Publisher publisher, Publisher::open(bench, std::move(store), base, options.publish, parts->task));
    parts->publisher.emplace(std::move(publisher));
    return std::unique_ptr<DevicePublisher>(new DevicePublisher(std::move(parts)));
}

Result<void> DevicePublisher::publish(std::vector<DeviceTensor> tensors, void* stream, std::string origin)
{
    Parts& parts = *m_parts;
    parts.finish();
    if (!std::exchange(parts.isReported, true) && !*parts.ended) {
        Error error = parts.ended->error();
        error.text = fmt::format("the step before, {}, was not put: {}", quoteName(parts.origin), error.text);
        return fail(std::move(error));
    }
    const std::int64_t begun = steadyNowUs();
    DevicePublication publication;
    const bool isFirst = !parts.isKept;
    if (isFirst) {
        DS_TRY(publication.bytesDown, parts.kept->begin(std::move(tensors), stream));
    } else {
        DS_CHECK(parts.kept->compare(std::move(tensors), stream));
    }
    parts.ended.reset();
    parts.origin = origin;
    publication.blockedUs = steadyNowUs() - begun;
    parts.running =
        std::async(std::launch::async,
                   [&parts, isFirst, origin = std::move(origin), publication = std::move(publication)]() mutable {
                       return parts.put(isFirst, origin, std::move(publication));
                   });
    return {};
}

Result<DevicePublication> DevicePublisher::wait()
{
    Parts& parts = *m_parts;
    parts.finish();
    if (!parts.ended)
        return fail(Code::Usage, "no step was taken");
    parts.isReported = true;
    if (*parts.ended)
        parts.addNotices(**parts.ended);
    return *parts.ended;
}

} // namespace deltascope
