#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/block_batches.h"
#include "device/device_pool.h"

#include <array>
#include <memory>
#include <vector>

namespace deltascope {

/// What a device is asked for about the pairs of a batch.
class DevicePairWork {
public:
    virtual ~DevicePairWork() = default;
    /// Asks for it. Results live until the next call for the same batch. `which`: of two batches.
    virtual Result<void> submit(DeviceQueue& queue, const std::vector<DevicePair>& pairs, std::size_t which) = 0;
    /// Hands over what was found for all pairs of a batch, which lie at `before` and `after` on the host.
    virtual Result<void> handOver(std::size_t which, const std::vector<ByteSpan>& before,
                                  const std::vector<ByteSpan>& after) = 0;
};

/// PairBatches on a device: copies pairs into a slot until it is full, lets the device work on it, and fills another
/// one meanwhile. The processor does what a slot cannot hold, and batches whose device fails.
class DevicePairs final : public PairBatches {
public:
    /// `processor`: does the same at once.
    DevicePairs(DevicePool& pool, std::unique_ptr<DevicePairWork> work, std::unique_ptr<PairBatches> processor,
                unsigned elementBytes)
        : m_pool(pool)
        , m_work(std::move(work))
        , m_processor(std::move(processor))
        , m_elementBytes(elementBytes)
    {
    }
    ~DevicePairs() override; ///< waits for what the device does
    DevicePairs(const DevicePairs&) = delete;
    DevicePairs& operator=(const DevicePairs&) = delete;

    Result<void> add(ByteSpan before, ByteSpan after) override;
    Result<void> finish() override;

private:
    struct Stretch {
        std::size_t at; ///< in both areas of the slot
        std::size_t bytes;
    };
    struct Batch {
        std::unique_ptr<DeviceSlot> slot; ///< null: it has none yet
        std::vector<Stretch> stretches;
        std::size_t filled = 0; ///< bytes of an area
        std::optional<Error> failure; ///< of the device
    };

    bool fits(std::size_t bytes) const noexcept;
    void submit(std::size_t which);
    void wait(Batch& batch);
    Result<void> deliver(std::size_t which);
    /// Submits what is filled, and turns to the other batch, or to the same one where there is no other slot.
    Result<void> turn();

    DevicePool& m_pool;
    std::unique_ptr<DevicePairWork> m_work;
    std::unique_ptr<PairBatches> m_processor;
    unsigned m_elementBytes;
    std::array<Batch, 2> m_batches;
    std::size_t m_filling = 0;
    bool m_isOtherSubmitted = false;
    bool m_hasNoSlot = false; ///< the processor does the rest
};

/// Backend::measure() and find() on a device.
std::unique_ptr<PairBatches> measureOnDevice(DevicePool& pool, const Backend& processor, Dtype dtype,
                                             std::function<void(const DiffMoments&)> use);
std::unique_ptr<PairBatches> findOnDevice(DevicePool& pool, const Backend& processor, unsigned elementBytes,
                                          UseChanges use);

} // namespace deltascope
