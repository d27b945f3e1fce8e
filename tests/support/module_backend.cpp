#include "support/device.h"

#include "backend/nan_rule.h"
#include "backend/scalar_apply.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <variant>

namespace deltascope::test {

namespace {

/// A queue for one operation, and memory of the device that goes with it.
class OneOperation {
public:
    OneOperation(const DeviceModule& module, DeviceHandle* device)
        : m_module(module)
    {
        DeviceFault fault {};
        EXPECT_EQ(module.openQueue(device, &m_queue, &fault), 0) << fault.text;
    }
    ~OneOperation() { m_module.closeQueue(m_queue); }
    OneOperation(const OneOperation&) = delete;
    OneOperation& operator=(const OneOperation&) = delete;

    template <class Function, class... Arguments> void call(Function function, Arguments... arguments)
    {
        DeviceFault fault {};
        EXPECT_EQ(function(m_queue, arguments..., &fault), 0) << fault.text;
    }
    std::uint64_t send(ByteSpan bytes)
    {
        std::uint64_t address = 0;
        call(m_module.allocate, std::uint64_t { std::max<std::size_t>(bytes.size(), 1) }, &address);
        call(m_module.upload, address, static_cast<const void*>(bytes.data()), std::uint64_t { bytes.size() });
        return address;
    }
    void fetch(MutableByteSpan to, std::uint64_t from)
    {
        call(m_module.download, static_cast<void*>(to.data()), from, std::uint64_t { to.size() });
    }
    DevicePair pair(ByteSpan before, ByteSpan after, unsigned elementBytes)
    {
        const std::uint64_t first = send(before);
        return { first, send(after), first, before.size() / elementBytes };
    }

private:
    const DeviceModule& m_module;
    DeviceQueueHandle* m_queue = nullptr;
};

class ModuleBackend final : public Backend {
public:
    explicit ModuleBackend(Result<const DeviceModule*> module)
    {
        DeviceFault fault {};
        if (!module)
            m_obstacle = module.error();
        else if ((*module)->open(0, &m_device, &fault) != 0)
            m_obstacle = Error { static_cast<Code>(fault.code), fault.text, {}, {}, fault.action };
        else
            m_module = *module;
    }
    ~ModuleBackend() override
    {
        if (m_module)
            m_module->close(m_device);
    }
    ModuleBackend(const ModuleBackend&) = delete;
    ModuleBackend& operator=(const ModuleBackend&) = delete;

    std::string_view name() const noexcept override { return "cuda"; }
    bool isSupportedHere() const noexcept override { return m_module != nullptr; }
    std::optional<Error> obstacle() const override { return m_obstacle; }

    std::uint64_t count(ByteSpan before, ByteSpan after, unsigned elementBytes) const noexcept override
    {
        return found(before, after, elementBytes, { nullptr, nullptr, 0, 0 });
    }
    std::size_t extract(ByteSpan before, ByteSpan after, unsigned elementBytes, std::uint32_t* positions,
                        std::byte* values) const noexcept override
    {
        return found(before, after, elementBytes, { positions, values, before.size() / elementBytes, 0 });
    }
    std::uint64_t xorInto(ByteSpan before, ByteSpan after, unsigned elementBytes,
                          MutableByteSpan out) const noexcept override
    {
        return m_processor->xorInto(before, after, elementBytes, out);
    }
    DiffMoments moments(ByteSpan before, ByteSpan after, Dtype dtype) const noexcept override
    {
        OneOperation work(*m_module, m_device);
        const DevicePair pair = work.pair(before, after, bitsOf(dtype) / 8);
        DiffMoments moments;
        work.call(m_module->moments, &pair, std::uint64_t { 1 }, static_cast<std::uint32_t>(dtype),
                  static_cast<void*>(&moments));
        work.call(m_module->wait);
        return moments;
    }
    PatchCounts apply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) const noexcept override
    {
        if (bitsOf(dtype) % 8 == 0) {
            if (const auto* assigned = std::get_if<AssignElements>(&piece))
                return replay(piece, block, dtype, DevicePieceKind::Assign, assigned->elements, assigned->bits);
            if (const auto* masks = std::get_if<XorElements>(&piece))
                return replay(piece, block, dtype, DevicePieceKind::Xor, masks->elements, masks->bits);
            if (const auto* bytes = std::get_if<AssignBytes>(&piece))
                return replay(piece, block, dtype, DevicePieceKind::AssignBytes, bytes->positions, bytes->values);
            if (const auto* full = std::get_if<FullBlock>(&piece))
                return replay(piece, block, dtype, DevicePieceKind::Assign, {}, full->bytes);
            if (const auto* mask = std::get_if<XorBlock>(&piece))
                return replay(piece, block, dtype, DevicePieceKind::Xor, {}, mask->bytes);
        }
        return m_processor->apply(piece, block, dtype); // the module has no more of it
    }

private:
    std::uint64_t found(ByteSpan before, ByteSpan after, unsigned elementBytes, DeviceChanges changes) const
    {
        OneOperation work(*m_module, m_device);
        const DevicePair pair = work.pair(before, after, elementBytes);
        work.call(m_module->extract, &pair, std::uint64_t { 1 }, std::uint32_t { elementBytes }, &changes);
        work.call(m_module->wait);
        return changes.found;
    }
    /// `positions`: none means all.
    PatchCounts replay(const PatchPiece& piece, MutableByteSpan block, Dtype dtype, DevicePieceKind kind,
                       std::span<const std::uint32_t> positions, ByteSpan bits) const
    {
        OneOperation work(*m_module, m_device);
        const unsigned width = bitsOf(dtype) / 8;
        const NanRule<std::uint64_t> nan = nanRule<std::uint64_t>(dtype);
        const DeviceBits rule { nan.flip, nan.mask, nan.limit, zeroSign(dtype) };
        const std::uint64_t stretch = work.send(block);
        const DeviceReplay job { stretch, block.size() / width, 1 };
        const DevicePiece one { positions.empty() ? 0 : work.send(std::as_bytes(positions)), work.send(bits),
                                bits.size() / (kind == DevicePieceKind::AssignBytes ? 1 : width), kind, 0 };
        DevicePatchCounts did {};
        work.call(m_module->replay, &job, std::uint64_t { 1 }, &one, std::uint32_t { width }, &rule, &did);
        work.fetch(block, stretch);
        work.call(m_module->wait);
        PatchCounts counts;
        counts.changed = did.changed;
        if (kind == DevicePieceKind::Xor)
            return counts;
        const bool isFull = std::holds_alternative<FullBlock>(piece);
        counts.assigned = isFull ? 0 : positions.size();
        counts.noops = isFull ? 0 : did.noops;
        counts.nanNoops = isFull ? 0 : did.nanNoops;
        counts.zeroSigns = isFull ? did.zeroSigns : 0;
        counts.sameLowByte = did.sameLowByte;
        return counts;
    }

    const std::shared_ptr<const Backend> m_processor = Backends::builtin().all().front();
    const DeviceModule* m_module = nullptr;
    DeviceHandle* m_device = nullptr;
    std::optional<Error> m_obstacle;
};

} // namespace

std::shared_ptr<const Backend> moduleBackend() { return std::make_shared<ModuleBackend>(deviceModule()); }

} // namespace deltascope::test
