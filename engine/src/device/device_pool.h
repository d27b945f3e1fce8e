#pragma once

#include "deltascope/engine/device_backend.h"
#include "device/device_slot.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace deltascope {

/// An open device, and the slots that its work goes through: as many as fit into the memory that may be taken. Any
/// thread.
class DevicePool {
public:
    /// `memory`: bytes of the device that may be taken; nothing: a tenth of what is free. Errors:
    /// Unsupported (no module, driver or device), Io.
    static Result<std::unique_ptr<DevicePool>> open(const DeviceBackend::Load& load,
                                                    std::optional<std::uint64_t> memory);
    ~DevicePool();
    DevicePool(const DevicePool&) = delete;
    DevicePool& operator=(const DevicePool&) = delete;

    Result<DeviceInfo> describe() const;
    /// Errors: NoSpace (not one slot fits into the memory that may be taken).
    Result<void> expectRoom() const;

    /// Null: all are in use, or the device failed; then the processor does the work.
    std::unique_ptr<DeviceSlot> take();
    /// `failure`: of the device. Then the slot is closed, notices() reports it, and nobody gets a slot any more if the
    /// device does not recover from it.
    void giveBack(std::unique_ptr<DeviceSlot> slot, const std::optional<Error>& failure);
    /// Closes the slots that nobody has taken. What had no room before is tried again.
    void closeIdle() noexcept;
    std::vector<Error> notices() const;
    /// Bytes of batches that were done, of both sides of a pair; `byDevice`: else the processor did them.
    void count(std::size_t bytes, bool byDevice) noexcept { (byDevice ? m_byDevice : m_byProcessor) += bytes; }
    DeviceShare share() const noexcept { return { m_byDevice, m_byProcessor, m_isLost }; }

private:
    DevicePool(const DeviceModule& module, DeviceHandle* device)
        : m_module(module)
        , m_device(device)
    {
    }

    Result<std::unique_ptr<DeviceSlot>> openSlot();
    /// Counts a slot out that is closed, or was never opened.
    void drop(const Error& error);

    const DeviceModule& m_module;
    DeviceHandle* m_device;
    std::uint64_t m_memory = 0; ///< bytes that may be taken
    std::size_t m_allowed = 0; ///< slots that fit into it
    std::atomic<bool> m_isLost = false;
    std::atomic<std::uint64_t> m_byDevice = 0;
    std::atomic<std::uint64_t> m_byProcessor = 0;
    mutable std::mutex m_mutex; ///< guards what follows
    std::size_t m_most = 0; ///< of m_allowed those that there was room for
    std::size_t m_open = 0; ///< slots, taken or idle
    std::vector<std::unique_ptr<DeviceSlot>> m_idle;
    std::vector<Error> m_notices;
};

} // namespace deltascope
