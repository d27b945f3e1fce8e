#pragma once

#include "deltascope/engine/tensor.h"

#include <cstddef>
#include <iterator>
#include <vector>

namespace deltascope {

/// Tensors that lie somewhere else, in the order of a list of pointers, which must outlive this. A view of that list.
class TensorRange {
public:
    class Iterator {
    public:
        using iterator_category = std::random_access_iterator_tag;
        using value_type = TensorInfo;
        using difference_type = std::ptrdiff_t;
        using pointer = const TensorInfo*;
        using reference = const TensorInfo&;

        Iterator() = default;
        explicit Iterator(const TensorInfo* const* at) noexcept
            : m_at(at)
        {
        }
        reference operator*() const noexcept { return **m_at; }
        pointer operator->() const noexcept { return *m_at; }
        reference operator[](difference_type n) const noexcept { return *m_at[n]; }
        Iterator& operator++() noexcept { return *this += 1; }
        Iterator operator++(int) noexcept { return Iterator(m_at++); }
        Iterator& operator--() noexcept { return *this -= 1; }
        Iterator operator--(int) noexcept { return Iterator(m_at--); }
        Iterator& operator+=(difference_type n) noexcept
        {
            m_at += n;
            return *this;
        }
        Iterator& operator-=(difference_type n) noexcept { return *this += -n; }
        friend Iterator operator+(Iterator at, difference_type n) noexcept { return at += n; }
        friend Iterator operator+(difference_type n, Iterator at) noexcept { return at += n; }
        friend Iterator operator-(Iterator at, difference_type n) noexcept { return at -= n; }
        friend difference_type operator-(Iterator a, Iterator b) noexcept { return a.m_at - b.m_at; }
        auto operator<=>(const Iterator&) const = default;

    private:
        const TensorInfo* const* m_at = nullptr;
    };

    explicit TensorRange(const std::vector<const TensorInfo*>& tensors) noexcept
        : m_begin(tensors.data())
        , m_size(tensors.size())
    {
    }
    Iterator begin() const noexcept { return Iterator(m_begin); }
    Iterator end() const noexcept { return Iterator(m_begin + m_size); }
    std::size_t size() const noexcept { return m_size; }
    bool empty() const noexcept { return m_size == 0; }
    const TensorInfo& operator[](std::size_t at) const noexcept { return *m_begin[at]; }
    const TensorInfo& front() const noexcept { return *m_begin[0]; }

private:
    const TensorInfo* const* m_begin;
    std::size_t m_size;
};

} // namespace deltascope
