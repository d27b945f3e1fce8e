#include "logs/log_tail.h"

#include "base/errno_error.h"
#include "logs/log_parser.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace deltascope {

namespace {

constexpr std::uint64_t ChunkBytes = 256U << 10;

/// What a file is that begins so, if that is no text in bytes; empty: nothing says so.
std::string_view packingOf(std::string_view begin)
{
    using namespace std::string_view_literals;
    constexpr std::pair<std::string_view, std::string_view> Known[] = {
        { "\x1f\x8b"sv, "packed with gzip" },    { "\x28\xb5\x2f\xfd"sv, "packed with zstd" },
        { "\xfd\x37zXZ\0"sv, "packed with xz" }, { "BZh"sv, "packed with bzip2" },
        { "PK\x03\x04"sv, "a zip archive" },     { "\xff\xfe"sv, "text in UTF-16" },
        { "\xfe\xff"sv, "text in UTF-16" },
    };
    for (const auto& [magic, what] : Known) {
        if (begin.starts_with(magic))
            return what;
    }
    return {};
}

std::pair<std::uint64_t, std::uint64_t> identityOf(const struct stat& info) { return { info.st_dev, info.st_ino }; }

}

LogTail::LogTail(std::string path)
    : m_path(std::move(path))
{
}

Result<bool> LogTail::poll(std::uint64_t mostBytes, const OnLine& onLine)
{
    if (!m_file)
        DS_CHECK(open());
    DS_TRY(const bool more, readOn(mostBytes, onLine));
    if (more)
        return true;
    m_reachedEnd = true;
    struct stat now { };
    if (::stat(m_path.c_str(), &now) != 0)
        return failErrno("stat", errno, m_path);
    if (identityOf(now) == m_identity)
        return false;
    DS_TRY(const bool late, readOn(mostBytes, onLine)); // what came between the end and the rename
    if (!late) {
        endLine(onLine);
        m_file = FileHandle();
    }
    return true;
}

Result<void> LogTail::open()
{
    FileHandle file = openAt(AT_FDCWD, m_path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY); // a FIFO must not block
    if (!file)
        return failErrno("open", errno, m_path);
    struct stat info { };
    if (::fstat(file.get(), &info) != 0)
        return failErrno("fstat", errno, m_path);
    if (!S_ISREG(info.st_mode))
        return fail(Code::Usage, "a log is a regular file", m_path);
    m_file = std::move(file);
    m_identity = identityOf(info);
    m_offset = 0;
    m_line.clear();
    return {};
}

/// True if it ended before the end of the file.
Result<bool> LogTail::readOn(std::uint64_t mostBytes, const OnLine& onLine)
{
    struct stat info { };
    if (::fstat(m_file.get(), &info) != 0)
        return failErrno("fstat", errno, m_path);
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (size < m_offset) {
        m_offset = 0;
        m_line.clear();
    }
    const std::uint64_t stop = std::min(size, m_offset + mostBytes);
    std::vector<std::byte> chunk(std::min(ChunkBytes, stop - m_offset));
    while (m_offset < stop) {
        const MutableByteSpan out = std::span(chunk).first(std::min<std::uint64_t>(chunk.size(), stop - m_offset));
        DS_TRY(const std::size_t got, readAt(m_file, m_offset, out, m_path));
        if (got == 0) // truncated since
            return false;
        if (const std::string_view packing = m_offset == 0 ? packingOf(asText(out.first(got))) : std::string_view();
            !packing.empty())
            return fail(Code::Usage, fmt::format("it is {}, and logs are lines of text", packing), m_path,
                        "Unpack it, or save it as UTF-8, and name that file; what it would tell stays unknown.");
        m_offset += got;
        cut(asText(out.first(got)), onLine);
    }
    return stop < size;
}

void LogTail::cut(std::string_view bytes, const OnLine& onLine)
{
    while (!bytes.empty()) {
        const std::size_t end = std::min(bytes.find_first_of("\n\r"), bytes.size());
        m_line += bytes.substr(0, std::min(end, MostLogLineBytes - m_line.size()));
        if (end == bytes.size())
            return;
        endLine(onLine);
        bytes.remove_prefix(end + 1);
    }
}

void LogTail::endLine(const OnLine& onLine)
{
    if (!m_line.empty())
        onLine(m_line, m_reachedEnd);
    m_line.clear();
}

} // namespace deltascope
