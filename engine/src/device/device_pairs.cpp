#include "device/device_pairs.h"

#include <algorithm>
#include <utility>

namespace deltascope {

using Area = DeviceSlot::Area;

DevicePairs::~DevicePairs()
{
    for (Batch& batch : m_batches) {
        if (!batch.stretches.empty())
            wait(batch);
        if (batch.slot)
            m_pool.giveBack(std::move(batch.slot), batch.failure);
    }
}

bool DevicePairs::fits(std::size_t bytes) const noexcept
{
    return bytes <= DeviceSlot::AreaBytes - m_batches[m_filling].filled;
}

Result<void> DevicePairs::add(ByteSpan before, ByteSpan after)
{
    if (!fits(before.size()))
        DS_CHECK(turn());
    Batch& batch = m_batches[m_filling];
    if (!batch.slot && !m_hasNoSlot) {
        batch.slot = m_pool.take();
        m_hasNoSlot = !batch.slot;
    }
    if (!batch.slot || !fits(before.size()) || before.empty()) {
        DS_CHECK(finish());
        m_pool.count(before.size() + after.size(), false);
        return m_processor->add(before, after);
    }
    const Stretch stretch { batch.filled, before.size() };
    std::copy(before.begin(), before.end(), batch.slot->host(Area::First).subspan(stretch.at).begin());
    std::copy(after.begin(), after.end(), batch.slot->host(Area::Second).subspan(stretch.at).begin());
    batch.stretches.push_back(stretch);
    batch.filled = std::min(alignedInArea(stretch.at + stretch.bytes), DeviceSlot::AreaBytes);
    return {};
}

Result<void> DevicePairs::finish()
{
    submit(m_filling);
    if (std::exchange(m_isOtherSubmitted, false))
        DS_CHECK(deliver(1 - m_filling));
    return deliver(m_filling);
}

Result<void> DevicePairs::turn()
{
    submit(m_filling);
    const std::size_t other = 1 - m_filling;
    if (std::exchange(m_isOtherSubmitted, false))
        DS_CHECK(deliver(other));
    if (!m_batches[other].slot)
        m_batches[other].slot = m_pool.take();
    if (!m_batches[other].slot)
        return deliver(m_filling);
    m_filling = other;
    m_isOtherSubmitted = true;
    return {};
}

void DevicePairs::submit(std::size_t which)
{
    Batch& batch = m_batches[which];
    if (batch.stretches.empty())
        return;
    DeviceSlot& slot = *batch.slot;
    std::vector<DevicePair> pairs;
    pairs.reserve(batch.stretches.size());
    for (const Stretch& stretch : batch.stretches)
        pairs.push_back({ slot.device(Area::First) + stretch.at, slot.device(Area::Second) + stretch.at, 0,
                          stretch.bytes / m_elementBytes });
    const auto submitAll = [&]() -> Result<void> {
        DS_CHECK(slot.sendUp(Area::First, batch.filled));
        DS_CHECK(slot.sendUp(Area::Second, batch.filled));
        return m_work->submit(slot.queue(), pairs, which);
    };
    if (const Result<void> submitted = submitAll(); !submitted)
        batch.failure = submitted.error();
}

void DevicePairs::wait(Batch& batch)
{
    if (batch.failure)
        return;
    if (const Result<void> done = batch.slot->queue().wait(); !done)
        batch.failure = done.error();
}

Result<void> DevicePairs::deliver(std::size_t which)
{
    Batch& batch = m_batches[which];
    if (batch.stretches.empty())
        return {};
    wait(batch);
    std::vector<ByteSpan> before;
    std::vector<ByteSpan> after;
    for (const Stretch& stretch : std::exchange(batch.stretches, {})) {
        before.push_back(batch.slot->host(Area::First).subspan(stretch.at, stretch.bytes));
        after.push_back(batch.slot->host(Area::Second).subspan(stretch.at, stretch.bytes));
        m_pool.count(2 * stretch.bytes, !batch.failure);
    }
    batch.filled = 0;
    if (!batch.failure)
        return m_work->handOver(which, before, after);
    Result<void> taken;
    for (std::size_t i = 0; taken && i < before.size(); ++i)
        taken = m_processor->add(before[i], after[i]);
    m_pool.giveBack(std::move(batch.slot), std::exchange(batch.failure, std::nullopt));
    return taken;
}

namespace {

class Measuring final : public DevicePairWork {
public:
    Measuring(Dtype dtype, std::function<void(const DiffMoments&)> use)
        : m_dtype(dtype)
        , m_use(std::move(use))
    {
    }
    Result<void> submit(DeviceQueue& queue, const std::vector<DevicePair>& pairs, std::size_t which) override
    {
        std::size_t blocks = 0;
        for (const DevicePair& pair : pairs)
            blocks += (pair.elements + Backend::MomentElements - 1) / Backend::MomentElements;
        m_moments[which].assign(blocks, {});
        return queue.call(queue.module().moments, pairs.data(), std::uint64_t { pairs.size() },
                          static_cast<std::uint32_t>(m_dtype), static_cast<void*>(m_moments[which].data()));
    }
    Result<void> handOver(std::size_t which, const std::vector<ByteSpan>&, const std::vector<ByteSpan>&) override
    {
        for (const DiffMoments& moments : m_moments[which])
            m_use(moments);
        return {};
    }

private:
    Dtype m_dtype;
    std::function<void(const DiffMoments&)> m_use;
    std::array<std::vector<DiffMoments>, 2> m_moments;
};

class Finding final : public DevicePairWork {
public:
    Finding(unsigned elementBytes, UseChanges use)
        : m_elementBytes(elementBytes)
        , m_use(std::move(use))
    {
    }
    Result<void> submit(DeviceQueue& queue, const std::vector<DevicePair>& pairs, std::size_t which) override
    {
        Found& found = m_found[which];
        std::size_t elements = 0;
        for (const DevicePair& pair : pairs)
            elements += pair.elements;
        found.positions.resize(std::max(found.positions.size(), elements));
        found.values.resize(std::max(found.values.size(), elements * m_elementBytes));
        found.changes.clear();
        std::size_t at = 0;
        for (const DevicePair& pair : pairs) {
            found.changes.push_back(
                { found.positions.data() + at, found.values.data() + at * m_elementBytes, pair.elements, 0 });
            at += pair.elements;
        }
        return queue.call(queue.module().extract, pairs.data(), std::uint64_t { pairs.size() },
                          std::uint32_t { m_elementBytes }, found.changes.data());
    }
    Result<void> handOver(std::size_t which, const std::vector<ByteSpan>& before,
                          const std::vector<ByteSpan>& after) override
    {
        for (std::size_t i = 0; i < before.size(); ++i) {
            const DeviceChanges& changes = m_found[which].changes[i];
            const auto* const values = static_cast<const std::byte*>(changes.values);
            DS_CHECK(m_use({ before[i],
                             after[i],
                             { changes.positions, changes.found },
                             { values, changes.found * m_elementBytes } }));
        }
        return {};
    }

private:
    struct Found {
        std::vector<DeviceChanges> changes;
        std::vector<std::uint32_t> positions;
        std::vector<std::byte> values;
    };

    unsigned m_elementBytes;
    UseChanges m_use;
    std::array<Found, 2> m_found;
};

} // namespace

std::unique_ptr<PairBatches> measureOnDevice(DevicePool& pool, const Backend& processor, Dtype dtype,
                                             std::function<void(const DiffMoments&)> use)
{
    auto measuring = std::make_unique<Measuring>(dtype, use);
    return std::make_unique<DevicePairs>(pool, std::move(measuring), processor.measure(dtype, std::move(use)),
                                         bitsOf(dtype) / 8);
}

std::unique_ptr<PairBatches> findOnDevice(DevicePool& pool, const Backend& processor, unsigned elementBytes,
                                          UseChanges use)
{
    auto finding = std::make_unique<Finding>(elementBytes, use);
    return std::make_unique<DevicePairs>(pool, std::move(finding), processor.find(elementBytes, std::move(use)),
                                         elementBytes);
}

} // namespace deltascope
