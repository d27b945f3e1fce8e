#pragma once

#include "format/dcp/placed_tensor.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// Elements of a chunk that lie at equal distances in its stored bytes and in the tensor.
struct ChunkRun {
    std::uint64_t stored = 0; ///< the first element, from the start of the chunk's extent
    std::uint64_t placed = 0; ///< and in the tensor
    std::uint64_t count = 0;
    std::uint64_t storedStep = 1;
    std::uint64_t placedStep = 1;
};

/// Where the elements of one chunk lie in its extent and in the tensor; everything in elements. Elements of the chunk
/// are numbered in the order of the tensor.
class ChunkGeometry {
public:
    ChunkGeometry(const std::vector<std::uint64_t>& shape, const PlacedChunk& chunk);

    std::uint64_t elements() const noexcept { return m_elements; }
    /// How many of its elements lie in the tensor before the given one.
    std::uint64_t elementsBefore(std::uint64_t placed) const noexcept;
    /// Whether its elements lie in the extent by their numbers, without gaps.
    bool isSequential() const noexcept;

    /// Calls `take(ChunkRun)` for runs that cover the elements with numbers [first, last), until it returns false.
    /// Runs follow the dimension that is densest in the stored bytes.
    template <class Take> bool forEachRun(std::uint64_t first, std::uint64_t last, Take take) const;

private:
    /// One dimension of more than one element, joined with those that continue it on both sides.
    struct Dimension {
        std::uint64_t size = 1;
        std::uint64_t stored = 1; ///< distance of two neighbors
        std::uint64_t placed = 1;
        std::uint64_t inner = 1; ///< elements of all dimensions behind it
    };

    ChunkRun locate(std::uint64_t number) const noexcept;

    std::vector<Dimension> m_dimensions; ///< at least one; outermost first
    std::uint64_t m_elements = 1;
    std::uint64_t m_placed = 0; ///< its first element in the tensor
    std::size_t m_densest = 0;
};

template <class Take> bool ChunkGeometry::forEachRun(std::uint64_t first, std::uint64_t last, Take take) const
{
    const Dimension& along = m_dimensions[m_densest];
    const std::uint64_t slab = along.size * along.inner;
    for (std::uint64_t number = first; number < last;) {
        // Of the slab that `number` lies in, the part up to `last`: one run for each place in the inner dimensions.
        const std::uint64_t slabBegin = number - number % slab;
        const std::uint64_t end = last - slabBegin < slab ? last : slabBegin + slab;
        const std::uint64_t runs = end - number < along.inner ? end - number : along.inner;
        for (std::uint64_t i = 0; i < runs; ++i) {
            ChunkRun run = locate(number + i);
            run.count = (end - number - i + along.inner - 1) / along.inner;
            run.storedStep = along.stored;
            run.placedStep = along.placed;
            if (!take(run))
                return false;
        }
        number = end;
    }
    return true;
}

} // namespace deltascope
