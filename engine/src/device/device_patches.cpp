#include "device/device_patches.h"

#include "diff/nan_rule.h"
#include "diff/scalar_apply.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <variant>

namespace deltascope {

using Area = DeviceSlot::Area;

namespace {

constexpr std::size_t AreaBytes = DeviceSlot::AreaBytes;

/// A piece as a device applies it.
struct DeviceShape {
    std::span<const std::uint32_t> elements; ///< empty: as many as there are bits, from the first one on
    ByteSpan bits;
    bool isXor;
};

/// Nothing: the device has no kernel for it.
std::optional<DeviceShape> shapeOf(const PatchPiece& piece)
{
    if (const auto* assigned = std::get_if<AssignElements>(&piece))
        return DeviceShape { assigned->elements, assigned->bits, false };
    if (const auto* masks = std::get_if<XorElements>(&piece))
        return DeviceShape { masks->elements, masks->bits, true };
    if (const auto* full = std::get_if<FullBlock>(&piece))
        return DeviceShape { {}, full->bytes, false };
    if (const auto* mask = std::get_if<XorBlock>(&piece))
        return DeviceShape { {}, mask->bytes, true };
    if (std::holds_alternative<std::monostate>(piece))
        return DeviceShape { {}, {}, true };
    return std::nullopt;
}

constexpr std::size_t aligned(std::size_t offset)
{
    constexpr std::size_t Alignment = 16;
    return (offset + Alignment - 1) / Alignment * Alignment;
}

/// Behind the bits and the elements of a piece that begins at an aligned offset.
std::size_t endOf(const DeviceShape& shape, std::size_t at)
{
    return aligned(aligned(at + shape.bits.size()) + shape.elements.size_bytes());
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

/// What DiffBackend::apply() says of it.
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

std::vector<PatchCounts> patch(const DiffBackend& processor, MutableByteSpan block, std::span<const PatchPiece> pieces,
                               Dtype dtype)
{
    std::vector<PatchCounts> counts;
    for (const PatchPiece& piece : pieces)
        counts.push_back(processor.apply(piece, block, dtype));
    return counts;
}

} // namespace

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
};

DevicePatches::DevicePatches(DevicePool& pool, const DiffBackend& processor, Dtype dtype)
    : m_pool(pool)
    , m_processor(processor)
    , m_dtype(dtype)
    , m_elementBytes(bitsOf(dtype) % 8 == 0 ? bitsOf(dtype) / 8 : 0)
{
    for (unsigned i = 0; m_elementBytes > 0 && i < 2; ++i) {
        std::unique_ptr<DeviceSlot> slot = pool.take();
        if (!slot)
            return;
        m_batches.push_back(std::make_unique<Batch>(Batch { std::move(slot) }));
    }
}

DevicePatches::~DevicePatches()
{
    for (const std::unique_ptr<Batch>& batch : m_batches) {
        if (!batch->slot)
            continue;
        if (batch->isSubmitted)
            complete(*batch);
        if (batch->failure)
            m_pool.drop(std::move(batch->slot), *batch->failure);
        else
            m_pool.giveBack(std::move(batch->slot));
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
    for (const std::unique_ptr<Batch>& batch : m_batches) {
        if (batch->isOpen() && addTo(*batch, block, pieces))
            return;
    }
    Waiting waiting;
    waiting.made.assign(block.begin(), block.end());
    waiting.counts = patch(m_processor, waiting.made, pieces, m_dtype);
    m_pool.count(block.size(), false);
    m_waiting.push_back(std::move(waiting));
}

bool DevicePatches::addTo(Batch& batch, ByteSpan block, std::span<const PatchPiece> pieces)
{
    std::vector<DeviceShape> shapes;
    std::size_t end = batch.piecesFilled;
    for (const PatchPiece& piece : pieces) {
        const std::optional<DeviceShape> shape = shapeOf(piece);
        if (!shape)
            return false;
        shapes.push_back(*shape);
        end = endOf(*shape, end);
    }
    if (block.size() > AreaBytes - batch.filled || end > AreaBytes)
        return false;
    DeviceSlot& slot = *batch.slot;
    const std::size_t at = batch.filled;
    std::copy(block.begin(), block.end(), slot.host(Area::First).subspan(at).begin());
    const MutableByteSpan room = slot.host(Area::Third);
    const std::size_t firstPiece = batch.pieces.size();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const DeviceShape& shape = shapes[i];
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
        batch.piecesFilled = endOf(shape, bitsAt);
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
    return true;
}

void DevicePatches::submit(Batch& batch)
{
    batch.isSubmitted = true;
    DeviceSlot& slot = *batch.slot;
    const auto submitAll = [&]() -> Result<void> {
        DS_CHECK(slot.sendUp(Area::First, batch.filled));
        DS_CHECK(slot.sendUp(Area::Third, batch.piecesFilled));
        DeviceQueue& queue = slot.queue();
        const NanRule<std::uint64_t> nan = nanRule<std::uint64_t>(m_dtype);
        const DeviceBits bits { nan.flip, nan.mask, nan.limit, zeroSign(m_dtype) };
        batch.did.resize(batch.pieces.size());
        DS_CHECK(queue.call(queue.module().replay, batch.blocks.data(), std::uint64_t { batch.blocks.size() },
                            batch.pieces.data(), std::uint32_t { m_elementBytes }, &bits, batch.did.data()));
        return slot.bringDown(Area::Second, Area::First, batch.filled);
    };
    if (const Result<void> submitted = submitAll(); !submitted)
        batch.failure = submitted.error();
}

void DevicePatches::complete(Batch& batch)
{
    if (std::exchange(batch.isComplete, true))
        return;
    DeviceQueue& queue = batch.slot->queue();
    if (!batch.failure) {
        if (const Result<void> done = queue.call(queue.module().wait); !done)
            batch.failure = done.error();
    }
    m_pool.count(std::accumulate(batch.sizes.begin(), batch.sizes.end(), std::size_t { 0 }), !batch.failure);
    if (!batch.failure) {
        std::transform(batch.onHost.begin(), batch.onHost.end(), batch.did.begin(), std::back_inserter(batch.counts),
                       countsOf);
        return;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < batch.blocks.size(); ++i) {
        const ByteSpan block = batch.slot->host(Area::First).subspan(at, batch.sizes[i]);
        const MutableByteSpan out = batch.slot->host(Area::Second).subspan(at, batch.sizes[i]);
        std::copy(block.begin(), block.end(), out.begin());
        const std::vector<PatchCounts> counts = patch(
            m_processor, out, std::span(batch.onHost).subspan(batch.counts.size(), batch.blocks[i].pieces), m_dtype);
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
    return { batch.slot->host(Area::Second).subspan(m_returned->at, m_returned->bytes),
             std::span(batch.counts).subspan(m_returned->firstPiece, m_returned->pieces) };
}

void DevicePatches::release()
{
    const std::optional<Waiting> returned = std::exchange(m_returned, std::nullopt);
    if (!returned || !returned->batch || --returned->batch->left > 0)
        return;
    Batch& batch = *returned->batch;
    std::unique_ptr<DeviceSlot> slot = std::move(batch.slot);
    if (batch.failure)
        m_pool.drop(std::move(slot), *batch.failure);
    batch = Batch { std::move(slot) };
}

} // namespace deltascope
