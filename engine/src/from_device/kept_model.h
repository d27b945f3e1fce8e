#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/state.h"
#include "device/device_queue.h"
#include "from_device/found_changes.h"
#include "from_device/host_copy.h"
#include "from_device/staged_reads.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// A tensor of a trainer, in the memory of a device and without padding.
struct DeviceTensor {
    TensorInfo info;
    std::uint64_t address = 0;
};

/// The state that a model on a device had when it was published last: a copy in the memory of the host and, where that
/// is wanted and fits, a second one on the device. A model is compared with the one on the device; else with the one on
/// the host, by the device over the bus; else by the processor, once all of it came down. One thread at a time.
class KeptModel {
public:
    using OpenQueue = std::function<Result<std::unique_ptr<DeviceQueue>>()>;

    /// `processor` compares where the device cannot. `keepsOnDevice`: whether a copy there is wanted.
    KeptModel(OpenQueue openQueue, std::shared_ptr<const Backend> processor, bool keepsOnDevice);

    const std::vector<TensorInfo>& tensors() const noexcept { return m_tensors; } ///< by name
    ByteSpan bytesOf(std::size_t tensor) const noexcept { return m_host[tensor]; }

    // Both wait for what `stream` (a CUstream; null: the default one) holds now, and return once the tensors may change
    // again. Errors: Usage (an address is not in the memory of the device, a tensor occurs twice), those of the device.

    /// Keeps the model as it is. Returns the bytes that came down.
    Result<std::uint64_t> begin(std::vector<DeviceTensor> tensors, void* stream);
    /// Takes what differs from the kept state, which stays as it is. Errors: also BaseMismatch (the tensors are
    /// others).
    Result<void> compare(std::vector<DeviceTensor> tensors, void* stream);

    /// What compare() took, once; brings down what is still on the device. Errors: those of FoundChanges::collect().
    Result<DeviceChangeSet> collect();
    /// Nodes (DSM1, fast) of the tensors as the device keeps them, hashed there: of what was kept or compared last.
    /// Nothing: it keeps no copy. Errors: those of the device, which then keeps none.
    Result<std::optional<std::vector<TensorNode>>> hashOnDevice();
    /// The kept state becomes the one that was compared last. Where that was lost, the copy on the device is already
    /// newer than the kept state, and the next model is compared with the copy on the host.
    void accept(const DeviceChangeSet& changes);
    /// What is worse than was asked for, and why: each once. begin() forgets what may be better than before.
    std::vector<Error> newNotices();

private:
    class Use;
    void clear() noexcept;
    /// Ends what was submitted, and forgets it. What the device keeps goes, too.
    void closeQueue() noexcept;
    Result<void> expectUsable(const std::vector<DeviceTensor>& tensors, void* stream);
    Result<void> expectSameModel(const std::vector<DeviceTensor>& tensors) const;
    Result<DeviceChangeSet> compareOnHost(const std::vector<DeviceTensor>& tensors);
    /// By the device, with the copy on the host. False: it cannot.
    Result<bool> compareOverBus(const std::vector<DeviceTensor>& tensors);
    /// Whether the device reaches the copy on the host.
    bool pinHost();
    /// Copies the tensors to where the device keeps them, if they are to be kept there.
    Result<void> keepOnDevice(const std::vector<DeviceTensor>& tensors);
    /// Memory for that. Errors: NoSpace, those of the device.
    Result<void> allocateOnDevice();
    void releaseOnDevice() noexcept;

    OpenQueue m_openQueue;
    StagedReads m_reads; ///< outlives the queue, as m_host
    HostCopy m_host;
    std::unique_ptr<DeviceQueue> m_queue; ///< null: it is opened again when it is needed
    std::shared_ptr<const Backend> m_processor;
    bool m_keepsOnDevice;
    std::vector<TensorInfo> m_tensors;
    std::vector<std::uint64_t> m_device; ///< addresses; empty: nothing is allocated
    std::unique_ptr<FoundChanges> m_found; ///< of these; null: nothing is allocated
    std::optional<DeviceChangeSet> m_changes; ///< that compare() took; nothing: they are in m_found
    /// What the copy on the device is: not known, the state that was compared last, or the kept one.
    enum class OnDevice : std::uint8_t { Nothing, Compared, Kept };
    OnDevice m_onDevice = OnDevice::Nothing;
    std::uint64_t m_hostAddress = 0; ///< where kernels reach m_host; 0: it is not pinned
    bool m_isPinRefused = false;
    std::optional<Error> m_noRoom; ///< notices that nobody took yet
    std::optional<Error> m_notPinned;
};

} // namespace deltascope
