#include "device/device_patches.h"

#include "backend/nan_rule.h"
#include "backend/scalar_apply.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <variant>

namespace deltascope {

using Area = DeviceSlot::Area;

namespace {

constexpr std::size_t AreaBytes = DeviceSlot::AreaBytes;

constexpr std::size_t aligned(std::size_t offset)
{
    constexpr std::size_t Alignment = 16;
    return (offset + Alignment - 1) / Alignment * Alignment;
}

/// The same piece, of bytes that lie elsewhere.
PatchPiece movedTo(const PatchPiece& piece, std::span<const std::uint32_t> elements, ByteSpan bits)
{
    if (std::holds_alternative<AssignElements>(piece))
        return AssignElements { elements, bits };
    if (std::holds_alternative<XorElements>(piece))
        return XorElements { elements, bits };
    if (std::holds_alternative<FullBlock>(piece))
        return FullBlock { bits };
    if (std::holds_alternative<XorBlock>(piece))
        return XorBlock { bits };
    return {};
}

/// What Backend::apply() says of it.
PatchCounts countsOf(const PatchPiece& piece, const DeviceAssigned& did)
{
    PatchCounts counts;
    counts.changed = did.changed;
    if (const auto* assigned = std::get_if<AssignElements>(&piece)) {
        counts.assigned = assigned->elements.size();
        counts.noops = did.noops;
        counts.nanNoops = did.nanNoops;
        counts.sameLowByte = did.sameLowByte;
    } else if (std::holds_alternative<FullBlock>(piece)) {
        counts.zeroSigns = did.zeroSigns;
        counts.sameLowByte = did.sameLowByte;
    }
    return counts;
}

std::vector<PatchCounts> patch(const Backend& processor, MutableByteSpan block, std::span<const PatchPiece> pieces,
                               Dtype dtype)
{
    std::vector<PatchCounts> counts;
    for (const PatchPiece& piece : pieces)
        counts.push_back(processor.apply(piece, block, dtype));
    return counts;
}

} // namespace

/// A piece as a device applies it.
struct DevicePatches::Shape {
    std::span<const std::uint32_t> elements; ///< empty: as many as there are bits, from the first one on
    ByteSpan bits;
    bool isXor;

    /// Behind its bits and its elements, which begin at an aligned offset.
    std::size_t endFrom(std::size_t at) const { return aligned(aligned(at + bits.size()) + elements.size_bytes()); }
};

std::optional<std::vector<DevicePatches::Shape>> DevicePatches::shapesOf(std::span<const PatchPiece> pieces)
{
    std::vector<Shape> shapes;
    for (const PatchPiece& piece : pieces) {
        if (const auto* assigned = std::get_if<AssignElements>(&piece))
            shapes.push_back({ assigned->elements, assigned->bits, false });
        else if (const auto* masks = std::get_if<XorElements>(&piece))
            shapes.push_back({ masks->elements, masks->bits, true });
        else if (const auto* full = std::get_if<FullBlock>(&piece))
            shapes.push_back({ {}, full->bytes, false });
        else if (const auto* mask = std::get_if<XorBlock>(&piece))
            shapes.push_back({ {}, mask->bytes, true });
        else if (std::holds_alternative<std::monostate>(piece))
            shapes.push_back({ {}, {}, true });
        else
            return std::nullopt;
    }
    return shapes;
}

/// In the areas of a slot: blocks, what comes back, and the bits and elements of pieces.
struct DevicePatches::Batch {
    std::unique_ptr<DeviceSlot> slot; ///< null: it failed
    std::vector<DeviceReplay> blocks = {};
    std::vector<DevicePiece> pieces = {};
    std::vector<std::size_t> sizes = {}; ///< of blocks, in bytes
    std::vector<PatchPiece> onHost = {}; ///< the same pieces, for the processor
    std::vector<DeviceAssigned> did = {}; ///< by piece, once it is complete and the device did not fail
    std::vector<PatchCounts> counts = {}; ///< by piece, once it is complete
    std::size_t filled = 0; ///< bytes of the first area
    std::size_t piecesFilled = 0; ///< bytes of the third one
    std::size_t left = 0; ///< blocks that were not returned yet
    bool isSubmitted = false;
    bool isComplete = false;
    std::optional<Error> failure = {}; ///< of the device

    bool isOpen() const noexcept { return slot && !isSubmitted; }
    /// Where its blocks are once it is complete: the processor repeats them where they came from, for a device that
    /// failed may still write to where they come back.
    Area resultArea() const noexcept { return failure ? Area::First : Area::Second; }
};

std::unique_ptr<PatchBatches> DevicePatches::make(DevicePool& pool, const Backend& processor, Dtype dtype)
{
    if (bitsOf(dtype) % 8 != 0)
        return nullptr;
    std::unique_ptr<DevicePatches> made(new DevicePatches(pool, processor, dtype));
    for (unsigned i = 0; i < 2; ++i) {
        if (std::unique_ptr<DeviceSlot> slot = pool.take())
            made->m_batches.push_back(std::make_unique<Batch>(Batch { std::move(slot) }));
    }
    return made->m_batches.empty() ? nullptr : std::move(made);
}

DevicePatches::DevicePatches(DevicePool& pool, const Backend& processor, Dtype dtype)
    : m_pool(pool)
    , m_processor(processor)
    , m_dtype(dtype)
    , m_elementBytes(bitsOf(dtype) / 8)
{
}

DevicePatches::~DevicePatches()
{
    for (const std::unique_ptr<Batch>& batch : m_batches) {
        if (!batch->slot)
            continue;
        if (batch->isSubmitted && !batch->isComplete)
            wait(*batch);
        m_pool.giveBack(std::move(batch->slot), batch->failure);
    }
}

bool DevicePatches::takesMore() const
{
    if (m_waiting.empty())
        return true;
    return m_waiting.back().batch
        && std::any_of(m_batches.begin(), m_batches.end(), [](const auto& batch) { return batch->isOpen(); });
}

void DevicePatches::add(ByteSpan block, std::span<const PatchPiece> pieces)
{
    release(); // its slot may be the only one
    if (const std::optional<std::vector<Shape>> shapes = shapesOf(pieces)) {
        for (const std::unique_ptr<Batch>& batch : m_batches) {
            if (!batch->isOpen())
                continue;
            if (fits(*batch, block, *shapes))
                return addTo(*batch, block, pieces, *shapes);
            if (!batch->blocks.empty())
                submit(*batch);
        }
    }
    Waiting waiting;
    waiting.made.assign(block.begin(), block.end());
    waiting.counts = patch(m_processor, waiting.made, pieces, m_dtype);
    m_pool.count(block.size(), false);
    m_waiting.push_back(std::move(waiting));
}

bool DevicePatches::fits(const Batch& batch, ByteSpan block, const std::vector<Shape>& shapes)
{
    std::size_t end = batch.piecesFilled;
    for (const Shape& shape : shapes)
        end = shape.endFrom(end);
    return block.size() <= AreaBytes - batch.filled && end <= AreaBytes;
}

void DevicePatches::addTo(Batch& batch, ByteSpan block, std::span<const PatchPiece> pieces,
                          const std::vector<Shape>& shapes)
{
    DeviceSlot& slot = *batch.slot;
    const std::size_t at = batch.filled;
    std::copy(block.begin(), block.end(), slot.host(Area::First).subspan(at).begin());
    const MutableByteSpan room = slot.host(Area::Third);
    const std::size_t firstPiece = batch.pieces.size();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Shape& shape = shapes[i];
        const std::size_t bitsAt = batch.piecesFilled;
        const std::size_t elementsAt = aligned(bitsAt + shape.bits.size());
        const ByteSpan elements = std::as_bytes(shape.elements);
        std::copy(shape.bits.begin(), shape.bits.end(), room.subspan(bitsAt).begin());
        std::copy(elements.begin(), elements.end(), room.subspan(elementsAt).begin());
        const ByteSpan bits = room.subspan(bitsAt, shape.bits.size());
        const std::span positions(reinterpret_cast<const std::uint32_t*>(room.data() + elementsAt),
                                  shape.elements.size());
        batch.onHost.push_back(movedTo(pieces[i], positions, bits));
        batch.pieces.push_back({ positions.empty() ? 0 : slot.device(Area::Third) + elementsAt,
                                 slot.device(Area::Third) + bitsAt, bits.size() / m_elementBytes,
                                 std::uint64_t { shape.isXor } });
        batch.piecesFilled = shape.endFrom(bitsAt);
    }
    batch.blocks.push_back({ slot.device(Area::First) + at, shapes.size() });
    batch.sizes.push_back(block.size());
    batch.filled = std::min(alignedInArea(at + block.size()), AreaBytes);
    ++batch.left;
    Waiting waiting;
    waiting.batch = &batch;
    waiting.at = at;
    waiting.bytes = block.size();
    waiting.firstPiece = firstPiece;
    waiting.pieces = shapes.size();
    m_waiting.push_back(std::move(waiting));
    if (batch.filled + blockBytesOf(m_dtype) > AreaBytes || batch.piecesFilled > AreaBytes / 4 * 3)
        submit(batch);
}

void DevicePatches::submit(Batch& batch)
{
    batch.did.resize(batch.pieces.size());
    batch.isSubmitted = true;
    DeviceSlot& slot = *batch.slot;
    const auto submitAll = [&]() -> Result<void> {
        DS_CHECK(slot.sendUp(Area::First, batch.filled));
        DS_CHECK(slot.sendUp(Area::Third, batch.piecesFilled));
        DeviceQueue& queue = slot.queue();
        const NanRule<std::uint64_t> nan = nanRule<std::uint64_t>(m_dtype);
        const DeviceBits bits { nan.flip, nan.mask, nan.limit, zeroSign(m_dtype) };
        DS_CHECK(queue.call(queue.module().replay, batch.blocks.data(), std::uint64_t { batch.blocks.size() },
                            batch.pieces.data(), std::uint32_t { m_elementBytes }, &bits, batch.did.data()));
        return slot.bringDown(Area::Second, Area::First, batch.filled);
    };
    if (const Result<void> submitted = submitAll(); !submitted)
        batch.failure = submitted.error();
}

void DevicePatches::wait(Batch& batch)
{
    if (batch.failure)
        return;
    if (const Result<void> done = batch.slot->queue().wait(); !done)
        batch.failure = done.error();
}

void DevicePatches::complete(Batch& batch)
{
    if (std::exchange(batch.isComplete, true))
        return;
    wait(batch);
    m_pool.count(std::accumulate(batch.sizes.begin(), batch.sizes.end(), std::size_t { 0 }), !batch.failure);
    if (!batch.failure) {
        std::transform(batch.onHost.begin(), batch.onHost.end(), batch.did.begin(), std::back_inserter(batch.counts),
                       countsOf);
        return;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < batch.blocks.size(); ++i) {
        const MutableByteSpan block = batch.slot->host(batch.resultArea()).subspan(at, batch.sizes[i]);
        const std::vector<PatchCounts> counts = patch(
            m_processor, block, std::span(batch.onHost).subspan(batch.counts.size(), batch.blocks[i].pieces), m_dtype);
        batch.counts.insert(batch.counts.end(), counts.begin(), counts.end());
        at = alignedInArea(at + batch.sizes[i]);
    }
}

PatchedBlock DevicePatches::next()
{
    release();
    if (m_waiting.empty())
        return {};
    m_returned = std::move(m_waiting.front());
    m_waiting.pop_front();
    if (!m_returned->batch)
        return { m_returned->made, m_returned->counts };
    Batch& batch = *m_returned->batch;
    if (!batch.isSubmitted)
        submit(batch);
    complete(batch);
    return { batch.slot->host(batch.resultArea()).subspan(m_returned->at, m_returned->bytes),
             std::span(batch.counts).subspan(m_returned->firstPiece, m_returned->pieces) };
}

void DevicePatches::release()
{
    const std::optional<Waiting> returned = std::exchange(m_returned, std::nullopt);
    if (!returned || !returned->batch || --returned->batch->left > 0)
        return;
    Batch& batch = *returned->batch;
    if (batch.failure)
        m_pool.giveBack(std::move(batch.slot), batch.failure);
    batch = Batch { std::move(batch.slot) };
}

} // namespace deltascope
