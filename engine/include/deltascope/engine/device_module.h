#pragma once

#include <cstdint>

// What crosses between the program and a module that works on a device: one exported function, plain values and
// pointers to functions, so that neither side depends on the other's C++ library. Program and module are built
// together: DeviceModule::build of both is equal, or the module is not used.

namespace deltascope {

inline constexpr const char* DeviceModuleSymbol = "deltascope_device_module";

/// An error; `code` is a deltascope::Code.
struct DeviceFault {
    std::int32_t code;
    char text[240];
    char action[160];
};

struct DeviceInfo {
    char name[128];
    std::uint64_t freeBytes; ///< 0: the device was not opened
    std::uint64_t totalBytes;
    std::int32_t driverVersion; ///< 13000 for CUDA 13.0
    std::int32_t major; ///< compute capability
    std::int32_t minor;
};

/// Two stretches of one tensor in the memory of the device, equally long. Addresses are multiples of an element.
struct DevicePair {
    std::uint64_t before; ///< addresses
    std::uint64_t after;
    /// find(): where the new bits of what changed go, too; may be `before`; 0: nowhere. Others do not use it.
    std::uint64_t out;
    std::uint64_t elements;
};

/// What extract() found in one pair: `found` ascending positions relative to its start, and their new bits. Both have
/// room for `room` elements; if more are found, `found` says how many, and both hold a part.
struct DeviceChanges {
    std::uint32_t* positions;
    void* values;
    std::uint64_t room;
    std::uint64_t found;
};

/// What find() found in a block of 16384 elements, or in the rest of a pair.
struct DeviceFoundBlock {
    static constexpr std::uint64_t NoRoom = ~std::uint64_t { 0 };

    std::uint64_t first; ///< where its changes begin, in elements; NoRoom: they did not fit, and `out` is as it was
    std::uint32_t count; ///< how many changed
    std::uint32_t sum; ///< of `after`, as sums() has it
};

/// Where find() puts what it finds, at addresses in the memory of the device.
struct DeviceFound {
    std::uint64_t blocks; ///< DeviceFoundBlock, for each block of each pair in turn
    std::uint64_t positions; ///< std::uint16_t, relative to the block, ascending in it
    std::uint64_t values; ///< their new bits; a multiple of an element
    std::uint64_t room; ///< elements of both
    std::uint64_t used; ///< one std::uint64_t: the elements that changed, whether they fitted or not
};

/// What a DevicePiece did, as in PatchCounts; of DevicePieceKind::AssignBytes noops (bytes) and changed (elements)
/// alone.
struct DevicePatchCounts {
    std::uint64_t noops;
    std::uint64_t nanNoops;
    std::uint64_t changed;
    std::uint64_t zeroSigns;
    std::uint64_t sameLowByte;
};

/// What becomes of the bits of a DevicePiece: they replace elements, are xored into them, or replace single bytes.
enum class DevicePieceKind : std::uint64_t { Assign, Xor, AssignBytes };

/// Bits for elements, or for bytes, of a block, at addresses in the memory of the device.
struct DevicePiece {
    std::uint64_t positions; ///< std::uint32_t, relative to the block, strictly ascending; 0: all from the first one on
    std::uint64_t bits; ///< one after another, as wide as an element, or bytes
    std::uint64_t count;
    DevicePieceKind kind;
    std::uint64_t out; ///< where the block behind this piece is copied to, a multiple of an element; 0: nowhere
};

/// A stretch of a tensor that several versions change: `pieces` of them, applied in order.
struct DeviceReplay {
    std::uint64_t block; ///< address
    std::uint64_t elements; ///< of the stretch
    std::uint64_t pieces;
};

/// Bits of a type that have a meaning. Bits are a NaN if ((bits ^ nanFlip) & nanMask) > nanLimit.
struct DeviceBits {
    std::uint64_t nanFlip;
    std::uint64_t nanMask;
    std::uint64_t nanLimit;
    std::uint64_t minusZero; ///< 0: the type has none
};

/// More than 240 bytes whose XXH3-128 is wanted.
struct DeviceLeaf {
    std::uint64_t bytes;
    std::uint64_t size;
};
struct DeviceDigest {
    std::uint64_t low;
    std::uint64_t high;
};

/// An opened device, and a queue of it. Opaque.
struct DeviceHandle;
struct DeviceQueueHandle;

/// Functions return 0, or 1 and fill the fault. A queue belongs to one thread at a time; what is submitted to it
/// is done in order, results are there after wait(), and until then everything that was handed over stays alive and
/// unchanged. After a fault that the device does not recover from every function fails at once.
struct DeviceModule {
    std::uint32_t bytes; ///< of this struct
    const char* build;

    /// What a device is that need not be open, by its number as the driver counts them in this process. Errors:
    /// Unsupported (no driver, one that is too old or does not start, no such device).
    std::int32_t (*look)(std::int32_t ordinal, DeviceInfo* info, DeviceFault* fault);
    /// Errors: those of look(), Unsupported (no kernels for it: the text says for which there are some).
    std::int32_t (*open)(std::int32_t ordinal, DeviceHandle** device, DeviceFault* fault);
    void (*close)(DeviceHandle* device);
    std::int32_t (*describe)(DeviceHandle* device, DeviceInfo* info, DeviceFault* fault);

    std::int32_t (*openQueue)(DeviceHandle* device, DeviceQueueHandle** queue, DeviceFault* fault);
    /// Waits for what was submitted, and frees what the queue has.
    void (*closeQueue)(DeviceQueueHandle* queue);
    /// Device memory that the queue owns until it is closed or released.
    std::int32_t (*allocate)(DeviceQueueHandle* queue, std::uint64_t bytes, std::uint64_t* address, DeviceFault* fault);
    void (*release)(DeviceQueueHandle* queue, std::uint64_t address);
    /// Pinned memory of the host, which copies take without a detour, until the queue is closed or releases it.
    std::int32_t (*allocateHost)(DeviceQueueHandle* queue, std::uint64_t bytes, void** host, DeviceFault* fault);
    void (*releaseHost)(DeviceQueueHandle* queue, void* host);
    /// Pins whole pages of the caller's memory, which kernels then reach at `address`, over the bus: until the queue is
    /// closed or unpins it. The memory outlives that.
    std::int32_t (*pin)(DeviceQueueHandle* queue, void* host, std::uint64_t bytes, std::uint64_t* address,
                        DeviceFault* fault);
    void (*unpin)(DeviceQueueHandle* queue, void* host);
    std::int32_t (*upload)(DeviceQueueHandle* queue, std::uint64_t to, const void* from, std::uint64_t bytes,
                           DeviceFault* fault);
    std::int32_t (*download)(DeviceQueueHandle* queue, void* to, std::uint64_t from, std::uint64_t bytes,
                             DeviceFault* fault);
    /// Within the memory of the device.
    std::int32_t (*copy)(DeviceQueueHandle* queue, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                         DeviceFault* fault);
    /// What is submitted from now on begins once what another stream (a CUstream; null: the default one) holds now is
    /// done.
    std::int32_t (*follow)(DeviceQueueHandle* queue, void* stream, DeviceFault* fault);
    /// Looks at the first and the last byte of a stretch that somebody else has allocated: a kernel that touched memory
    /// of another device would end the context of the whole process. Errors: Usage (it is no memory of this device).
    std::int32_t (*expectOwn)(DeviceQueueHandle* queue, std::uint64_t address, std::uint64_t bytes, DeviceFault* fault);

    /// As Backend::extract(), for each pair; `elementBytes` is 1, 2, 4 or 8.
    std::int32_t (*extract)(DeviceQueueHandle* queue, const DevicePair* pairs, std::uint64_t pairCount,
                            std::uint32_t elementBytes, DeviceChanges* changes, DeviceFault* fault);
    /// As extract(), and leaves what it finds in the memory of the device: one pass over both stretches, behind which
    /// `after` may change.
    std::int32_t (*find)(DeviceQueueHandle* queue, const DevicePair* pairs, std::uint64_t pairCount,
                         std::uint32_t elementBytes, const DeviceFound* found, DeviceFault* fault);
    /// A sum of each block of `before` of each pair in turn: its words of 32 bits, each multiplied by the odd number
    /// that its place gives it, modulo 2^32. Blocks that differ in one word have different sums.
    std::int32_t (*sums)(DeviceQueueHandle* queue, const DevicePair* pairs, std::uint64_t pairCount,
                         std::uint32_t elementBytes, std::uint32_t* sums, DeviceFault* fault);
    /// As Backend::moments(). `dtype`: a Dtype of numbers. `moments`: a DiffMoments for each Backend::MomentElements of
    /// each pair in turn, the last one of a pair for what is left.
    std::int32_t (*moments)(DeviceQueueHandle* queue, const DevicePair* pairs, std::uint64_t pairCount,
                            std::uint32_t dtype, void* moments, DeviceFault* fault);
    /// `pieces` and `counts`: of all blocks, one after another.
    std::int32_t (*replay)(DeviceQueueHandle* queue, const DeviceReplay* blocks, std::uint64_t blockCount,
                           const DevicePiece* pieces, std::uint32_t elementBytes, const DeviceBits* bits,
                           DevicePatchCounts* counts, DeviceFault* fault);
    std::int32_t (*hash)(DeviceQueueHandle* queue, const DeviceLeaf* leaves, std::uint64_t leafCount,
                         DeviceDigest* digests, DeviceFault* fault);
    std::int32_t (*wait)(DeviceQueueHandle* queue, DeviceFault* fault);
};

using DeviceModuleEntry = const DeviceModule* (*)();

} // namespace deltascope
