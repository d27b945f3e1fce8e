#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace deltascope {

/// A list that is nearly always short, for structs that exist a million times: up to `Inline` items lie in the list
/// itself, more of them on the heap.
template <class T, std::uint32_t Inline> class ShortList {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    using value_type = T;
    using size_type = std::size_t;
    using const_iterator = const T*;
    using iterator = T*;

    ShortList() noexcept { } // NOLINT(modernize-use-equals-default): the items stay as they are
    ShortList(std::initializer_list<T> items) { append(std::span<const T>(items.begin(), items.size())); }
    ShortList(const std::vector<T>& items) { append(std::span<const T>(items)); }
    ShortList(const ShortList& other) { append(std::span<const T>(other.begin(), other.size())); }
    ShortList(ShortList&& other) noexcept { take(other); }
    ShortList& operator=(const ShortList& other)
    {
        if (this != &other)
            *this = ShortList(other);
        return *this;
    }
    ShortList& operator=(ShortList&& other) noexcept
    {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    ~ShortList() { release(); }

    operator std::vector<T>() const { return std::vector<T>(begin(), end()); }

    std::size_t size() const noexcept { return m_count; }
    bool empty() const noexcept { return m_count == 0; }
    T* data() noexcept { return onHeap() ? m_heap : m_items; }
    const T* data() const noexcept { return onHeap() ? m_heap : m_items; }
    T* begin() noexcept { return data(); }
    T* end() noexcept { return data() + m_count; }
    const T* begin() const noexcept { return data(); }
    const T* end() const noexcept { return data() + m_count; }
    T& operator[](std::size_t at) noexcept { return data()[at]; }
    const T& operator[](std::size_t at) const noexcept { return data()[at]; }
    const T& at(std::size_t at) const
    {
        if (at >= m_count)
            throw std::out_of_range("ShortList");
        return data()[at];
    }
    const T& front() const noexcept { return data()[0]; }
    const T& back() const noexcept { return data()[m_count - 1]; }

    void push_back(const T& item)
    {
        const T copy = item;
        if (m_count == m_capacity)
            grow(2 * m_capacity);
        new (data() + m_count) T(copy);
        ++m_count;
    }

    friend bool operator==(const ShortList& a, const ShortList& b)
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    bool onHeap() const noexcept { return m_capacity > Inline; }

    void append(std::span<const T> items)
    {
        if (items.size() > m_capacity)
            grow(static_cast<std::uint32_t>(items.size()));
        std::uninitialized_copy(items.begin(), items.end(), data());
        m_count = static_cast<std::uint32_t>(items.size());
    }

    void grow(std::uint32_t capacity)
    {
        T* const larger = std::allocator<T>().allocate(capacity);
        std::uninitialized_copy(begin(), end(), larger);
        const std::uint32_t count = m_count;
        release();
        m_heap = larger;
        m_count = count;
        m_capacity = capacity;
    }

    void take(ShortList& other) noexcept
    {
        if (other.onHeap())
            m_heap = other.m_heap;
        else
            std::uninitialized_copy(other.begin(), other.end(), m_items);
        m_count = other.m_count;
        m_capacity = other.m_capacity;
        other.m_count = 0;
        other.m_capacity = Inline;
    }

    void release() noexcept
    {
        if (onHeap())
            std::allocator<T>().deallocate(m_heap, m_capacity);
        m_count = 0;
        m_capacity = Inline;
    }

    union {
        T m_items[Inline];
        T* m_heap;
    };
    std::uint32_t m_count = 0;
    std::uint32_t m_capacity = Inline;
};

} // namespace deltascope
