#include "errno_error.h"

#include <cerrno>
#include <fmt/format.h>
#include <system_error>

namespace deltascope {

Code codeOfErrno(int errnoValue) noexcept
{
    switch (errnoValue) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return Code::NoSpace;
    case EACCES:
    case EPERM:
    case EROFS:
        return Code::Auth;
    case ENOENT:
        return Code::NotFound;
    case EEXIST:
        return Code::Exists;
    default:
        return Code::Io;
    }
}

Error errnoError(std::string_view call, int errnoValue, std::string_view where)
{
    Error error;
    error.code = codeOfErrno(errnoValue);
    error.text = fmt::format("{}: {}", call, std::generic_category().message(errnoValue));
    error.where = where;
    if (errnoValue == EROFS)
        error.action = "Remount the file system for writing, or name a place that can be written to.";
    return error;
}

} // namespace deltascope
