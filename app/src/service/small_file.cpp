#include "small_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace deltascope::app {

namespace {

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

}

Result<std::string> readSmallFile(const std::string& path, std::string_view what, std::size_t mostBytes)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return fail(errno == ENOENT || errno == ENOTDIR ? Code::NotFound : Code::Io,
                    fmt::format("the {} cannot be read", what), path);
    const std::unique_ptr<std::FILE, CloseFile> file(::fdopen(descriptor, "r"));
    if (!file)
        ::close(descriptor);
    struct stat status = {};
    if (!file || ::fstat(descriptor, &status) != 0)
        return fail(Code::Io, fmt::format("the {} cannot be read", what), path);
    if (!S_ISREG(status.st_mode))
        return fail(Code::Io, fmt::format("the {} is no regular file", what), path);
    std::string text(mostBytes + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get()) != 0)
        return fail(Code::Io, fmt::format("the {} cannot be read", what), path);
    if (text.size() > mostBytes)
        return fail(Code::Hostile, fmt::format("the {} is longer than {} bytes", what, mostBytes), path);
    return text;
}

} // namespace deltascope::app
