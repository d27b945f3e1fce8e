#include "new_file.h"

#include "deltascope/engine/file_system.h"

#include <fmt/format.h>

namespace deltascope::app {

Result<void> writeNewFile(const std::string& path, std::string_view bytes, std::string_view what)
{
    const std::unique_ptr<FileSystem> disk = makeFileSystem();
    Result<void> written = writeTextFile(*disk, path, bytes);
    if (written)
        return {};
    Error& error = written.error();
    if (error.code == Code::Exists)
        return fail(Code::Exists, "there is a file of this name", path, "name a new one");
    error.text = fmt::format("{} cannot be written: {}", what, error.text);
    error.where = path;
    return fail(std::move(error));
}

} // namespace deltascope::app
