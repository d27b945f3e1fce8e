#include "from_device/kept_model.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace deltascope {

namespace {

void sortByName(std::vector<DeviceTensor>& tensors)
{
    std::sort(tensors.begin(), tensors.end(),
              [](const DeviceTensor& a, const DeviceTensor& b) { return a.info.name < b.info.name; });
}

/// The high half first, each half from its highest byte on.
Digest128 canonical(const DeviceDigest& digest)
{
    constexpr unsigned HalfBytes = 8;
    Digest128 bytes;
    for (unsigned i = 0; i < HalfBytes; ++i) {
        bytes[i] = static_cast<std::byte>(digest.high >> (8 * (HalfBytes - 1 - i)));
        bytes[HalfBytes + i] = static_cast<std::byte>(digest.low >> (8 * (HalfBytes - 1 - i)));
    }
    return bytes;
}

std::vector<DeviceStretch> stretchesOf(const std::vector<DeviceTensor>& tensors)
{
    std::vector<DeviceStretch> stretches;
    for (const DeviceTensor& tensor : tensors)
        stretches.push_back({ tensor.address, tensor.info.bytes() });
    return stretches;
}

std::vector<std::uint64_t> addressesOf(const std::vector<DeviceTensor>& tensors)
{
    std::vector<std::uint64_t> addresses;
    for (const DeviceTensor& tensor : tensors)
        addresses.push_back(tensor.address);
    return addresses;
}

std::string describe(const TensorInfo& tensor)
{
    std::string shape;
    for (const std::uint64_t side : tensor.shape)
        shape += (shape.empty() ? "" : ", ") + std::to_string(side);
    return fmt::format("{} [{}]", word(tensor.dtype), shape);
}

Error noticeOf(const char* what, Error why)
{
    why.text = fmt::format("{} ({})", what, why.text);
    return why;
}

} // namespace

/// While the queue reads or writes memory of a function, which declares that memory first. Without done() the queue is
/// closed: what was submitted to one that failed may still come, and must not find that memory gone.
class KeptModel::Use {
public:
    explicit Use(KeptModel& model)
        : m_model(model)
    {
    }
    ~Use()
    {
        if (!m_isDone)
            m_model.closeQueue();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    void done() noexcept { m_isDone = true; }

private:
    KeptModel& m_model;
    bool m_isDone = false;
};

KeptModel::KeptModel(OpenQueue openQueue, std::shared_ptr<const Backend> processor, bool keepsOnDevice)
    : m_openQueue(std::move(openQueue))
    , m_processor(std::move(processor))
    , m_keepsOnDevice(keepsOnDevice)
{
}

void KeptModel::closeQueue() noexcept
{
    m_queue.reset(); // frees and unpins, once what was submitted is done
    m_device.clear();
    m_hostAddress = 0;
    m_found.reset();
    m_reads.close();
    m_onDevice = OnDevice::Nothing;
}

void KeptModel::clear() noexcept
{
    releaseOnDevice();
    if (m_hostAddress != 0)
        m_queue->module().unpin(m_queue->handle(), m_host.pages().data());
    m_hostAddress = 0;
    m_host = {};
    m_tensors.clear();
    m_changes.reset();
    m_isPinRefused = false;
    m_notPinned.reset(); // it is tried again
}

std::vector<Error> KeptModel::newNotices()
{
    std::vector<Error> notices;
    for (std::optional<Error>* const notice : { &m_noRoom, &m_notPinned }) {
        if (*notice)
            notices.push_back(std::move(**notice));
        notice->reset();
    }
    return notices;
}

void KeptModel::releaseOnDevice() noexcept
{
    for (const std::uint64_t address : m_device)
        m_queue->module().release(m_queue->handle(), address);
    m_device.clear();
    if (m_found)
        m_found->release();
    m_found.reset();
    m_onDevice = OnDevice::Nothing;
}

Result<void> KeptModel::expectUsable(const std::vector<DeviceTensor>& tensors, void* stream)
{
    if (!m_queue) {
        DS_TRY(m_queue, m_openQueue());
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const DeviceTensor& tensor = tensors[i];
        if (i > 0 && tensors[i - 1].info.name == tensor.info.name)
            return fail(Code::Usage, fmt::format("tensor {} occurs twice", quoteName(tensor.info.name)));
        if (tensor.info.bytes() == 0)
            continue;
        if (tensor.address % changedElementBytes(tensor.info.dtype) != 0)
            return fail(
                Code::Usage,
                fmt::format("the address of tensor {} is no multiple of an element", quoteName(tensor.info.name)));
        Result<void> own = m_queue->call(m_queue->module().expectOwn, tensor.address, tensor.info.bytes());
        if (!own) {
            own.error().text = fmt::format("tensor {}: {}", quoteName(tensor.info.name), own.error().text);
            return own;
        }
    }
    return m_queue->call(m_queue->module().follow, stream);
}

Result<std::uint64_t> KeptModel::begin(std::vector<DeviceTensor> tensors, void* stream)
{
    clear();
    sortByName(tensors);
    if (tensors.empty())
        return fail(Code::Usage, "a model has at least one tensor");
    DS_CHECK(expectUsable(tensors, stream));
    std::uint64_t bytes = 0;
    for (const DeviceTensor& tensor : tensors) {
        m_tensors.push_back(tensor.info);
        bytes += tensor.info.bytes();
    }
    m_host = HostCopy(m_tensors);
    Use use(*this);
    DS_CHECK(m_reads.read(*m_queue, stretchesOf(tensors),
                          [&](std::size_t tensor, std::uint64_t at, ByteSpan part) -> Result<void> {
                              std::copy(part.begin(), part.end(), m_host[tensor].subspan(at).begin());
                              return {};
                          }));
    DS_CHECK(keepOnDevice(tensors));
    if (m_onDevice == OnDevice::Compared)
        m_onDevice = OnDevice::Kept;
    if (!m_keepsOnDevice)
        pinHost();
    use.done();
    return bytes;
}

Result<void> KeptModel::keepOnDevice(const std::vector<DeviceTensor>& tensors)
{
    if (!m_keepsOnDevice)
        return {};
    m_onDevice = OnDevice::Nothing;
    const Result<void> allocated = allocateOnDevice();
    if (!allocated && allocated.error().code == Code::NoSpace) {
        m_noRoom = noticeOf(
            "the device has no room for a copy of the model, and compares with the one on the host over the bus",
            allocated.error());
        m_keepsOnDevice = false;
        releaseOnDevice();
        return {};
    }
    DS_CHECK(allocated);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].info.bytes() > 0)
            DS_CHECK(m_queue->call(m_queue->module().copy, m_device[i], tensors[i].address, tensors[i].info.bytes()));
    }
    DS_CHECK(m_queue->wait());
    m_onDevice = OnDevice::Compared;
    return {};
}

Result<void> KeptModel::allocateOnDevice()
{
    for (std::size_t i = m_device.size(); i < m_tensors.size(); ++i) {
        std::uint64_t address = 0;
        DS_CHECK(m_queue->call(m_queue->module().allocate, std::max<std::uint64_t>(m_tensors[i].bytes(), 1), &address));
        m_device.push_back(address);
    }
    if (!m_found) {
        DS_TRY(m_found, FoundChanges::make(*m_queue, m_tensors));
    }
    return {};
}

bool KeptModel::pinHost()
{
    if (m_hostAddress != 0 || m_isPinRefused)
        return !m_isPinRefused;
    const auto pin = [&]() -> Result<void> {
        DS_CHECK(m_queue->call(m_queue->module().pin, static_cast<void*>(m_host.pages().data()),
                               std::uint64_t { m_host.pages().size() }, &m_hostAddress));
        DS_TRY(m_found, FoundChanges::make(*m_queue, m_tensors));
        return {};
    };
    const Result<void> pinned = pin();
    if (pinned)
        return true;
    m_isPinRefused = true;
    m_notPinned =
        noticeOf("the device cannot compare with the copy on the host, and all of the model comes down at each step",
                 pinned.error());
    if (m_hostAddress != 0)
        m_queue->module().unpin(m_queue->handle(), m_host.pages().data());
    m_hostAddress = 0;
    return false;
}

Result<void> KeptModel::expectSameModel(const std::vector<DeviceTensor>& tensors) const
{
    const auto differs = [](const std::string& text) {
        return fail(Code::BaseMismatch, text + ": a delta cannot say that", {},
                    "Hand over the same tensors at each step; another model is a run of its own.");
    };
    for (std::size_t i = 0; i < std::min(tensors.size(), m_tensors.size()); ++i) {
        const TensorInfo& now = tensors[i].info;
        const TensorInfo& kept = m_tensors[i];
        if (now.name != kept.name)
            return differs(now.name < kept.name ? fmt::format("tensor {} was not there before", quoteName(now.name))
                                                : fmt::format("tensor {} is missing", quoteName(kept.name)));
        if (now.dtype != kept.dtype || now.shape != kept.shape)
            return differs(
                fmt::format("tensor {} was {} and is {}", quoteName(now.name), describe(kept), describe(now)));
    }
    if (tensors.size() > m_tensors.size())
        return differs(fmt::format("tensor {} was not there before", quoteName(tensors[m_tensors.size()].info.name)));
    if (tensors.size() < m_tensors.size())
        return differs(fmt::format("tensor {} is missing", quoteName(m_tensors[tensors.size()].name)));
    return {};
}

Result<void> KeptModel::compare(std::vector<DeviceTensor> tensors, void* stream)
{
    m_changes.reset();
    sortByName(tensors);
    DS_CHECK(expectSameModel(tensors));
    DS_CHECK(expectUsable(tensors, stream));
    Use use(*this);
    if (std::exchange(m_onDevice, OnDevice::Nothing) == OnDevice::Kept) { // until all of it is done
        DS_CHECK(m_found->update(m_device, addressesOf(tensors), m_reads));
        m_onDevice = OnDevice::Compared;
    } else {
        DS_TRY(const bool isFound, compareOverBus(tensors));
        if (!isFound) {
            DS_TRY(m_changes, compareOnHost(tensors));
        }
        DS_CHECK(keepOnDevice(tensors));
    }
    use.done();
    return {};
}

Result<DeviceChangeSet> KeptModel::collect()
{
    if (m_changes)
        return std::move(*m_changes);
    Use use(*this);
    DS_TRY(DeviceChangeSet changes, m_found->collect(m_device, m_reads));
    use.done();
    return changes;
}

Result<bool> KeptModel::compareOverBus(const std::vector<DeviceTensor>& tensors)
{
    if (m_keepsOnDevice || !pinHost())
        return false;
    std::vector<std::uint64_t> copies;
    for (std::size_t i = 0; i < m_tensors.size(); ++i)
        copies.push_back(m_hostAddress + static_cast<std::uint64_t>(m_host[i].data() - m_host.pages().data()));
    return m_found->compare(copies, addressesOf(tensors));
}

Result<DeviceChangeSet> KeptModel::compareOnHost(const std::vector<DeviceTensor>& tensors)
{
    DeviceChangeSet changes;
    changes.tensors.resize(tensors.size());
    const auto compare = [&](std::size_t tensor, std::uint64_t at, ByteSpan part) -> Result<void> {
        const unsigned width = changedElementBytes(tensors[tensor].info.dtype);
        StretchChanges found { at / width, {}, {} };
        found.positions.resize(part.size() / width + Backend::SlackElements);
        found.values.resize(found.positions.size() * width);
        const std::size_t count = m_processor->extract(ByteSpan(m_host[tensor]).subspan(at, part.size()), part, width,
                                                       found.positions.data(), found.values.data());
        changes.bytesDown += part.size();
        changes.changedElements += count;
        if (count == 0)
            return {};
        found.positions.resize(count);
        found.values.resize(count * width);
        found.positions.shrink_to_fit(); // they live until the step is put
        found.values.shrink_to_fit();
        changes.tensors[tensor].push_back(std::move(found));
        return {};
    };
    DS_CHECK(m_reads.read(*m_queue, stretchesOf(tensors), compare));
    return changes;
}

Result<std::optional<std::vector<TensorNode>>> KeptModel::hashOnDevice()
{
    constexpr std::uint64_t MostByHost = 240; // DeviceLeaf
    if (m_onDevice == OnDevice::Nothing)
        return std::optional<std::vector<TensorNode>>();
    std::vector<std::vector<Digest128>> digests(m_tensors.size());
    std::vector<DeviceLeaf> leaves;
    std::vector<Digest128*> places; ///< of each leaf
    struct Short {
        Digest128* place;
        std::vector<std::byte> bytes;
    };
    std::vector<Short> shorts;
    std::vector<DeviceDigest> made;
    Use use(*this);
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        const std::uint64_t all = m_tensors[i].bytes();
        digests[i].resize((all + LeafBytes - 1) / LeafBytes);
        for (std::size_t leaf = 0; leaf < digests[i].size(); ++leaf) {
            const std::uint64_t at = leaf * LeafBytes;
            const std::uint64_t bytes = std::min(LeafBytes, all - at);
            if (bytes <= MostByHost) {
                shorts.push_back({ &digests[i][leaf], std::vector<std::byte>(bytes) });
                DS_CHECK(m_queue->fetch(shorts.back().bytes, m_device[i] + at));
            } else {
                leaves.push_back({ m_device[i] + at, bytes });
                places.push_back(&digests[i][leaf]);
            }
        }
    }
    made.resize(leaves.size());
    if (!leaves.empty())
        DS_CHECK(m_queue->call(m_queue->module().hash, static_cast<const DeviceLeaf*>(leaves.data()),
                               std::uint64_t { leaves.size() }, made.data()));
    DS_CHECK(m_queue->wait());
    use.done();
    for (std::size_t n = 0; n < leaves.size(); ++n)
        *places[n] = canonical(made[n]);
    for (const Short& one : shorts)
        *one.place = xxh3(one.bytes);
    std::vector<TensorNode> nodes;
    for (std::size_t i = 0; i < m_tensors.size(); ++i)
        nodes.push_back(tensorNode(m_tensors[i], digests[i], {}));
    return std::optional(std::move(nodes));
}

void KeptModel::accept(const DeviceChangeSet& changes)
{
    for (std::size_t i = 0; i < m_tensors.size(); ++i)
        applyChanges(changes.tensors[i], m_tensors[i].dtype, 0, m_host[i]);
    if (m_onDevice == OnDevice::Compared)
        m_onDevice = OnDevice::Kept;
}

} // namespace deltascope
