#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace deltascope {

/// The bytes of a model's tensors in one block of whole pages, which a driver can pin.
class HostCopy {
public:
    HostCopy() = default; ///< of no tensors
    /// The bytes are unspecified at first. Throws std::bad_alloc.
    explicit HostCopy(const std::vector<TensorInfo>& tensors);

    ByteSpan operator[](std::size_t tensor) const noexcept { return m_tensors[tensor]; }
    MutableByteSpan operator[](std::size_t tensor) noexcept { return m_tensors[tensor]; }
    MutableByteSpan pages() const noexcept { return { m_pages.get(), m_size }; }

private:
    struct Free {
        void operator()(std::byte* pages) const noexcept;
    };
    std::unique_ptr<std::byte, Free> m_pages;
    std::size_t m_size = 0;
    std::vector<MutableByteSpan> m_tensors;
};

} // namespace deltascope
