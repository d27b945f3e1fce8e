#include "from_device/host_copy.h"

#include <cstdlib>
#include <new>
#include <unistd.h>

namespace deltascope {

namespace {

std::size_t roundedUp(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

} // namespace

void HostCopy::Free::operator()(std::byte* pages) const noexcept { std::free(pages); }

HostCopy::HostCopy(const std::vector<TensorInfo>& tensors)
{
    constexpr std::size_t Alignment = 256; // kernels read 16 bytes at a time, and a row of the bus at once
    for (const TensorInfo& tensor : tensors)
        m_size += roundedUp(tensor.bytes(), Alignment);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    m_size = roundedUp(m_size + 1, page); // never empty
    m_pages.reset(static_cast<std::byte*>(std::aligned_alloc(page, m_size)));
    if (!m_pages)
        throw std::bad_alloc();
    std::size_t at = 0;
    for (const TensorInfo& tensor : tensors) {
        m_tensors.push_back(pages().subspan(at, tensor.bytes()));
        at += roundedUp(tensor.bytes(), Alignment);
    }
}

} // namespace deltascope
