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

TensorGlobs TensorGlobs::among(const std::vector<std::string_view>& names) const
{
    TensorGlobs globs(m_globs);
    for (const std::string& glob : m_globs) {
        if (std::find(names.begin(), names.end(), glob) != names.end())
            globs.m_names.insert(glob);
    }
    return globs;
}

bool TensorGlobs::means(const std::string& glob, const std::string& name) const noexcept
{
    return m_names.contains(glob) ? glob == name : fits(glob, name);
}

bool TensorGlobs::mean(const std::string& name) const noexcept
{
    return meanAll()
        || std::any_of(m_globs.begin(), m_globs.end(), [&](const std::string& glob) { return means(glob, name); });
}

Result<void> TensorGlobs::expectEachFits(const std::vector<std::string_view>& names, std::string_view whoHasNo,
                                         std::string where) const
{
    for (const std::string& glob : m_globs) {
        const bool any = std::any_of(names.begin(), names.end(),
                                     [&](std::string_view name) { return means(glob, std::string(name)); });
        if (!any)
            return fail(Code::NotFound,
                        fmt::format("{} tensor that fits {}{}", whoHasNo, glob, didYouMean(glob, names)),
                        std::move(where), "show lists the tensors of a step; * stands for any letters, dots too");
    }
    return {};
}

} // namespace deltascope
