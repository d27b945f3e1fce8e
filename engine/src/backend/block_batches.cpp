#include "deltascope/engine/block_batches.h"

#include "backend/changed_elements.h"
#include "backend/each_moments.h"
#include "deltascope/engine/backend.h"

#include <utility>

namespace deltascope {

namespace {

class PairsAtOnce final : public PairBatches {
public:
    explicit PairsAtOnce(std::function<Result<void>(ByteSpan, ByteSpan)> use)
        : m_use(std::move(use))
    {
    }
    Result<void> add(ByteSpan before, ByteSpan after) override { return m_use(before, after); }
    Result<void> finish() override { return {}; }

private:
    std::function<Result<void>(ByteSpan, ByteSpan)> m_use;
};

class ChangesAtOnce final : public PairBatches {
public:
    ChangesAtOnce(const Backend& backend, unsigned elementBytes, UseChanges use)
        : m_changed(backend)
        , m_elementBytes(elementBytes)
        , m_use(std::move(use))
    {
    }
    Result<void> add(ByteSpan before, ByteSpan after) override
    {
        const std::span<const std::uint32_t> positions = m_changed.find(before, after, m_elementBytes);
        return m_use({ before, after, positions, m_changed.values() });
    }
    Result<void> finish() override { return {}; }

private:
    ChangedElements m_changed;
    unsigned m_elementBytes;
    UseChanges m_use;
};

} // namespace

std::unique_ptr<PairBatches> PairBatches::atOnce(std::function<Result<void>(ByteSpan, ByteSpan)> use)
{
    return std::make_unique<PairsAtOnce>(std::move(use));
}

std::unique_ptr<PairBatches> Backend::measure(Dtype dtype, std::function<void(const DiffMoments&)> use) const
{
    return PairBatches::atOnce([this, dtype, use = std::move(use)](ByteSpan before, ByteSpan after) -> Result<void> {
        forEachMoments(*this, before, after, dtype, use);
        return {};
    });
}

std::unique_ptr<PairBatches> Backend::find(unsigned elementBytes, UseChanges use) const
{
    return std::make_unique<ChangesAtOnce>(*this, elementBytes, std::move(use));
}

std::unique_ptr<PatchBatches> Backend::patch(Dtype, PatchedStates) const { return nullptr; }

} // namespace deltascope
