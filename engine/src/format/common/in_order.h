#pragma once

#include <string_view>

namespace deltascope {

/// Looks names up in a map that outlives it. A name that follows the one before it in the map costs one comparison;
/// files and indices mostly name their tensors in the same order.
template <class Map> class InOrder {
public:
    explicit InOrder(const Map& map)
        : m_map(map)
        , m_next(map.begin())
    {
    }

    /// Null if it is not there.
    const typename Map::value_type* find(std::string_view name)
    {
        if (m_next == m_map.end() || m_next->first != name)
            m_next = m_map.find(name);
        return m_next == m_map.end() ? nullptr : &*m_next++;
    }

private:
    const Map& m_map;
    typename Map::const_iterator m_next;
};

} // namespace deltascope
