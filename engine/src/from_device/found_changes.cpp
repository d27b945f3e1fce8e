#include "from_device/found_changes.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace deltascope {

namespace {

constexpr std::uint64_t BlockElements = 16384; ///< of a DeviceFoundBlock
/// Elements of a StretchChanges at most: positions within it have 32 bits.
constexpr std::uint64_t StretchBlocks = (std::uint64_t { 1 } << 26) / BlockElements;
/// Room for one changed element of so many, or for a quarter of that where the device has no more: then a pass is
/// repeated, at most 128 times where everything changed.
constexpr std::uint64_t ExpectedOf = 32;
constexpr std::uint64_t LeastOfUsual = 4;

std::uint64_t blocksOf(std::uint64_t elements) { return (elements + BlockElements - 1) / BlockElements; }

std::uint64_t elementsOf(const TensorInfo& tensor) { return tensor.bytes() / changedElementBytes(tensor.dtype); }

} // namespace

/// What one pass found, on the host.
struct FoundChanges::Pass {
    std::vector<std::uint16_t> positions;
    std::vector<std::byte> values;
};

/// Where the changes of a block came down. Blocks whose changes did not fit are as they were: the next pass finds them.
struct FoundChanges::BlockPlace {
    std::uint32_t pass = 0;
    std::uint32_t count = 0; ///< 0: none did
    std::uint64_t first = 0;
};

/// The tensors whose elements are equally wide.
struct FoundChanges::Width {
    unsigned bytes = 0; ///< of an element
    std::vector<std::size_t> tensors;
    std::uint64_t blocks = 0; ///< of all these
    DeviceFound found {}; ///< 0: nothing is allocated
    std::uint64_t used = 0; ///< elements that the pass before bringDown() found
    std::vector<Pass> passes; ///< of this step
    std::vector<BlockPlace> places; ///< by block
    std::vector<std::uint32_t> sums; ///< by block, of what the last pass read

    void forget()
    {
        passes.clear();
        places.assign(blocks, {});
        sums.clear();
    }
    /// Adds what is found in blocks [begin, end) of a stretch that has so many elements. False: positions do not
    /// ascend, or lie outside of it.
    bool addBlocks(StretchChanges& stretch, std::uint64_t begin, std::uint64_t end, std::uint64_t elements) const;
};

bool FoundChanges::Width::addBlocks(StretchChanges& stretch, std::uint64_t begin, std::uint64_t end,
                                    std::uint64_t elements) const
{
    std::size_t count = 0;
    for (std::uint64_t block = begin; block < end; ++block)
        count += places[block].count;
    stretch.positions.reserve(count);
    stretch.values.reserve(count * bytes);
    bool ascends = true;
    for (std::uint64_t block = begin; block < end; ++block) {
        const BlockPlace& place = places[block];
        if (place.count == 0)
            continue;
        const Pass& pass = passes[place.pass];
        const std::uint64_t at = (block - begin) * BlockElements;
        const std::uint64_t room = std::min(BlockElements, elements - at);
        std::uint64_t least = 0;
        for (std::uint64_t n = place.first; n < place.first + place.count; ++n) {
            const std::uint64_t position = pass.positions[n];
            ascends = ascends && position >= least && position < room;
            least = position + 1;
            stretch.positions.push_back(static_cast<std::uint32_t>(at + position));
        }
        const auto values = pass.values.begin() + static_cast<std::ptrdiff_t>(place.first * bytes);
        stretch.values.insert(stretch.values.end(), values,
                              values + static_cast<std::ptrdiff_t>(std::size_t { place.count } * bytes));
    }
    return ascends;
}

Error notWhatTheDeviceHas(const std::string& what, std::string where)
{
    return Error { Code::Digest, "what came from the device is not what it has: " + what, std::move(where),
                   std::nullopt,
                   "publish again: the next step is compared on the host; if this comes back, the memory of the "
                   "machine or of the device is damaged, or something writes into memory that it does not own" };
}

FoundChanges::FoundChanges(DeviceQueue& queue, const std::vector<TensorInfo>& tensors)
    : m_queue(queue)
    , m_tensors(tensors)
{
    std::map<unsigned, Width> byWidth;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::uint64_t elements = elementsOf(tensors[i]);
        if (elements == 0)
            continue;
        Width& width = byWidth[changedElementBytes(tensors[i].dtype)];
        width.tensors.push_back(i);
        width.blocks += blocksOf(elements);
    }
    for (auto& [bytes, width] : byWidth) {
        width.bytes = bytes;
        m_widths.push_back(std::move(width));
    }
}

FoundChanges::~FoundChanges() = default;

void FoundChanges::release() noexcept
{
    for (Width& width : m_widths) {
        for (const std::uint64_t address : { width.found.used, width.found.positions }) {
            if (address != 0)
                m_queue.module().release(m_queue.handle(), address);
        }
        width.found = {};
    }
}

Result<std::unique_ptr<FoundChanges>> FoundChanges::make(DeviceQueue& queue, const std::vector<TensorInfo>& tensors)
{
    constexpr std::uint64_t UsedBytes = 16; // in front of the blocks, which are aligned to so much
    std::unique_ptr<FoundChanges> made(new FoundChanges(queue, tensors));
    const auto allocate = [&](Width& width) -> Result<void> {
        DS_CHECK(queue.call(queue.module().allocate, UsedBytes + width.blocks * sizeof(DeviceFoundBlock),
                            &width.found.used));
        width.found.blocks = width.found.used + UsedBytes;
        return made->makeRoom(width);
    };
    for (Width& width : made->m_widths) {
        if (const Result<void> allocated = allocate(width); !allocated) {
            made->release();
            return fail(allocated.error());
        }
    }
    return made;
}

Result<void> FoundChanges::makeRoom(Width& width)
{
    const std::uint64_t usual = std::max(width.blocks * BlockElements / ExpectedOf, BlockElements);
    for (std::uint64_t elements = usual;; elements /= 2) {
        const std::uint64_t room = blocksOf(elements) * BlockElements; // values are aligned behind the positions
        const Result<void> made = m_queue.call(m_queue.module().allocate, room * (sizeof(std::uint16_t) + width.bytes),
                                               &width.found.positions);
        width.found.values = width.found.positions + room * sizeof(std::uint16_t);
        width.found.room = room;
        if (made || made.error().code != Code::NoSpace || elements / 2 < std::max(usual / LeastOfUsual, BlockElements))
            return made;
    }
}

void FoundChanges::begin()
{
    m_bytesDown = 0;
    for (Width& width : m_widths)
        width.forget();
}

std::vector<FoundChanges::Width*> FoundChanges::all()
{
    std::vector<Width*> all;
    for (Width& width : m_widths)
        all.push_back(&width);
    return all;
}

Result<void> FoundChanges::find(const std::vector<Width*>& widths, const std::vector<std::uint64_t>& copies,
                                const std::vector<std::uint64_t>& tensors, bool updates)
{
    m_isUpdated = updates;
    for (Width* const width : widths) {
        std::vector<DevicePair> pairs;
        for (const std::size_t i : width->tensors)
            pairs.push_back({ copies[i], tensors[i], updates ? copies[i] : 0, elementsOf(m_tensors[i]) });
        DS_CHECK(m_queue.call(m_queue.module().find, static_cast<const DevicePair*>(pairs.data()),
                              std::uint64_t { pairs.size() }, std::uint32_t { width->bytes },
                              static_cast<const DeviceFound*>(&width->found)));
        DS_CHECK(m_queue.fetch(std::as_writable_bytes(std::span(&width->used, 1)), width->found.used));
        m_bytesDown += sizeof width->used;
    }
    return m_queue.wait();
}

Result<void> FoundChanges::update(const std::vector<std::uint64_t>& copies, const std::vector<std::uint64_t>& tensors,
                                  StagedReads& reads)
{
    begin();
    for (std::vector<Width*> left = all(); !left.empty();) {
        DS_CHECK(find(left, copies, tensors, true));
        std::erase_if(left, [](const Width* width) { return width->used <= width->found.room; });
        for (Width* const width : left)
            DS_CHECK(bringDown(*width, reads));
    }
    return {};
}

Result<bool> FoundChanges::compare(const std::vector<std::uint64_t>& copies, const std::vector<std::uint64_t>& tensors)
{
    begin();
    DS_CHECK(find(all(), copies, tensors, false));
    return std::all_of(m_widths.begin(), m_widths.end(),
                       [](const Width& width) { return width.used <= width.found.room; });
}

Result<void> FoundChanges::download(const std::vector<DeviceStretch>& from, const std::vector<MutableByteSpan>& to,
                                    StagedReads& reads)
{
    for (const DeviceStretch& stretch : from)
        m_bytesDown += stretch.bytes;
    return reads.read(m_queue, from, [&](std::size_t stretch, std::uint64_t at, ByteSpan part) -> Result<void> {
        std::copy(part.begin(), part.end(), to[stretch].subspan(at).begin());
        return {};
    });
}

Result<void> FoundChanges::bringDown(Width& width, StagedReads& reads)
{
    std::vector<DeviceFoundBlock> found(width.blocks);
    const MutableByteSpan blocks = std::as_writable_bytes(std::span(found));
    DS_CHECK(download({ { width.found.blocks, blocks.size() } }, { blocks }, reads));
    std::uint64_t elements = 0; // from the first one on
    std::uint64_t total = 0;
    width.sums.resize(width.blocks);
    for (std::uint64_t block = 0; block < width.blocks; ++block) {
        const DeviceFoundBlock& one = found[block];
        width.sums[block] = one.sum;
        total += one.count;
        if (one.count == 0 || one.first == DeviceFoundBlock::NoRoom)
            continue;
        if (one.first > width.found.room || one.count > BlockElements || width.places[block].count > 0)
            return fail(notWhatTheDeviceHas("places of changes lie outside of their room, or are listed twice", {}));
        elements = std::max(elements, one.first + one.count);
        width.places[block] = { static_cast<std::uint32_t>(width.passes.size()), one.count, one.first };
    }
    if (elements > width.found.room || total != width.used)
        return fail(notWhatTheDeviceHas(fmt::format("{} elements changed, and {} are listed", width.used, total), {}));
    Pass pass { std::vector<std::uint16_t>(elements), std::vector<std::byte>(elements * width.bytes) };
    const MutableByteSpan positions = std::as_writable_bytes(std::span(pass.positions));
    DS_CHECK(download({ { width.found.positions, positions.size() }, { width.found.values, pass.values.size() } },
                      { positions, pass.values }, reads));
    width.passes.push_back(std::move(pass));
    return {};
}

Result<DeviceChangeSet> FoundChanges::collect(const std::vector<std::uint64_t>& copies, StagedReads& reads)
{
    DeviceChangeSet changes;
    changes.tensors.resize(m_tensors.size());
    for (Width& width : m_widths) {
        DS_CHECK(bringDown(width, reads));
        if (m_isUpdated)
            DS_CHECK(expectSums(width, copies));
        DS_CHECK(addTo(changes, width));
        width.forget();
    }
    changes.bytesDown = m_bytesDown;
    return changes;
}

/// The pass summed what it read of the tensors. A copy that has other sums misses a change, whatever was found.
Result<void> FoundChanges::expectSums(const Width& width, const std::vector<std::uint64_t>& copies)
{
    std::vector<std::uint32_t> sums(width.blocks);
    std::vector<DevicePair> pairs;
    for (const std::size_t i : width.tensors)
        pairs.push_back({ copies[i], copies[i], 0, elementsOf(m_tensors[i]) });
    DS_CHECK(m_queue.call(m_queue.module().sums, static_cast<const DevicePair*>(pairs.data()),
                          std::uint64_t { pairs.size() }, std::uint32_t { width.bytes }, sums.data()));
    DS_CHECK(m_queue.wait());
    m_bytesDown += sums.size() * sizeof(std::uint32_t);
    std::uint64_t block = 0;
    for (const std::size_t i : width.tensors) {
        for (const std::uint64_t end = block + blocksOf(elementsOf(m_tensors[i])); block < end; ++block) {
            if (width.sums[block] != sums[block])
                return fail(notWhatTheDeviceHas(
                    fmt::format("tensor {} is not what its copy there is", quoteName(m_tensors[i].name)), {}));
        }
    }
    return {};
}

Result<void> FoundChanges::addTo(DeviceChangeSet& changes, const Width& width) const
{
    std::uint64_t first = 0; // block of the tensor
    for (const std::size_t i : width.tensors) {
        const std::uint64_t elements = elementsOf(m_tensors[i]);
        const std::uint64_t end = first + blocksOf(elements);
        for (std::uint64_t begin = first; begin < end; begin += StretchBlocks) {
            const std::uint64_t firstElement = (begin - first) * BlockElements;
            StretchChanges stretch { firstElement, {}, {} };
            if (!width.addBlocks(stretch, begin, std::min(end, begin + StretchBlocks), elements - firstElement))
                return fail(notWhatTheDeviceHas(
                    fmt::format("changes of tensor {} are out of order", quoteName(m_tensors[i].name)), {}));
            changes.changedElements += stretch.positions.size();
            if (!stretch.positions.empty())
                changes.tensors[i].push_back(std::move(stretch));
        }
        first = end;
    }
    return {};
}

} // namespace deltascope
