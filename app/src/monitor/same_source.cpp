#include "same_source.h"

#include "deltascope/engine/local_path.h"

#include <filesystem>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

std::string canonicalAddress(const std::string& address)
{
    const Result<std::string> path = localPathOf(address);
    if (!path)
        return address;
    std::error_code error;
    const fs::path absolute = fs::absolute(*path, error);
    if (error)
        return address;
    fs::path canonical = fs::weakly_canonical(absolute, error);
    if (error)
        canonical = absolute.lexically_normal();
    if (!canonical.has_filename() && canonical.has_relative_path())
        canonical = canonical.parent_path();
    return canonical.string();
}

}

SourceRequest canonical(SourceRequest request)
{
    request.source = canonicalAddress(request.source);
    if (!request.base.empty())
        request.base = canonicalAddress(request.base);
    for (std::string& mirror : request.mirrors)
        mirror = canonicalAddress(mirror);
    return request;
}

bool isSameSource(const SourceRequest& a, const SourceRequest& b)
{
    const SourceRequest left = canonical(a);
    const SourceRequest right = canonical(b);
    return left.source == right.source && left.base == right.base && left.layout == right.layout
        && left.epochs == right.epochs && left.mirrors == right.mirrors;
}

} // namespace deltascope::app
