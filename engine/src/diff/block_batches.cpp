#include "deltascope/engine/block_batches.h"

#include "deltascope/engine/diff_backend.h"
#include "diff/each_moments.h"

#include <algorithm>
#include <utility>
#include <vector>

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
    ChangesAtOnce(const DiffBackend& backend, unsigned elementBytes, UseChanges use)
        : m_backend(backend)
        , m_elementBytes(elementBytes)
        , m_use(std::move(use))
    {
    }
    Result<void> add(ByteSpan before, ByteSpan after) override
    {
        const std::size_t room = before.size() / m_elementBytes + DiffBackend::SlackElements;
        m_positions.resize(std::max(m_positions.size(), room));
        m_values.resize(std::max(m_values.size(), room * m_elementBytes));
        const std::size_t found = m_backend.extract(before, after, m_elementBytes, m_positions.data(), m_values.data());
        return m_use(
            { before, after, std::span(m_positions).first(found), ByteSpan(m_values).first(found * m_elementBytes) });
    }
    Result<void> finish() override { return {}; }

private:
    const DiffBackend& m_backend;
    unsigned m_elementBytes;
    UseChanges m_use;
    std::vector<std::uint32_t> m_positions;
    std::vector<std::byte> m_values;
};

} // namespace

std::unique_ptr<PairBatches> PairBatches::atOnce(std::function<Result<void>(ByteSpan, ByteSpan)> use)
{
    return std::make_unique<PairsAtOnce>(std::move(use));
}

std::unique_ptr<PairBatches> DiffBackend::measure(Dtype dtype, std::function<void(const DiffMoments&)> use) const
{
    return PairBatches::atOnce([this, dtype, use = std::move(use)](ByteSpan before, ByteSpan after) -> Result<void> {
        forEachMoments(*this, before, after, dtype, use);
        return {};
    });
}

std::unique_ptr<PairBatches> DiffBackend::find(unsigned elementBytes, UseChanges use) const
{
    return std::make_unique<ChangesAtOnce>(*this, elementBytes, std::move(use));
}

std::unique_ptr<PatchBatches> DiffBackend::patch(Dtype) const { return nullptr; }

} // namespace deltascope
