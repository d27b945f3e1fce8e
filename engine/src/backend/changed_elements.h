#pragma once

#include "deltascope/engine/backend.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace deltascope {

/// Finds the elements of blocks whose bits differ. One thread.
class ChangedElements {
public:
    /// `backend` outlives it.
    explicit ChangedElements(const Backend& backend)
        : m_backend(backend)
    {
    }

    /// Their positions in two equally long blocks, ascending; valid until the next call.
    std::span<const std::uint32_t> find(ByteSpan a, ByteSpan b, unsigned elementBytes)
    {
        const std::size_t room = a.size() / elementBytes + Backend::SlackElements;
        m_positions.resize(std::max(m_positions.size(), room));
        m_values.resize(std::max(m_values.size(), room * elementBytes));
        const std::size_t found = m_backend.extract(a, b, elementBytes, m_positions.data(), m_values.data());
        m_valueBytes = found * elementBytes;
        return std::span(m_positions).first(found);
    }
    /// The bits in `b` of what find() found, one after another; valid as long.
    ByteSpan values() const { return ByteSpan(m_values).first(m_valueBytes); }

private:
    const Backend& m_backend;
    std::vector<std::uint32_t> m_positions;
    std::vector<std::byte> m_values;
    std::size_t m_valueBytes = 0;
};

} // namespace deltascope
