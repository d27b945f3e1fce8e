#include "small_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace deltascope::app {

Result<SmallFile> SmallFile::open(std::string path, std::string_view what)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return fail(errno == ENOENT || errno == ENOTDIR ? Code::NotFound : Code::Io,
                    fmt::format("the {} cannot be read", what), path);
    SmallFile out;
    out.m_file.reset(::fdopen(descriptor, "r"));
    if (!out.m_file)
        ::close(descriptor);
    if (!out.m_file || ::fstat(descriptor, &out.m_status) != 0)
        return fail(Code::Io, fmt::format("the {} cannot be read", what), path);
    if (!S_ISREG(out.m_status.st_mode))
        return fail(Code::Usage, fmt::format("the {} is no regular file", what), path);
    out.m_path = std::move(path);
    out.m_what = what;
    return out;
}

Result<std::string> SmallFile::read(std::size_t mostBytes)
{
    const std::size_t stated = std::size_t(std::max<off_t>(m_status.st_size, 0));
    std::string text(std::min(stated, mostBytes) + 1, '\0'); // one byte more shows whether the file grew
    std::size_t size = 0;
    while (size < text.size() && std::feof(m_file.get()) == 0 && std::ferror(m_file.get()) == 0) {
        size += std::fread(text.data() + size, 1, text.size() - size, m_file.get());
        if (size == text.size() && size <= mostBytes)
            text.resize(std::min(2 * size, mostBytes + 1));
    }
    if (std::ferror(m_file.get()) != 0)
        return fail(Code::Io, fmt::format("the {} cannot be read", m_what), m_path);
    if (size > mostBytes)
        return fail(Code::Usage, fmt::format("the {} is longer than {} bytes", m_what, mostBytes), m_path);
    text.resize(size);
    return text;
}

Result<std::string> readSmallFile(const std::string& path, std::string_view what, std::size_t mostBytes)
{
    DS_TRY(SmallFile file, SmallFile::open(path, what));
    return file.read(mostBytes);
}

} // namespace deltascope::app
