#include "deltascope/engine/device_backend.h"

#include "device/device_pairs.h"
#include "device/device_patches.h"
#include "device/device_pool.h"

#include <atomic>
#include <mutex>

namespace deltascope {

namespace {

class CudaBackend final : public DeviceBackend {
public:
    CudaBackend(Load load, std::shared_ptr<const Backend> processor, std::optional<std::uint64_t> memory)
        : m_load(std::move(load))
        , m_processor(std::move(processor))
        , m_memory(memory)
    {
    }

    std::string_view name() const noexcept override { return "cuda"; }
    bool byNameOnly() const noexcept override { return true; }
    bool isSupportedHere() const noexcept override { return pool() != nullptr; }
    std::optional<Error> obstacle() const override { return pool() ? std::nullopt : std::optional(m_obstacle); }
    Result<DeviceInfo> describe() const override
    {
        pool();
        return m_pool ? m_pool->describe() : fail(m_obstacle);
    }
    Result<std::vector<DeviceInfo>> devices() const override
    {
        DS_TRY(const DeviceModule* const module, m_load());
        std::vector<DeviceInfo> all;
        DeviceInfo info {};
        DeviceFault fault {};
        while (module->look(static_cast<std::int32_t>(all.size()), &info, &fault) == 0)
            all.push_back(info);
        return all.empty() ? fail(errorOf(fault)) : Result<std::vector<DeviceInfo>>(std::move(all));
    }
    std::vector<Error> notices() const override
    {
        const DevicePool* const opened = m_opened;
        return opened ? opened->notices() : std::vector<Error>();
    }
    std::optional<DeviceShare> share() const noexcept override
    {
        const DevicePool* const opened = m_opened;
        return opened ? std::optional(opened->share()) : std::nullopt;
    }
    void releaseIdle() const noexcept override
    {
        if (DevicePool* const opened = m_opened)
            opened->closeIdle();
    }

    std::uint64_t count(ByteSpan before, ByteSpan after, unsigned elementBytes) const noexcept override
    {
        return m_processor->count(before, after, elementBytes);
    }
    std::size_t extract(ByteSpan before, ByteSpan after, unsigned elementBytes, std::uint32_t* positions,
                        std::byte* values) const noexcept override
    {
        return m_processor->extract(before, after, elementBytes, positions, values);
    }
    std::uint64_t xorInto(ByteSpan before, ByteSpan after, unsigned elementBytes,
                          MutableByteSpan out) const noexcept override
    {
        return m_processor->xorInto(before, after, elementBytes, out);
    }
    DiffMoments moments(ByteSpan before, ByteSpan after, Dtype dtype) const noexcept override
    {
        return m_processor->moments(before, after, dtype);
    }
    void countSteps(ByteSpan before, ByteSpan after, Dtype dtype, StepCounts& counts) const noexcept override
    {
        m_processor->countSteps(before, after, dtype, counts);
    }
    void countPatterns(ByteSpan elements, unsigned elementBytes,
                       std::span<std::uint64_t> counts) const noexcept override
    {
        m_processor->countPatterns(elements, elementBytes, counts);
    }
    std::uint64_t countNan(ByteSpan elements, Dtype dtype) const noexcept override
    {
        return m_processor->countNan(elements, dtype);
    }
    PatchCounts apply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) const noexcept override
    {
        return m_processor->apply(piece, block, dtype);
    }

    std::unique_ptr<PairBatches> measure(Dtype dtype, std::function<void(const DiffMoments&)> use) const override
    {
        DevicePool* const opened = pool();
        return opened ? measureOnDevice(*opened, *m_processor, dtype, std::move(use))
                      : m_processor->measure(dtype, std::move(use));
    }
    std::unique_ptr<PairBatches> find(unsigned elementBytes, UseChanges use) const override
    {
        DevicePool* const opened = pool();
        return opened ? findOnDevice(*opened, *m_processor, elementBytes, std::move(use))
                      : m_processor->find(elementBytes, std::move(use));
    }
    std::unique_ptr<PatchBatches> patch(Dtype dtype, PatchedStates states) const override
    {
        DevicePool* const opened = pool();
        return opened ? DevicePatches::make(*opened, *m_processor, dtype, states) : nullptr;
    }

private:
    /// Opens the device at the first call; null where that fails, or not one batch fits.
    DevicePool* pool() const noexcept
    {
        std::call_once(m_once, [&] {
            Result<std::unique_ptr<DevicePool>> opened = DevicePool::open(m_load, m_memory);
            if (opened)
                m_pool = std::move(*opened);
            const Result<void> room = opened ? m_pool->expectRoom() : fail(opened.error());
            if (room)
                m_opened = m_pool.get();
            else
                m_obstacle = room.error();
        });
        return m_opened;
    }

    Load m_load;
    std::shared_ptr<const Backend> m_processor;
    std::optional<std::uint64_t> m_memory;
    mutable std::once_flag m_once;
    mutable std::unique_ptr<DevicePool> m_pool;
    mutable std::atomic<DevicePool*> m_opened = nullptr; ///< m_pool, where it has room
    mutable Error m_obstacle;
};

} // namespace

std::shared_ptr<const DeviceBackend> DeviceBackend::make(Load load, std::shared_ptr<const Backend> processor,
                                                         std::optional<std::uint64_t> memory)
{
    return std::make_shared<CudaBackend>(std::move(load), std::move(processor), memory);
}

} // namespace deltascope
