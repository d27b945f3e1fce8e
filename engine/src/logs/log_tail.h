#pragma once

#include "base/file_handle.h"

#include "deltascope/base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace deltascope {

/// Reads a file that others append to, line by line, from its front. Goes on behind a truncation at the new front, and
/// behind a rename with the new file of this name, once the old one is read to its end. Not thread-safe.
class LogTail {
public:
    /// A line without its break (LF, CR or both), cut at MostLogLineBytes; never an empty one. `justWritten`: it was
    /// not there when the end of the file was first reached.
    using OnLine = std::function<void(std::string_view line, bool justWritten)>;

    explicit LogTail(std::string path);

    const std::string& path() const { return m_path; }
    /// Reads at most about `mostBytes`. A last line without a break waits for the rest of it. True: more is there
    /// already. Errors: NotFound, Auth, Io, Usage (no regular file, or packed); the next call tries again.
    Result<bool> poll(std::uint64_t mostBytes, const OnLine& onLine);

private:
    Result<void> open();
    Result<bool> readOn(std::uint64_t mostBytes, const OnLine& onLine);
    void cut(std::string_view bytes, const OnLine& onLine);
    void endLine(const OnLine& onLine);

    std::string m_path;
    FileHandle m_file;
    std::pair<std::uint64_t, std::uint64_t> m_identity; ///< device and inode
    std::uint64_t m_offset = 0;
    std::string m_line; ///< the last one, as far as it was written
    bool m_reachedEnd = false; ///< of the first file, once
};

} // namespace deltascope
