#include "device/device_patches.h"

#include "backend/nan_rule.h"
#include "backend/scalar_apply.h"

#include <algorithm>
#include <iterator>
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
PatchPiece movedTo(const PatchPiece& piece, std::span<const std::uint32_t> positions, ByteSpan bits)
{
    if (std::holds_alternative<AssignElements>(piece))
        return AssignElements { positions, bits };
    if (std::holds_alternative<AssignBytes>(piece))
        return AssignBytes { positions, bits };
    if (std::holds_alternative<XorElements>(piece))
        return XorElements { positions, bits };
    if (std::holds_alternative<FullBlock>(piece))
        return FullBlock { bits };
    if (std::holds_alternative<XorBlock>(piece))
        return XorBlock { bits };
    return {};
}

/// What Backend::apply() says of it.
PatchCounts countsOf(const PatchPiece& piece, const DevicePatchCounts& did)
{
    PatchCounts counts;
    counts.changed = did.changed;
    if (const auto* assigned = std::get_if<AssignElements>(&piece)) {
        counts.assigned = assigned->elements.size();
        counts.noops = did.noops;
        counts.nanNoops = did.nanNoops;
        counts.sameLowByte = did.sameLowByte;
    } else if (const auto* bytes = std::get_if<AssignBytes>(&piece)) {
        counts.assigned = bytes->positions.size();
        counts.noops = did.noops;
    } else if (std::holds_alternative<FullBlock>(piece)) {
        counts.zeroSigns = did.zeroSigns;
        counts.sameLowByte = did.sameLowByte;
    }
    return counts;
}

} // namespace

/// A piece as a device applies it.
struct DevicePatches::Shape {
    std::span<const std::uint32_t> positions; ///< empty: as many as there are bits, from the first one on
    ByteSpan bits;
    DevicePieceKind kind;

    /// Behind its bits and its positions, which begin at an aligned offset.
    std::size_t endFrom(std::size_t at) const { return aligned(aligned(at + bits.size()) + positions.size_bytes()); }
};

std::optional<std::vector<DevicePatches::Shape>> DevicePatches::shapesOf(std::span<const PatchPiece> pieces)
{
    std::vector<Shape> shapes;
    for (const PatchPiece& piece : pieces) {
        if (const auto* assigned = std::get_if<AssignElements>(&piece))
            shapes.push_back({ assigned->elements, assigned->bits, DevicePieceKind::Assign });
        else if (const auto* bytes = std::get_if<AssignBytes>(&piece))
            shapes.push_back({ bytes->positions, bytes->values, DevicePieceKind::AssignBytes });
        else if (const auto* masks = std::get_if<XorElements>(&piece))
            shapes.push_back({ masks->elements, masks->bits, DevicePieceKind::Xor });
        else if (const auto* full = std::get_if<FullBlock>(&piece))
            shapes.push_back({ {}, full->bytes, DevicePieceKind::Assign });
        else if (const auto* mask = std::get_if<XorBlock>(&piece))
            shapes.push_back({ {}, mask->bytes, DevicePieceKind::Xor });
        else if (std::holds_alternative<std::monostate>(piece))
            shapes.push_back({ {}, {}, DevicePieceKind::Xor });
        else
            return std::nullopt;
    }
    return shapes;
}

/// In the areas of a slot: blocks, what comes back, and the bits and positions of pieces.
struct DevicePatches::Batch {
    std::unique_ptr<DeviceSlot> slot; ///< null: it failed
    std::vector<DeviceReplay> blocks = {};
    std::vector<DevicePiece> pieces = {};
    std::vector<PatchPiece> onHost = {}; ///< the same pieces, for the processor and who looks at them
    std::vector<DevicePatchCounts> did = {}; ///< by piece, once it is complete and the device did not fail
    std::vector<PatchCounts> counts = {}; ///< likewise
    std::size_t bytes = 0; ///< of all blocks
    std::size_t filled = 0; ///< bytes of the first area
    std::size_t statesFilled = 0; ///< bytes of the second one, where each state comes back
    std::size_t piecesFilled = 0; ///< bytes of the third one
    std::size_t left = 0; ///< blocks that were not returned yet
    bool isSubmitted = false;
    bool isComplete = false;
    std::optional<Error> failure = {}; ///< of the device

    bool isOpen() const noexcept { return slot && !isSubmitted; }
    std::span<const PatchPiece> piecesOf(const Waiting& block) const
    {
        return std::span(onHost).subspan(block.firstPiece, block.pieces);
    }
};

std::unique_ptr<PatchBatches> DevicePatches::make(DevicePool& pool, const Backend& processor, Dtype dtype,
                                                  PatchedStates states)
{
    std::unique_ptr<DevicePatches> made(new DevicePatches(pool, processor, dtype, states));
    for (unsigned i = 0; i < 2 && bitsOf(dtype) % 8 == 0; ++i) {
        if (std::unique_ptr<DeviceSlot> slot = pool.take())
            made->m_batches.push_back(std::make_unique<Batch>(Batch { std::move(slot) }));
    }
    return made;
}

DevicePatches::DevicePatches(DevicePool& pool, const Backend& processor, Dtype dtype, PatchedStates states)
    : m_pool(pool)
    , m_processor(processor)
    , m_dtype(dtype)
    , m_wanted(states)
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
    return m_waiting.empty()
        || std::any_of(m_batches.begin(), m_batches.end(), [](const auto& batch) { return batch->isOpen(); });
}

bool DevicePatches::add(ByteSpan block, std::span<const PatchPiece> pieces)
{
    release(); // its slot may be the only one
    if (const std::optional<std::vector<Shape>> shapes = shapesOf(pieces)) {
        for (const std::unique_ptr<Batch>& batch : m_batches) {
            if (!batch->isOpen())
                continue;
            if (fits(*batch, block, *shapes)) {
                addTo(*batch, block, pieces, *shapes);
                return true;
            }
            if (!batch->blocks.empty())
                submit(*batch);
        }
    }
    m_pool.count(block.size(), false);
    return false;
}

std::size_t DevicePatches::statesBytes(ByteSpan block, const std::vector<Shape>& shapes) const
{
    if (m_wanted == PatchedStates::Last)
        return 0;
    return block.size() * static_cast<std::size_t>(std::count_if(shapes.begin(), shapes.end(), [](const Shape& shape) {
               return !shape.bits.empty();
           }));
}

bool DevicePatches::fits(const Batch& batch, ByteSpan block, const std::vector<Shape>& shapes) const
{
    std::size_t end = batch.piecesFilled;
    for (const Shape& shape : shapes)
        end = shape.endFrom(end);
    return block.size() <= AreaBytes - batch.filled && end <= AreaBytes
        && statesBytes(block, shapes) <= AreaBytes - batch.statesFilled;
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
        const std::size_t positionsAt = aligned(bitsAt + shape.bits.size());
        const ByteSpan positionBytes = std::as_bytes(shape.positions);
        std::copy(shape.bits.begin(), shape.bits.end(), room.subspan(bitsAt).begin());
        std::copy(positionBytes.begin(), positionBytes.end(), room.subspan(positionsAt).begin());
        const ByteSpan bits = room.subspan(bitsAt, shape.bits.size());
        const std::span positions(reinterpret_cast<const std::uint32_t*>(room.data() + positionsAt),
                                  shape.positions.size());
        batch.onHost.push_back(movedTo(pieces[i], positions, bits));
        const bool comesBack = m_wanted == PatchedStates::Each && !bits.empty(); // else the state before it is its own
        const unsigned bytesOfOne = shape.kind == DevicePieceKind::AssignBytes ? 1 : m_elementBytes;
        batch.pieces.push_back({ positions.empty() ? 0 : slot.device(Area::Third) + positionsAt,
                                 slot.device(Area::Third) + bitsAt, bits.size() / bytesOfOne, shape.kind,
                                 comesBack ? slot.device(Area::Second) + batch.statesFilled : 0 });
        batch.statesFilled += comesBack ? block.size() : 0;
        batch.piecesFilled = shape.endFrom(bitsAt);
    }
    batch.blocks.push_back({ slot.device(Area::First) + at, block.size() / m_elementBytes, shapes.size() });
    batch.bytes += block.size();
    batch.filled = std::min(alignedInArea(at + block.size()), AreaBytes);
    ++batch.left;
    m_waiting.push_back({ &batch, at, block.size(), firstPiece, shapes.size() });
    const std::size_t mostStates =
        m_wanted == PatchedStates::Each ? shapes.size() * block.size() : 0; // of such a block
    if (batch.filled + blockBytesOf(m_dtype) > AreaBytes || batch.statesFilled + mostStates > AreaBytes
        || batch.piecesFilled > AreaBytes / 4 * 3)
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
        return m_wanted == PatchedStates::Last ? slot.bringDown(Area::Second, Area::First, batch.filled)
                                               : slot.bringDown(Area::Second, Area::Second, batch.statesFilled);
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
    m_pool.count(batch.bytes, !batch.failure);
    if (!batch.failure)
        std::transform(batch.onHost.begin(), batch.onHost.end(), batch.did.begin(), std::back_inserter(batch.counts),
                       countsOf);
}

PatchedBlock DevicePatches::next()
{
    release();
    if (m_waiting.empty())
        return {};
    m_returned = m_waiting.front();
    m_waiting.pop_front();
    Batch& batch = *m_returned->batch;
    if (!batch.isSubmitted)
        submit(batch);
    complete(batch);
    return batch.failure ? madeByProcessor(*m_returned) : madeByDevice(*m_returned);
}

PatchedBlock DevicePatches::madeByDevice(const Waiting& block)
{
    const Batch& batch = *block.batch;
    const DeviceSlot& slot = *batch.slot;
    const auto counts = std::span(batch.counts).subspan(block.firstPiece, block.pieces);
    if (m_wanted == PatchedStates::Last)
        return { slot.host(Area::Second).subspan(block.at, block.bytes), counts, {}, {} };
    m_states = { slot.host(Area::First).subspan(block.at, block.bytes) };
    for (const DevicePiece& piece : std::span(batch.pieces).subspan(block.firstPiece, block.pieces)) {
        ByteSpan state = m_states.back();
        if (piece.out != 0)
            state = slot.host(Area::Second).subspan(piece.out - slot.device(Area::Second), block.bytes);
        m_states.push_back(state);
    }
    return { m_states.back(), counts, batch.piecesOf(block), m_states };
}

/// Into memory of its own: the device may still write to where its results come back.
PatchedBlock DevicePatches::madeByProcessor(const Waiting& block)
{
    const Batch& batch = *block.batch;
    const std::span<const PatchPiece> pieces = batch.piecesOf(block);
    const auto onDevice = std::span(batch.pieces).subspan(block.firstPiece, block.pieces);
    const auto comesBack = [](const DevicePiece& piece) { return piece.out != 0; };
    const ByteSpan before = batch.slot->host(Area::First).subspan(block.at, block.bytes);
    m_made.assign(before.begin(), before.end());
    m_made.resize(block.bytes * (1 + std::count_if(onDevice.begin(), onDevice.end(), comesBack)));
    MutableByteSpan state = MutableByteSpan(m_made).first(block.bytes);
    std::size_t end = block.bytes;
    m_counts.clear();
    m_states = { state };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (comesBack(onDevice[i])) {
            const MutableByteSpan next = MutableByteSpan(m_made).subspan(end, block.bytes);
            std::copy(state.begin(), state.end(), next.begin());
            state = next;
            end += block.bytes;
        }
        m_counts.push_back(m_processor.apply(pieces[i], state, m_dtype));
        m_states.push_back(state);
    }
    if (m_wanted == PatchedStates::Last)
        return { state, m_counts, {}, {} };
    return { state, m_counts, pieces, m_states };
}

void DevicePatches::release()
{
    const std::optional<Waiting> returned = std::exchange(m_returned, std::nullopt);
    if (!returned || --returned->batch->left > 0)
        return;
    Batch& batch = *returned->batch;
    if (batch.failure)
        m_pool.giveBack(std::move(batch.slot), batch.failure);
    batch = Batch { std::move(batch.slot) };
}

} // namespace deltascope
