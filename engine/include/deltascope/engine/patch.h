#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <span>
#include <variant>

namespace deltascope {

// What a version does to one tensor: the only language that the engine speaks behind the layout readers. A patch is
// streamed in pieces, one per block of the tensor, so that no tensor is ever held whole. Positions inside a piece are
// relative to the start of its block; readers keep absolute positions in 64 bits and have checked them: strictly
// increasing, inside the tensor, as many as values.

/// New bytes for the whole block.
struct FullBlock {
    ByteSpan bytes;
};
/// New bit patterns for some elements. `bits`: the values one after another, each as wide as an element.
struct AssignElements {
    std::span<const std::uint32_t> elements;
    ByteSpan bits;
};
/// New values for some bytes.
struct AssignBytes {
    std::span<const std::uint32_t> positions;
    ByteSpan values;
};
/// Bit patterns to be xored into some elements.
struct XorElements {
    std::span<const std::uint32_t> elements;
    ByteSpan bits;
};
/// A mask for the whole block, to be xored into it.
struct XorBlock {
    ByteSpan bytes;
};

/// Differences to be added to some elements of BF16, F16 or F32, as F32. What comes out depends on rounding: it is
/// never called verified.
struct AddElements {
    std::span<const std::uint32_t> elements;
    ByteSpan values; ///< F32, little-endian, not aligned
};

/// `std::monostate`: nothing in this block.
using PatchPiece =
    std::variant<std::monostate, FullBlock, AssignElements, AssignBytes, XorElements, XorBlock, AddElements>;

/// The patch of one tensor, read from front to back. Not thread-safe; one stream per thread.
class PatchStream {
public:
    virtual ~PatchStream() = default;
    /// The piece for tensor bytes [begin, end). Calls come with ascending, adjacent ranges whose ends are multiples of
    /// the element size, from 0 to the size of the tensor; a stream that was told to skip may start later. What the
    /// piece refers to stays valid until the next call. Errors: Hostile (positions or sizes break the rules),
    /// Truncated, Io, Transient, Unsupported.
    virtual Result<PatchPiece> next(std::uint64_t begin, std::uint64_t end) = 0;
    /// Called once behind the last block: nothing may be left over. Errors: Hostile.
    virtual Result<void> finish() = 0;
    /// Memory beside the input buffers that reading it will take, as the start of the input tells. Called before
    /// anything else. Errors: those of next().
    virtual Result<std::uint64_t> workingBytes() { return 0; }
    /// Whether next() may start anywhere without reading what lies before.
    virtual bool seekable() const noexcept { return false; }
};

/// What happened when pieces were applied to a state.
struct PatchCounts {
    std::uint64_t assigned = 0; ///< elements (or bytes, for AssignBytes) that the patch names
    std::uint64_t noops = 0; ///< of these, how many got the bits that they already had
    std::uint64_t nanNoops = 0; ///< no-ops whose value is a NaN (float-comparing writers always send those)
    std::uint64_t changed = 0; ///< elements whose bits differ from the state before
    /// Of these, how many differ in the sign of zero alone; counted where full tensors replace a state.
    std::uint64_t zeroSigns = 0;
    /// Of changed elements of 16 bits, how many kept their low byte (zeroSigns among them); counted where elements are
    /// assigned and where full tensors replace a state.
    std::uint64_t sameLowByte = 0;

    PatchCounts& operator+=(const PatchCounts& other) noexcept
    {
        assigned += other.assigned;
        noops += other.noops;
        nanNoops += other.nanNoops;
        changed += other.changed;
        zeroSigns += other.zeroSigns;
        sameLowByte += other.sameLowByte;
        return *this;
    }
    bool operator==(const PatchCounts&) const = default;
};

/// Bytes of one block of the block-major walk: 128 KiB (64 Ki elements of bf16), for 6-bit types 96 KiB.
inline std::uint64_t blockBytesOf(Dtype dtype) noexcept { return bitsOf(dtype) == 6 ? 96 * 1024 : 128 * 1024; }

} // namespace deltascope
