#pragma once

#include "deltascope/base/bytes.h"
#include "format/common/byte_range.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// Reads one stretch of an object, or of what was unpacked from one, from front to back through a buffer, and nothing
/// outside of it. The store and the task must outlive this. The buffer is allocated by the first read. Errors: those of
/// the source.
class BufferedExtent {
public:
    /// `begin` + `bytes` must not overflow; headers were checked for it.
    BufferedExtent(const ObjectStore& store, std::string key, std::uint64_t begin, std::uint64_t bytes,
                   std::uint64_t bufferBytes, TaskContext& task);

    BufferedExtent(std::shared_ptr<const ByteRange> source, std::uint64_t begin, std::uint64_t bytes,
                   std::uint64_t bufferBytes);

    const std::string& key() const noexcept { return m_source->key(); }
    /// Bytes that were not consumed yet, in the buffer or behind it.
    std::uint64_t left() const noexcept { return m_unread + (m_filled - m_at); }
    /// The part of them that is in the buffer.
    ByteSpan buffered() const noexcept { return ByteSpan(m_buffer).subspan(m_at, m_filled - m_at); }

    /// Makes at least `bytes` (at most left()) available in buffered(), as many as fit if it has to read at all.
    /// Ends the validity of earlier spans.
    Result<void> fill(std::size_t bytes);
    /// `bytes`: at most buffered().size(). Spans of consumed bytes stay valid until the next fill, take or skip.
    void consume(std::size_t bytes) noexcept { m_at += bytes; }
    /// fill, then consume: the next `bytes` in one piece. The buffer grows if they do not fit.
    Result<ByteSpan> take(std::size_t bytes);
    /// Passes over `bytes` (at most left()) without reading those that are not buffered.
    void skip(std::uint64_t bytes) noexcept;

private:
    std::shared_ptr<const ByteRange> m_source;
    std::uint64_t m_next; ///< offset in the source of what is read next
    std::uint64_t m_unread;
    std::uint64_t m_capacity;
    std::vector<std::byte> m_buffer;
    std::size_t m_at = 0;
    std::size_t m_filled = 0;
};

} // namespace deltascope
