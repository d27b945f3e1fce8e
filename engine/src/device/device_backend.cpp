#include "deltascope/engine/device_backend.h"

#include "device/device_queue.h"
#include "diff/nan_rule.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <variant>

namespace deltascope {

namespace {

/// Bytes that go up at a time: what memory of the device a queue takes does not depend on the stretch.
constexpr std::size_t PartBytes = std::size_t { 16 } << 20;

/// The device, once it is open.
class OpenDevice {
public:
    static Result<std::unique_ptr<OpenDevice>> open(const DeviceBackend::Load& load)
    {
        DS_TRY(const DeviceModule* const module, load());
        DeviceFault fault {};
        DeviceHandle* device = nullptr;
        if (module->open(0, &device, &fault) != 0)
            return fail(errorOf(fault));
        return std::make_unique<OpenDevice>(*module, device);
    }
    OpenDevice(const DeviceModule& module, DeviceHandle* device)
        : m_module(module)
        , m_device(device)
    {
    }
    ~OpenDevice()
    {
        m_idle.clear();
        m_module.close(m_device);
    }
    OpenDevice(const OpenDevice&) = delete;
    OpenDevice& operator=(const OpenDevice&) = delete;

    Result<DeviceInfo> describe() const
    {
        DeviceFault fault {};
        DeviceInfo info {};
        if (m_module.describe(m_device, &info, &fault) != 0)
            return fail(errorOf(fault));
        return info;
    }

    /// Does `work` with a queue. One that failed is not used again.
    Result<void> with(const std::function<Result<void>(DeviceQueue&)>& work)
    {
        std::unique_ptr<DeviceQueue> queue = takeIdle();
        if (!queue) {
            DS_TRY(queue, DeviceQueue::open(m_module, m_device));
        }
        DS_CHECK(work(*queue));
        DS_CHECK(queue->call(m_module.wait));
        const std::lock_guard lock(m_mutex);
        m_idle.push_back(std::move(queue));
        return {};
    }

private:
    std::unique_ptr<DeviceQueue> takeIdle()
    {
        const std::lock_guard lock(m_mutex);
        if (m_idle.empty())
            return nullptr;
        std::unique_ptr<DeviceQueue> queue = std::move(m_idle.back());
        m_idle.pop_back();
        return queue;
    }

    const DeviceModule& m_module;
    DeviceHandle* m_device;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<DeviceQueue>> m_idle;
};

class CudaBackend final : public DeviceBackend {
public:
    CudaBackend(Load load, std::shared_ptr<const DiffBackend> processor)
        : m_load(std::move(load))
        , m_processor(std::move(processor))
    {
    }

    std::string_view name() const noexcept override { return "cuda"; }
    bool byNameOnly() const noexcept override { return true; }
    bool isSupportedHere() const noexcept override { return device() != nullptr; }
    std::string obstacle() const override
    {
        if (device())
            return {};
        return m_obstacle.where.empty() ? m_obstacle.text : m_obstacle.text + " (" + m_obstacle.where + ")";
    }
    Result<DeviceInfo> describe() const override
    {
        if (OpenDevice* const opened = device())
            return opened->describe();
        return fail(m_obstacle);
    }
    std::vector<Error> notices() const override
    {
        const std::lock_guard lock(m_mutex);
        return m_notices;
    }

    std::uint64_t count(ByteSpan before, ByteSpan after, unsigned elementBytes) const noexcept override
    {
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at < before.size(); at += PartBytes) {
            const ByteSpan a = partOf(before, at);
            const ByteSpan b = partOf(after, at);
            std::uint64_t different = 0;
            const bool done = onDevice([&](DeviceQueue& queue) -> Result<void> {
                DS_TRY(const DevicePair pair, send(queue, a, b, elementBytes));
                return queue.call(queue.module().count, &pair, std::uint64_t { 1 }, std::uint32_t { elementBytes },
                                  &different);
            });
            sum += done ? different : m_processor->count(a, b, elementBytes);
        }
        return sum;
    }

    std::size_t extract(ByteSpan before, ByteSpan after, unsigned elementBytes, std::uint32_t* positions,
                        std::byte* values) const noexcept override
    {
        std::size_t found = 0;
        for (std::size_t at = 0; at < before.size(); at += PartBytes) {
            const ByteSpan a = partOf(before, at);
            const ByteSpan b = partOf(after, at);
            std::byte* const valuesHere = values + found * elementBytes;
            DeviceChanges changes { positions + found, valuesHere, a.size() / elementBytes, 0 };
            const bool done = onDevice([&](DeviceQueue& queue) -> Result<void> {
                DS_TRY(const DevicePair pair, send(queue, a, b, elementBytes));
                return queue.call(queue.module().extract, &pair, std::uint64_t { 1 }, std::uint32_t { elementBytes },
                                  &changes);
            });
            const std::size_t here =
                done ? changes.found : m_processor->extract(a, b, elementBytes, positions + found, valuesHere);
            const auto first = static_cast<std::uint32_t>(at / elementBytes);
            std::for_each(positions + found, positions + found + here,
                          [&](std::uint32_t& position) { position += first; });
            found += here;
        }
        return found;
    }

    std::uint64_t xorInto(ByteSpan before, ByteSpan after, unsigned elementBytes,
                          MutableByteSpan out) const noexcept override
    {
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at < before.size(); at += PartBytes) {
            const ByteSpan a = partOf(before, at);
            const ByteSpan b = partOf(after, at);
            const MutableByteSpan mask = out.subspan(at, a.size());
            std::uint64_t different = 0;
            std::vector<std::byte> made; // `out` may be an input, which the processor needs if the device fails
            const bool done = onDevice([&](DeviceQueue& queue) -> Result<void> {
                DS_TRY(DevicePair pair, send(queue, a, b, elementBytes));
                pair.out = pair.before;
                DS_CHECK(queue.call(queue.module().xorInto, const_cast<const DevicePair*>(&pair), std::uint64_t { 1 },
                                    std::uint32_t { elementBytes }, &different));
                made.resize(a.size());
                return queue.fetch(made, pair.out);
            });
            if (done)
                std::copy(made.begin(), made.end(), mask.begin());
            sum += done ? different : m_processor->xorInto(a, b, elementBytes, mask);
        }
        return sum;
    }

    DiffMoments moments(ByteSpan before, ByteSpan after, Dtype dtype) const noexcept override
    {
        DiffMoments moments;
        const bool done = onDevice([&](DeviceQueue& queue) -> Result<void> {
            DS_TRY(const DevicePair pair, send(queue, before, after, bitsOf(dtype) / 8));
            return queue.call(queue.module().moments, &pair, std::uint64_t { 1 }, static_cast<std::uint32_t>(dtype),
                              static_cast<void*>(&moments));
        });
        return done && !before.empty() ? moments : m_processor->moments(before, after, dtype);
    }

    /// Assigned and xored elements are applied on the device; what is rarer, by the processor.
    PatchCounts apply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) const noexcept override
    {
        std::optional<PatchCounts> counts;
        if (bitsOf(dtype) % 8 == 0) {
            if (const auto* assign = std::get_if<AssignElements>(&piece))
                counts = assignTo(block, dtype, assign->elements, assign->bits, false);
            else if (const auto* masks = std::get_if<XorElements>(&piece))
                counts = assignTo(block, dtype, masks->elements, masks->bits, true);
        }
        return counts ? *counts : m_processor->apply(piece, block, dtype);
    }

private:
    static ByteSpan partOf(ByteSpan bytes, std::size_t at)
    {
        return bytes.subspan(at, std::min(PartBytes, bytes.size() - at));
    }

    static Result<DevicePair> send(DeviceQueue& queue, ByteSpan before, ByteSpan after, unsigned elementBytes)
    {
        DS_TRY(const std::uint64_t first, queue.send(DeviceQueue::Place::First, before));
        DS_TRY(const std::uint64_t second, queue.send(DeviceQueue::Place::Second, after));
        return DevicePair { first, second, 0, before.size() / elementBytes };
    }

    std::optional<PatchCounts> assignTo(MutableByteSpan block, Dtype dtype, std::span<const std::uint32_t> elements,
                                        ByteSpan bits, bool isXor) const noexcept
    {
        if (elements.empty())
            return std::nullopt;
        const unsigned elementBytes = bitsOf(dtype) / 8;
        const NanRule<std::uint64_t> nan = nanRule<std::uint64_t>(dtype);
        DeviceAssigned assigned {};
        std::vector<std::byte> made;
        const bool done = onDevice([&](DeviceQueue& queue) -> Result<void> {
            DS_TRY(const std::uint64_t stretch, queue.send(DeviceQueue::Place::First, block));
            DS_TRY(const std::uint64_t positions, queue.send(DeviceQueue::Place::Second, std::as_bytes(elements)));
            DS_TRY(const std::uint64_t fresh, queue.send(DeviceQueue::Place::Third, bits));
            const DeviceAssign job { stretch, positions, fresh, elements.size(), nan.flip, nan.mask, nan.limit };
            DS_CHECK(queue.call(queue.module().assign, &job, std::uint64_t { 1 }, std::uint32_t { elementBytes },
                                std::uint32_t { isXor }, &assigned));
            made.resize(block.size());
            return queue.fetch(made, stretch);
        });
        if (!done)
            return std::nullopt;
        std::copy(made.begin(), made.end(), block.begin());
        PatchCounts counts;
        counts.assigned = isXor ? 0 : elements.size();
        counts.noops = assigned.noops;
        counts.nanNoops = assigned.nanNoops;
        counts.changed = assigned.changed;
        counts.sameLowByte = assigned.sameLowByte;
        return counts;
    }

    /// Opens it at the first call; null where that fails.
    OpenDevice* device() const noexcept
    {
        std::call_once(m_once, [&] {
            Result<std::unique_ptr<OpenDevice>> opened = OpenDevice::open(m_load);
            if (opened)
                m_device = std::move(*opened);
            else
                m_obstacle = opened.error();
        });
        return m_device.get();
    }

    /// False where the device failed: then nothing that `work` wrote counts.
    bool onDevice(const std::function<Result<void>(DeviceQueue&)>& work) const noexcept
    {
        OpenDevice* const opened = device();
        if (!opened || m_isLost)
            return false;
        try {
            const Result<void> done = opened->with(work);
            if (!done)
                noteFailure(done.error());
            return done.has_value();
        } catch (const std::bad_alloc&) {
            return false; // the processor needs no memory
        }
    }

    void noteFailure(const Error& error) const
    {
        const bool lost = error.code != Code::NoSpace; // memory may be free again
        m_isLost = m_isLost || lost;
        const Error notice { error.code,
                             "the CUDA device failed (" + error.text + "); the processor did its work"
                                 + (lost ? ", and does all that follows" : ""),
                             {},
                             {},
                             error.action };
        const std::lock_guard lock(m_mutex);
        if (std::find(m_notices.begin(), m_notices.end(), notice) == m_notices.end())
            m_notices.push_back(notice);
    }

    Load m_load;
    std::shared_ptr<const DiffBackend> m_processor;
    mutable std::once_flag m_once;
    mutable std::unique_ptr<OpenDevice> m_device;
    mutable Error m_obstacle;
    mutable std::atomic<bool> m_isLost = false;
    mutable std::mutex m_mutex;
    mutable std::vector<Error> m_notices;
};

} // namespace

std::shared_ptr<const DeviceBackend> DeviceBackend::make(Load load, std::shared_ptr<const DiffBackend> processor)
{
    return std::make_shared<CudaBackend>(std::move(load), std::move(processor));
}

} // namespace deltascope
