#pragma once

#include "deltascope/engine/tensor.h"
#include "device/device_queue.h"
#include "from_device/staged_reads.h"
#include "state/changed_state.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace deltascope {

/// How a model differs from the state that is kept of it.
struct DeviceChangeSet {
    std::vector<TensorChanges> tensors; ///< by name
    std::uint64_t changedElements = 0;
    std::uint64_t bytesDown = 0; ///< that came from the device for it
};

/// Finds how tensors on a device differ from copies of them. What it finds stays on the device until it is collected:
/// the tensors have to wait for the pass alone.
/// Memory of the device: 2 bytes and an element for one element of 32, 16 bytes for 16384. One thread at a time.
class FoundChanges {
public:
    /// `tensors` outlive it, the queue every call. Errors: NoSpace (the device has no room for it), those of the
    /// device.
    static Result<std::unique_ptr<FoundChanges>> make(DeviceQueue& queue, const std::vector<TensorInfo>& tensors);
    ~FoundChanges();
    FoundChanges(const FoundChanges&) = delete;
    FoundChanges& operator=(const FoundChanges&) = delete;
    /// Gives the memory back, which else belongs to the queue until that is closed.
    void release() noexcept;

    // `copies` and `tensors`: addresses that kernels reach, by tensor. Both return once the tensors may change again.
    // Errors: those of the device.

    /// Brings the copies up to date in the same pass. If more changed than there is room for, that comes down before,
    /// and the pass is repeated for the rest. Errors: then some of the copies may be up to date.
    Result<void> update(const std::vector<std::uint64_t>& copies, const std::vector<std::uint64_t>& tensors,
                        StagedReads& reads);
    /// Leaves the copies as they are. False: more changed than there is room for.
    Result<bool> compare(const std::vector<std::uint64_t>& copies, const std::vector<std::uint64_t>& tensors);

    /// Brings down what was found. Errors: Digest (what comes down is not what was found, or a copy that was updated is
    /// not what the pass read), those of the device.
    Result<DeviceChangeSet> collect(const std::vector<std::uint64_t>& copies, StagedReads& reads);

private:
    struct Pass;
    struct BlockPlace;
    struct Width;
    FoundChanges(DeviceQueue& queue, const std::vector<TensorInfo>& tensors);
    void begin();
    std::vector<Width*> all();
    /// One pass. `updates`: the copies.
    Result<void> find(const std::vector<Width*>& widths, const std::vector<std::uint64_t>& copies,
                      const std::vector<std::uint64_t>& tensors, bool updates);
    Result<void> bringDown(Width& width, StagedReads& reads);
    Result<void> makeRoom(Width& width);
    Result<void> expectSums(const Width& width, const std::vector<std::uint64_t>& copies);
    Result<void> addTo(DeviceChangeSet& changes, const Width& width) const;
    Result<void> download(const std::vector<DeviceStretch>& from, const std::vector<MutableByteSpan>& to,
                          StagedReads& reads);

    DeviceQueue& m_queue;
    const std::vector<TensorInfo>& m_tensors;
    std::vector<Width> m_widths; ///< of elements
    bool m_isUpdated = false; ///< the copies are, by the pass before
    std::uint64_t m_bytesDown = 0; ///< since begin()
};

/// What came down from a device is not what the device has: `what` says how.
Error notWhatTheDeviceHas(const std::string& what, std::string where);

} // namespace deltascope
