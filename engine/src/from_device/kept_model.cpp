#include "from_device/kept_model.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace deltascope {

namespace {

/// Elements of a pair that are compared at once: positions within it have 32 bits.
constexpr std::uint64_t PieceElements = std::uint64_t { 1 } << 26;
/// Elements of one call: what it finds waits in memory for it.
constexpr std::uint64_t BatchElements = std::uint64_t { 1 } << 28;
/// Room for one changed element of so many; where more changed, the piece is searched once more.
constexpr std::uint64_t ExpectedOf = 32;
/// What comes down at a time, into one of two places. A whole number of elements of every type, and of blocks.
constexpr std::size_t StagedBytes = std::size_t { 12 } << 20;

std::uint64_t elementsOf(const TensorInfo& tensor) { return tensor.bytes() / changedElementBytes(tensor.dtype); }

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

std::string describe(const TensorInfo& tensor)
{
    std::string shape;
    for (const std::uint64_t side : tensor.shape)
        shape += (shape.empty() ? "" : ", ") + std::to_string(side);
    return fmt::format("{} [{}]", word(tensor.dtype), shape);
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
    m_queue.reset();
    m_device.clear();
    m_staged = {};
    m_deviceIsCurrent = false;
}

Result<void> KeptModel::openStaging()
{
    if (!m_staged[0].empty())
        return {};
    void* pinned = nullptr;
    const Result<void> granted =
        m_queue->call(m_queue->module().allocateHost, std::uint64_t { 2 * StagedBytes }, &pinned);
    if (!granted && granted.error().code != Code::NoSpace)
        return granted;
    if (!granted)
        m_pageable.resize(2 * StagedBytes);
    const MutableByteSpan all(granted ? static_cast<std::byte*>(pinned) : m_pageable.data(), 2 * StagedBytes);
    m_staged = { all.first(StagedBytes), all.subspan(StagedBytes) };
    return {};
}

Result<void> KeptModel::eachPart(const std::vector<DeviceTensor>& tensors, const TakePart& take)
{
    struct Part {
        std::size_t tensor;
        std::uint64_t at, bytes;
    };
    std::vector<Part> parts;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::uint64_t all = tensors[i].info.bytes();
        for (std::uint64_t at = 0; at < all; at += StagedBytes)
            parts.push_back({ i, at, std::min<std::uint64_t>(StagedBytes, all - at) });
    }
    Use use(*this);
    DS_CHECK(openStaging());
    const auto fetch = [&](std::size_t n) {
        return m_queue->fetch(m_staged[n % 2].first(parts[n].bytes), tensors[parts[n].tensor].address + parts[n].at);
    };
    if (!parts.empty())
        DS_CHECK(fetch(0));
    for (std::size_t n = 0; n < parts.size(); ++n) {
        DS_CHECK(m_queue->wait());
        if (n + 1 < parts.size())
            DS_CHECK(fetch(n + 1));
        take(parts[n].tensor, parts[n].at, m_staged[n % 2].first(parts[n].bytes));
    }
    use.done();
    return {};
}

void KeptModel::clear() noexcept
{
    m_tensors.clear();
    m_host.clear();
    for (const std::uint64_t address : m_device)
        m_queue->module().release(m_queue->handle(), address);
    m_device.clear();
    m_deviceIsCurrent = false;
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
    std::vector<std::vector<std::byte>> host(tensors.size());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        host[i].resize(tensors[i].info.bytes());
        bytes += host[i].size();
    }
    DS_CHECK(eachPart(tensors, [&](std::size_t tensor, std::uint64_t at, ByteSpan part) {
        std::copy(part.begin(), part.end(), host[tensor].begin() + static_cast<std::ptrdiff_t>(at));
    }));
    Use use(*this);
    m_host = std::move(host);
    for (const DeviceTensor& tensor : tensors)
        m_tensors.push_back(tensor.info);
    DS_CHECK(keepOnDevice(tensors));
    use.done();
    return bytes;
}

Result<void> KeptModel::keepOnDevice(const std::vector<DeviceTensor>& tensors)
{
    m_deviceIsCurrent = false;
    if (!m_keepsOnDevice)
        return {};
    for (std::size_t i = m_device.size(); i < tensors.size(); ++i) {
        std::uint64_t address = 0;
        const Result<void> allocated =
            m_queue->call(m_queue->module().allocate, std::max<std::uint64_t>(tensors[i].info.bytes(), 1), &address);
        if (!allocated && allocated.error().code == Code::NoSpace) { // the model comes down whole from now on
            m_whyNotOnDevice = allocated.error();
            m_keepsOnDevice = false;
            for (const std::uint64_t kept : m_device)
                m_queue->module().release(m_queue->handle(), kept);
            m_device.clear();
            return {};
        }
        DS_CHECK(allocated);
        m_device.push_back(address);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].info.bytes() > 0)
            DS_CHECK(m_queue->call(m_queue->module().copy, m_device[i], tensors[i].address, tensors[i].info.bytes()));
    }
    DS_CHECK(m_queue->wait());
    m_deviceIsCurrent = true;
    return {};
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

Result<DeviceChangeSet> KeptModel::compare(std::vector<DeviceTensor> tensors, void* stream)
{
    sortByName(tensors);
    DS_CHECK(expectSameModel(tensors));
    DS_CHECK(expectUsable(tensors, stream));
    DeviceChangeSet changes;
    changes.tensors.resize(tensors.size());
    Use use(*this);
    const bool wasCurrent = std::exchange(m_deviceIsCurrent, false); // until all of it is done
    DS_CHECK(wasCurrent ? compareOnDevice(tensors, changes) : compareOnHost(tensors, changes));
    DS_CHECK(keepOnDevice(tensors));
    use.done();
    return changes;
}

/// A stretch of a tensor that is compared on the device.
struct KeptModel::Piece {
    std::size_t tensor = 0;
    std::uint64_t firstElement = 0;
    std::uint64_t elements = 0;
    unsigned elementBytes = 1;
    DevicePair pair {};
};

Result<void> KeptModel::compareOnDevice(const std::vector<DeviceTensor>& tensors, DeviceChangeSet& changes)
{
    std::map<unsigned, std::vector<Piece>> byWidth;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const unsigned width = changedElementBytes(tensors[i].info.dtype);
        const std::uint64_t all = elementsOf(tensors[i].info);
        for (std::uint64_t at = 0; at < all; at += PieceElements) {
            const std::uint64_t elements = std::min(PieceElements, all - at);
            byWidth[width].push_back(
                { i, at, elements, width,
                  DevicePair { m_device[i] + at * width, tensors[i].address + at * width, 0, elements } });
        }
    }
    for (auto& [width, pieces] : byWidth) {
        std::vector<Piece> batch;
        std::uint64_t elements = 0;
        for (const Piece& piece : pieces) {
            if (elements + piece.elements > BatchElements) {
                DS_CHECK(extract(std::exchange(batch, {}), changes));
                elements = 0;
            }
            batch.push_back(piece);
            elements += piece.elements;
        }
        DS_CHECK(extract(std::move(batch), changes));
    }
    return {};
}

Result<void> KeptModel::extract(std::vector<Piece> pieces, DeviceChangeSet& changes)
{
    if (pieces.empty())
        return {};
    constexpr std::uint64_t LeastRoom = 256;
    std::vector<StretchChanges> found(pieces.size());
    std::vector<std::uint64_t> rooms(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
        rooms[i] = std::min(pieces[i].elements, std::max(LeastRoom, pieces[i].elements / ExpectedOf));
    const std::uint32_t width = pieces.front().elementBytes;
    for (std::vector<std::size_t> left(pieces.size()); !left.empty();) {
        if (left.size() == pieces.size())
            std::generate(left.begin(), left.end(), [n = std::size_t { 0 }]() mutable { return n++; });
        std::vector<DevicePair> pairs;
        std::vector<DeviceChanges> places;
        for (const std::size_t i : left) {
            found[i].firstElement = pieces[i].firstElement;
            found[i].positions.resize(rooms[i]);
            found[i].values.resize(rooms[i] * width);
            pairs.push_back(pieces[i].pair);
            places.push_back({ found[i].positions.data(), found[i].values.data(), rooms[i], 0 });
        }
        Use use(*this);
        DS_CHECK(m_queue->call(m_queue->module().extract, static_cast<const DevicePair*>(pairs.data()),
                               std::uint64_t { pairs.size() }, width, places.data()));
        DS_CHECK(m_queue->wait());
        use.done();
        std::vector<std::size_t> again;
        for (std::size_t n = 0; n < left.size(); ++n) {
            const std::size_t i = left[n];
            if (places[n].found > rooms[i]) {
                rooms[i] = places[n].found;
                again.push_back(i);
                continue;
            }
            found[i].positions.resize(places[n].found);
            found[i].values.resize(places[n].found * width);
            found[i].positions.shrink_to_fit(); // they live until the step is put
            found[i].values.shrink_to_fit();
            changes.changedElements += places[n].found;
            changes.bytesDown += places[n].found * (sizeof(std::uint16_t) + width);
        }
        left = std::move(again);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (!found[i].positions.empty())
            changes.tensors[pieces[i].tensor].push_back(std::move(found[i]));
    }
    return {};
}

Result<void> KeptModel::compareOnHost(const std::vector<DeviceTensor>& tensors, DeviceChangeSet& changes)
{
    return eachPart(tensors, [&](std::size_t tensor, std::uint64_t at, ByteSpan part) {
        const unsigned width = changedElementBytes(tensors[tensor].info.dtype);
        StretchChanges found { at / width, {}, {} };
        found.positions.resize(part.size() / width + Backend::SlackElements);
        found.values.resize(found.positions.size() * width);
        const std::size_t count = m_processor->extract(ByteSpan(m_host[tensor]).subspan(at, part.size()), part, width,
                                                       found.positions.data(), found.values.data());
        changes.bytesDown += part.size();
        changes.changedElements += count;
        if (count == 0)
            return;
        found.positions.resize(count);
        found.values.resize(count * width);
        found.positions.shrink_to_fit();
        found.values.shrink_to_fit();
        changes.tensors[tensor].push_back(std::move(found));
    });
}

Result<std::optional<std::vector<TensorNode>>> KeptModel::hashOnDevice()
{
    constexpr std::uint64_t MostByHost = 240; // DeviceLeaf
    if (!m_deviceIsCurrent)
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
}

} // namespace deltascope
