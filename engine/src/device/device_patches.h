#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/block_batches.h"
#include "device/device_pool.h"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace deltascope {

/// PatchBatches on a device: blocks and their pieces are copied into a slot, all pieces are applied there, and the
/// blocks come back once, or behind each piece that changes them; two slots by turns. They do not take what a slot
/// cannot hold, and pieces that the device has no kernel for. The processor repeats batches whose device fails.
class DevicePatches final : public PatchBatches {
public:
    /// Null: no slot is free, or elements are narrower than a byte. `processor`: outlives it.
    static std::unique_ptr<PatchBatches> make(DevicePool& pool, const Backend& processor, Dtype dtype,
                                              PatchedStates states);
    ~DevicePatches() override; ///< waits for what the device does
    DevicePatches(const DevicePatches&) = delete;
    DevicePatches& operator=(const DevicePatches&) = delete;

    bool takesMore() const override;
    bool add(ByteSpan block, std::span<const PatchPiece> pieces) override;
    PatchedBlock next() override;

private:
    struct Batch;
    /// A block that was not returned yet.
    struct Waiting {
        Batch* batch = nullptr; ///< that has it
        std::size_t at = 0; ///< in the areas of its slot
        std::size_t bytes = 0;
        std::size_t firstPiece = 0; ///< of the batch
        std::size_t pieces = 0;
    };

    struct Shape;
    DevicePatches(DevicePool& pool, const Backend& processor, Dtype dtype, PatchedStates states);
    /// Nothing: the device has no kernel for one of them.
    static std::optional<std::vector<Shape>> shapesOf(std::span<const PatchPiece> pieces);
    /// Bytes of what comes back, beside blocks that come back once.
    std::size_t statesBytes(ByteSpan block, const std::vector<Shape>& shapes) const;
    bool fits(const Batch& batch, ByteSpan block, const std::vector<Shape>& shapes) const;
    void addTo(Batch& batch, ByteSpan block, std::span<const PatchPiece> pieces, const std::vector<Shape>& shapes);
    void submit(Batch& batch);
    void wait(Batch& batch);
    /// Waits for the device.
    void complete(Batch& batch);
    PatchedBlock madeByDevice(const Waiting& block);
    /// Lets the processor repeat a block of a batch that failed.
    PatchedBlock madeByProcessor(const Waiting& block);
    /// Takes back what next() returned last.
    void release();

    DevicePool& m_pool;
    const Backend& m_processor;
    Dtype m_dtype;
    PatchedStates m_wanted;
    unsigned m_elementBytes;
    std::vector<std::unique_ptr<Batch>> m_batches; ///< as many as there were slots, one or two
    std::deque<Waiting> m_waiting; ///< in order
    std::optional<Waiting> m_returned;
    std::vector<ByteSpan> m_states; ///< of m_returned
    std::vector<std::byte> m_made; ///< they, one after another, where the processor made them
    std::vector<PatchCounts> m_counts; ///< and what it counted
};

} // namespace deltascope
