#include "format/common/buffered_extent.h"

#include <algorithm>
#include <cstring>

namespace deltascope {

BufferedExtent::BufferedExtent(const ObjectStore& store, std::string key, std::uint64_t begin, std::uint64_t bytes,
                               std::uint64_t bufferBytes, TaskContext& task)
    : BufferedExtent(std::make_shared<ObjectRange>(store, std::move(key), task), begin, bytes, bufferBytes)
{
}

BufferedExtent::BufferedExtent(std::shared_ptr<const ByteRange> source, std::uint64_t begin, std::uint64_t bytes,
                               std::uint64_t bufferBytes)
    : m_source(std::move(source))
    , m_next(begin)
    , m_unread(bytes)
    , m_capacity(std::min(std::max<std::uint64_t>(bufferBytes, 64), bytes))
{
}

Result<void> BufferedExtent::fill(std::size_t bytes)
{
    const std::size_t rest = m_filled - m_at;
    if (rest >= bytes)
        return {};
    m_capacity = std::max<std::uint64_t>(m_capacity, bytes);
    if (m_buffer.size() < m_capacity) {
        std::vector<std::byte> larger(m_capacity);
        std::copy_n(m_buffer.data() + m_at, rest, larger.data());
        m_buffer = std::move(larger);
    } else {
        std::memmove(m_buffer.data(), m_buffer.data() + m_at, rest);
    }
    m_at = 0;
    m_filled = rest;

    const std::uint64_t wanted = std::min<std::uint64_t>(m_buffer.size() - rest, m_unread);
    DS_CHECK(m_source->read(m_next, MutableByteSpan(m_buffer).subspan(rest, wanted)));
    m_filled += wanted;
    m_next += wanted;
    m_unread -= wanted;
    return {};
}

Result<ByteSpan> BufferedExtent::take(std::size_t bytes)
{
    DS_CHECK(fill(bytes));
    const ByteSpan taken = buffered().first(bytes);
    consume(bytes);
    return taken;
}

void BufferedExtent::skip(std::uint64_t bytes) noexcept
{
    const std::uint64_t fromBuffer = std::min<std::uint64_t>(bytes, m_filled - m_at);
    m_at += fromBuffer;
    m_next += bytes - fromBuffer;
    m_unread -= bytes - fromBuffer;
}

} // namespace deltascope
