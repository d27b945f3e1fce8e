#include "format/dcp/chunk_geometry.h"

#include <algorithm>

namespace deltascope {

ChunkGeometry::ChunkGeometry(const std::vector<std::uint64_t>& shape, const PlacedChunk& chunk)
{
    std::uint64_t placed = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        m_placed += chunk.box.offsets[i] * placed;
        m_elements *= chunk.box.sizes[i];
        const Dimension dimension { chunk.box.sizes[i], chunk.strides[i], placed, 1 };
        placed *= shape[i];
        if (dimension.size == 1)
            continue;
        // Innermost first for now.
        Dimension* inner = m_dimensions.empty() ? nullptr : &m_dimensions.back();
        if (inner && dimension.stored == inner->stored * inner->size && dimension.placed == inner->placed * inner->size)
            inner->size *= dimension.size;
        else
            m_dimensions.push_back(dimension);
    }
    if (m_dimensions.empty())
        m_dimensions.emplace_back();
    std::reverse(m_dimensions.begin(), m_dimensions.end());
    std::uint64_t inner = 1;
    m_densest = m_dimensions.size() - 1;
    for (std::size_t i = m_dimensions.size(); i-- > 0;) {
        m_dimensions[i].inner = inner;
        inner *= m_dimensions[i].size;
        if (m_dimensions[i].stored < m_dimensions[m_densest].stored && m_dimensions[i].stored > 0)
            m_densest = i;
    }
}

std::uint64_t ChunkGeometry::elementsBefore(std::uint64_t placed) const noexcept
{
    if (placed <= m_placed)
        return 0;
    std::uint64_t rest = placed - m_placed;
    std::uint64_t count = 0;
    for (const Dimension& dimension : m_dimensions) {
        const std::uint64_t index = rest / dimension.placed;
        if (index >= dimension.size)
            return count + dimension.size * dimension.inner;
        count += index * dimension.inner;
        rest -= index * dimension.placed;
    }
    return rest > 0 ? count + 1 : count;
}

bool ChunkGeometry::isSequential() const noexcept
{
    return std::all_of(m_dimensions.begin(), m_dimensions.end(),
                       [](const Dimension& dimension) { return dimension.stored == dimension.inner; });
}

ChunkRun ChunkGeometry::locate(std::uint64_t number) const noexcept
{
    ChunkRun run;
    run.placed = m_placed;
    for (const Dimension& dimension : m_dimensions) {
        const std::uint64_t index = number / dimension.inner;
        number -= index * dimension.inner;
        run.stored += index * dimension.stored;
        run.placed += index * dimension.placed;
    }
    return run;
}

} // namespace deltascope
