#pragma once

#include "deltascope/base/result.h"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace deltascope::app {

/// A regular file that is open, and what the file system says of it: of the file that is read, not of what its name
/// means a moment later.
class SmallFile {
public:
    /// Follows links; a pipe of this name blocks nothing. `what`: how errors call the file. Errors: NotFound, Io (it
    /// cannot be opened), Usage (it is no regular file).
    static Result<SmallFile> open(std::string path, std::string_view what);

    [[nodiscard]] const struct stat& status() const { return m_status; }

    /// The whole file, from where it was read to. Errors: Usage (more than `mostBytes`), Io.
    Result<std::string> read(std::size_t mostBytes);

private:
    struct Close {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    std::string m_path;
    std::string m_what;
    std::unique_ptr<std::FILE, Close> m_file;
    struct stat m_status = {};
};

/// Opens a file and reads it whole. Errors: those of `SmallFile`.
Result<std::string> readSmallFile(const std::string& path, std::string_view what, std::size_t mostBytes);

} // namespace deltascope::app
