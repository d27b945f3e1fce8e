#pragma once

#include "base/scratch.h"
#include "deltascope/engine/object_store.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// A stretch of a spool file.
struct SpoolRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// Encoded bytes of a version until it is put: one nameless file that all of its tensors share. Any thread.
class SpoolFile {
public:
    /// Errors: those of Scratch::create.
    static Result<std::unique_ptr<SpoolFile>> create(const std::string& folder);

    /// Writes behind everything that was appended or reserved before.
    Result<SpoolRange> append(ByteSpan bytes);
    SpoolRange reserve(std::uint64_t bytes) noexcept { return { m_end.fetch_add(bytes), bytes }; }
    Result<void> write(std::uint64_t offset, ByteSpan bytes) { return m_file->write(offset, bytes); }
    Result<void> read(std::uint64_t offset, MutableByteSpan out) const { return m_file->read(offset, out); }
    void release(const SpoolRange& range) noexcept { m_file->release(range.offset, range.bytes); }

private:
    explicit SpoolFile(std::unique_ptr<Scratch> file)
        : m_file(std::move(file))
    {
    }

    std::unique_ptr<Scratch> m_file;
    std::atomic<std::uint64_t> m_end = 0;
};

/// A list of bytes that grows in memory up to a buffer and then in a spool file. One thread.
class SpooledBytes {
public:
    static constexpr std::size_t BufferBytes = 256 * 1024;

    explicit SpooledBytes(SpoolFile& spool)
        : m_spool(&spool)
    {
    }

    std::uint64_t size() const noexcept { return m_spooled + m_buffer.size(); }
    Result<void> append(ByteSpan bytes);
    /// Moves the buffer into the file too and returns where everything lies, in order.
    Result<std::vector<SpoolRange>> finish();
    /// Hands all bytes to `take`, piece by piece.
    Result<void> forEach(const std::function<Result<void>(ByteSpan)>& take) const;
    /// Forgets all bytes and gives their room back.
    void drop() noexcept;

private:
    Result<void> flush();

    SpoolFile* m_spool;
    std::vector<SpoolRange> m_ranges;
    std::uint64_t m_spooled = 0;
    std::vector<std::byte> m_buffer;
};

/// An object on its way into a store: text (a header), then ranges of a spool file, which must outlive this.
class SpoolPayload final : public Payload {
public:
    SpoolPayload(const SpoolFile& spool, std::string text)
        : m_spool(&spool)
        , m_text(std::move(text))
        , m_size(m_text.size())
    {
    }

    void add(const std::vector<SpoolRange>& ranges);
    /// Ranges of u16 that are stored as u32.
    void addWidened(const std::vector<SpoolRange>& ranges);

    std::uint64_t sizeBytes() const noexcept override { return m_size; }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override;

private:
    struct Piece {
        std::uint64_t begin = 0; ///< in the object
        std::uint64_t bytes = 0; ///< of the object
        std::uint64_t spooled = 0; ///< where the range begins in the spool file
        bool widened = false;
    };
    void addPiece(const SpoolRange& range, bool widened);
    /// The bytes of a piece from `at` on, counted in the object.
    Result<void> readPiece(const Piece& piece, std::uint64_t at, MutableByteSpan out) const;

    const SpoolFile* m_spool;
    std::string m_text;
    std::vector<Piece> m_pieces;
    std::uint64_t m_size;
};

} // namespace deltascope
