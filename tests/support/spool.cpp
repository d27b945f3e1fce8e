#include "spool.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace deltascope::support {
namespace {

constexpr std::size_t FileBuffer = 1U << 20;
constexpr std::size_t SpoolBuffer = 8U << 20;

[[noreturn]] void failed(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void writeAll(int file, ByteSpan bytes, const std::string& what)
{
    while (!bytes.empty()) {
        const ssize_t n = ::write(file, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            failed(what);
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
}

} // namespace

SequentialFile::SequentialFile(std::string path)
    : m_path(std::move(path))
{
    m_file = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (m_file < 0 && errno == ENOENT) {
        std::filesystem::create_directories(std::filesystem::path(m_path).parent_path());
        m_file = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    }
    if (m_file < 0)
        failed(m_path);
}

SequentialFile::~SequentialFile()
{
    if (m_file >= 0)
        ::close(m_file);
}

void SequentialFile::write(ByteSpan bytes)
{
    m_size += bytes.size();
    if (m_buffer.size() + bytes.size() > FileBuffer)
        flush();
    if (bytes.size() >= FileBuffer)
        writeAll(m_file, bytes, m_path);
    else
        m_buffer.insert(m_buffer.end(), bytes.begin(), bytes.end());
}

void SequentialFile::flush()
{
    writeAll(m_file, m_buffer, m_path);
    m_buffer.clear();
}

std::uint64_t SequentialFile::close(std::int64_t modifiedSeconds)
{
    flush();
    const timespec times[2] = { { modifiedSeconds, 0 }, { modifiedSeconds, 0 } };
    if (::futimens(m_file, times) != 0)
        failed(m_path);
    const int file = std::exchange(m_file, -1);
    if (::close(file) != 0)
        failed(m_path);
    return m_size;
}

Spool::~Spool()
{
    if (m_file >= 0)
        ::close(m_file);
}

void Spool::append(ByteSpan bytes)
{
    m_buffer.insert(m_buffer.end(), bytes.begin(), bytes.end());
    if (m_buffer.size() > SpoolBuffer)
        spill();
}

void Spool::spill()
{
    if (m_file < 0)
        m_file = ::open(m_folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (m_file < 0)
        failed("temporary file in " + m_folder);
    writeAll(m_file, m_buffer, "temporary file in " + m_folder);
    m_inFile += m_buffer.size();
    m_buffer.clear();
}

void Spool::read(std::uint64_t offset, MutableByteSpan out) const
{
    while (!out.empty() && offset < m_inFile) {
        const std::size_t want = std::min<std::uint64_t>(out.size(), m_inFile - offset);
        const ssize_t n = ::pread(m_file, out.data(), want, static_cast<off_t>(offset));
        if (n <= 0)
            failed("temporary file in " + m_folder);
        offset += static_cast<std::uint64_t>(n);
        out = out.subspan(static_cast<std::size_t>(n));
    }
    if (!out.empty())
        std::copy_n(m_buffer.begin() + static_cast<std::ptrdiff_t>(offset - m_inFile), out.size(), out.begin());
}

void Spool::copyTo(SequentialFile& file, std::uint64_t offset, std::uint64_t bytes) const
{
    std::vector<std::byte> chunk(std::min<std::uint64_t>(bytes, FileBuffer));
    while (bytes > 0) {
        const MutableByteSpan part(chunk.data(), std::min<std::uint64_t>(bytes, chunk.size()));
        read(offset, part);
        file.write(part);
        offset += part.size();
        bytes -= part.size();
    }
}

void Spool::clear()
{
    m_buffer.clear();
    m_inFile = 0;
    if (m_file >= 0 && (::ftruncate(m_file, 0) != 0 || ::lseek(m_file, 0, SEEK_SET) != 0))
        failed("temporary file in " + m_folder);
}

} // namespace deltascope::support
