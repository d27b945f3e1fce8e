#include "trusted_file.h"

#include "service/small_file.h"

#include <fmt/format.h>
#include <unistd.h>

namespace deltascope::server {

namespace {

constexpr std::size_t MostBytes = 1'000'000;

/// Opens a file that nobody but its owner can write, who is us or root.
Result<app::SmallFile> openTrusted(const std::string& path, const std::string& what)
{
    DS_TRY(app::SmallFile file, app::SmallFile::open(path, what));
    if ((file.status().st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail(Code::Auth, fmt::format("others can write the {}", what), path, "Run chmod 600 on it.");
    if (file.status().st_uid != ::geteuid() && file.status().st_uid != 0)
        return fail(Code::Auth, fmt::format("the {} belongs to somebody else", what), path,
                    "Use a file of the user that runs the daemon.");
    return file;
}

}

Result<std::string> readTrustedFile(const std::string& path, const std::string& what)
{
    DS_TRY(app::SmallFile file, openTrusted(path, what));
    return file.read(MostBytes);
}

Result<std::string> readSecretFile(const std::string& path, const std::string& what, std::vector<std::string>& warnings)
{
    DS_TRY(app::SmallFile file, openTrusted(path, what));
    if ((file.status().st_mode & (S_IRGRP | S_IROTH)) != 0)
        warnings.push_back(fmt::format("others can read the {} {}; run chmod 600 on it", what, path));
    return file.read(MostBytes);
}

} // namespace deltascope::server
