#include "deltascope/engine/tensor_globs.h"

#include "no_such_tensor.h"

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>

namespace deltascope {

namespace {

bool fits(const std::string& glob, const std::string& name)
{
    return name.find('\0') == std::string::npos && ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

}

bool TensorGlobs::mean(const std::string& name) const noexcept
{
    return meanAll()
        || std::any_of(m_globs.begin(), m_globs.end(), [&](const std::string& glob) { return fits(glob, name); });
}

Result<void> TensorGlobs::expectEachFits(const std::vector<std::string_view>& names, std::string_view whoHasNo,
                                         std::string where) const
{
    for (const std::string& glob : m_globs) {
        const bool any = std::any_of(names.begin(), names.end(),
                                     [&](std::string_view name) { return fits(glob, std::string(name)); });
        if (!any)
            return fail(Code::NotFound,
                        fmt::format("{} tensor that fits {}{}", whoHasNo, glob, didYouMean(glob, names)),
                        std::move(where), "show lists the tensors of a step; * stands for any letters, dots too");
    }
    return {};
}

} // namespace deltascope
