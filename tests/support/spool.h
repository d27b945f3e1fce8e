#pragma once

#include "deltascope/base/bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::support {

/// A file that is written from front to back. Throws std::system_error.
class SequentialFile {
public:
    /// Creates the file, and the folders above it, or truncates it.
    explicit SequentialFile(std::string path);
    ~SequentialFile();
    SequentialFile(const SequentialFile&) = delete;
    SequentialFile& operator=(const SequentialFile&) = delete;

    void write(ByteSpan bytes);
    /// Flushes, sets the modification time (seconds since 1970) and closes. Returns the size.
    std::uint64_t close(std::int64_t modifiedSeconds);

private:
    void flush();
    std::string m_path;
    std::vector<std::byte> m_buffer;
    std::uint64_t m_size = 0;
    int m_file = -1;
};

/// Bytes that are collected before it is known where they go: in memory at first, then in a file without a name.
class Spool {
public:
    explicit Spool(std::string folder)
        : m_folder(std::move(folder))
    {
    }
    ~Spool();
    Spool(const Spool&) = delete;
    Spool& operator=(const Spool&) = delete;

    std::uint64_t size() const noexcept { return m_inFile + m_buffer.size(); }
    void append(ByteSpan bytes);
    template <class Integer> void appendLe(Integer value) { append(std::as_bytes(std::span(&value, 1))); }
    void read(std::uint64_t offset, MutableByteSpan out) const;
    void copyTo(SequentialFile& file, std::uint64_t offset, std::uint64_t bytes) const;
    void clear();

private:
    void spill();
    std::string m_folder;
    std::vector<std::byte> m_buffer; ///< the tail
    std::uint64_t m_inFile = 0;
    int m_file = -1;
};

} // namespace deltascope::support
