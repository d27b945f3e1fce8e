#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace deltascope {

/// Leaves new elements as they are instead of clearing them.
template <class T> struct UninitializedAllocator : std::allocator<T> {
    template <class Other> struct rebind {
        using other = UninitializedAllocator<Other>;
    };
    using std::allocator<T>::allocator;

    template <class Other> void construct(Other* place) noexcept { ::new (static_cast<void*>(place)) Other; }
    template <class Other, class... Arguments> void construct(Other* place, Arguments&&... arguments)
    {
        ::new (static_cast<void*>(place)) Other(std::forward<Arguments>(arguments)...);
    }
};

/// Bytes that a read fills whole before anybody looks at them.
using RawBytes = std::vector<std::byte, UninitializedAllocator<std::byte>>;

} // namespace deltascope
