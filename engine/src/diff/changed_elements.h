#pragma once

#include "deltascope/engine/diff_backend.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace deltascope {

/// Finds the elements of blocks whose bits differ. One thread.
class ChangedElements {
public:
    explicit ChangedElements(std::shared_ptr<const DiffBackend> backend)
        : m_backend(std::move(backend))
    {
    }

    /// Their positions in two equally long blocks, ascending; valid until the next call.
    std::span<const std::uint32_t> find(ByteSpan a, ByteSpan b, unsigned elementBytes)
    {
        const std::size_t room = a.size() / elementBytes + DiffBackend::SlackElements;
        m_positions.resize(std::max(m_positions.size(), room));
        m_values.resize(std::max(m_values.size(), room * elementBytes));
        const std::size_t found = m_backend->extract(a, b, elementBytes, m_positions.data(), m_values.data());
        return std::span(m_positions).first(found);
    }

private:
    std::shared_ptr<const DiffBackend> m_backend;
    std::vector<std::uint32_t> m_positions;
    std::vector<std::byte> m_values; ///< that extract() finds as well
};

} // namespace deltascope
