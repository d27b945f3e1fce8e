#include "trusted_file.h"

#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace deltascope::server {

namespace {

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// Does not wait for whoever might write into a pipe of this name. Null: it cannot be opened.
std::unique_ptr<std::FILE, CloseFile> openToRead(const std::string& path)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "r");
    if (descriptor >= 0 && !file)
        ::close(descriptor);
    return std::unique_ptr<std::FILE, CloseFile>(file);
}

struct TrustedFile {
    std::string text;
    bool othersRead = false;
};

Result<TrustedFile> read(const std::string& path, const std::string& what)
{
    constexpr off_t kMostBytes = 1'000'000;
    // Of what is opened, not of what the name means a moment later.
    const auto file = openToRead(path);
    struct stat status = {};
    if (!file || ::fstat(::fileno(file.get()), &status) != 0)
        return fail(Code::NotFound, fmt::format("the {} cannot be read", what), path);
    if (!S_ISREG(status.st_mode) || status.st_size > kMostBytes)
        return fail(Code::Usage, fmt::format("the {} is no file of at most {} bytes", what, kMostBytes), path);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail(Code::Auth, fmt::format("others can write the {}", what), path, "Run chmod 600 on it.");
    if (status.st_uid != ::geteuid() && status.st_uid != 0)
        return fail(Code::Auth, fmt::format("the {} belongs to somebody else", what), path,
                    "Use a file of the user that runs the daemon.");
    TrustedFile out { std::string(std::size_t(status.st_size), '\0'), (status.st_mode & (S_IRGRP | S_IROTH)) != 0 };
    out.text.resize(std::fread(out.text.data(), 1, out.text.size(), file.get()));
    if (std::ferror(file.get()) != 0)
        return fail(Code::Io, fmt::format("the {} cannot be read", what), path);
    return out;
}

}

Result<std::string> readTrustedFile(const std::string& path, const std::string& what)
{
    DS_TRY(TrustedFile file, read(path, what));
    return std::move(file.text);
}

Result<std::string> readSecretFile(const std::string& path, const std::string& what, std::vector<std::string>& warnings)
{
    DS_TRY(TrustedFile file, read(path, what));
    if (file.othersRead)
        warnings.push_back(fmt::format("others can read the {} {}; run chmod 600 on it", what, path));
    return std::move(file.text);
}

} // namespace deltascope::server
