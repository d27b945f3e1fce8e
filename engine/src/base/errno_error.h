#pragma once

#include "deltascope/base/result.h"

#include <string>
#include <string_view>

namespace deltascope {

/// The Code of a failed system call: ENOSPC, EDQUOT, EFBIG are NoSpace; EACCES, EPERM, EROFS are Auth; ENOENT is
/// NotFound; EEXIST is Exists; everything else is Io.
Code codeOfErrno(int errnoValue) noexcept;

/// `call` is the name of the system call, `where` the path or key that it was about.
Error errnoError(std::string_view call, int errnoValue, std::string_view where);

/// The failing half of a Result: `return failErrno("fsync", errno, path);`
inline tl::unexpected<Error> failErrno(std::string_view call, int errnoValue, std::string_view where)
{
    return fail(errnoError(call, errnoValue, where));
}

} // namespace deltascope
