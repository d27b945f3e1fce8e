#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/device_module.h"
#include "module/arena.h"
#include "module/pieces.h"

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace deltascope::cuda {

/// A stream of a device, of the lowest priority, so that it yields to the training that shares the device. What it is
/// asked for is what DeviceModule says. One thread at a time.
class Queue {
public:
    static Result<std::unique_ptr<Queue>> open(const Device& device);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    Result<Address> allocate(std::uint64_t bytes);
    void release(Address address);
    Result<void*> allocateHost(std::uint64_t bytes);
    void releaseHost(void* host);
    Result<Address> pin(void* host, std::uint64_t bytes);
    void unpin(void* host);
    Result<void> upload(Address to, const void* from, std::uint64_t bytes);
    Result<void> download(void* to, Address from, std::uint64_t bytes);
    Result<void> copy(Address to, Address from, std::uint64_t bytes);
    Result<void> follow(Handle stream);
    Result<void> expectOwn(Address address, std::uint64_t bytes);

    Result<void> find(std::span<const DevicePair> pairs, std::uint32_t elementBytes, const DeviceFound& found);
    Result<void> sums(std::span<const DevicePair> pairs, std::uint32_t elementBytes, std::uint32_t* sums);
    Result<void> extract(std::span<const DevicePair> pairs, std::uint32_t elementBytes, DeviceChanges* changes);
    Result<void> moments(std::span<const DevicePair> pairs, Dtype dtype, DiffMoments* moments);
    Result<void> replay(std::span<const DeviceReplay> blocks, const DevicePiece* pieces, std::uint32_t elementBytes,
                        const DeviceBits& bits, DevicePatchCounts* counts);
    Result<void> hash(std::span<const DeviceLeaf> leaves, DeviceDigest* digests);
    Result<void> wait();

private:
    /// Takes over what has come down from the device.
    using Delivery = std::function<Result<void>()>;

    explicit Queue(const Device& device)
        : m_device(device)
        , m_arena(device)
    {
    }
    struct Extraction;
    Result<void> extractPieces(std::vector<Piece> pieces, std::uint32_t elementBytes, DeviceChanges* changes);
    Result<void> launchExtraction(Extraction& extraction);
    Result<void> deliver(Extraction& extraction);
    /// For so many changed elements, or more.
    Result<void> makeRoom(std::uint64_t elements, std::uint32_t elementBytes);
    void freeFound();
    /// Jobs, and which one each block belongs to, where kernels read them.
    struct Table {
        Address jobs;
        Address jobOfBlock;
    };
    /// `bytesBeside`: what else the launch takes from the arena.
    Result<Table> table(const std::vector<Piece>& pieces, std::uint64_t bytesBeside);
    /// Makes sure that so much fits, waiting for what was submitted if it must.
    Result<void> makeRoomInArena(std::uint64_t bytes);
    Result<void> launchReplay(const std::vector<ReplayJob>& jobs, const std::vector<ReplayPiece>& pieces,
                              std::uint32_t elementBytes, const DeviceBits& bits, DevicePatchCounts* counts);
    template <class Value> Result<Address> sendUp(const std::vector<Value>& values);
    /// Zeroed memory of the device whose content wait() brings down.
    Result<Arena::Place> results(std::uint64_t bytes);
    Result<void> bringDown(const Arena::Place& place, std::uint64_t bytes);
    Result<void> launch(const std::string& kernel, std::uint64_t blocks, unsigned threads, void* arguments);
    Result<void> synchronize();

    const Device& m_device;
    Handle m_stream = nullptr;
    Arena m_arena;
    std::vector<Delivery> m_deliveries;
    std::set<Address> m_allocated;
    std::set<void*> m_allocatedHost;
    std::set<void*> m_pinned;
    bool m_isExtracting = false;
    Address m_found = 0; ///< positions, then values of what extract() finds
    std::byte* m_foundHost = nullptr; ///< pinned, as large
    std::uint64_t m_foundBytes = 0;
    std::uint64_t m_foundRoom = 0; ///< in elements of the extraction that is under way
};

} // namespace deltascope::cuda
