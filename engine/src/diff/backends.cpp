#include "deltascope/engine/diff_backend.h"

#include "diff/scalar_diff.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace deltascope {

namespace {

std::vector<std::shared_ptr<const DiffBackend>> makeAll()
{
    std::vector<std::shared_ptr<const DiffBackend>> all = makeSimdDiffs();
    all.insert(all.begin(), makeScalarDiff());
    return all;
}

std::string namesOf(const std::vector<std::shared_ptr<const DiffBackend>>& backends)
{
    std::string names;
    for (const auto& backend : backends)
        names += fmt::format("{}{}{}", names.empty() ? "" : ", ", backend->name(),
                             backend->isSupportedHere() ? "" : " (not on this machine)");
    return names;
}

} // namespace

const std::vector<std::shared_ptr<const DiffBackend>>& diffBackends()
{
    static const std::vector<std::shared_ptr<const DiffBackend>> all = makeAll();
    return all;
}

Result<std::shared_ptr<const DiffBackend>> chooseDiffBackend(std::string_view forced)
{
    const auto& all = diffBackends();
    if (forced.empty()) // the scalar one ends the search at the latest
        return *std::find_if(all.rbegin(), all.rend(), [](const auto& backend) { return backend->isSupportedHere(); });
    const auto named =
        std::find_if(all.begin(), all.end(), [&](const auto& backend) { return backend->name() == forced; });
    if (named == all.end())
        return fail(Code::Usage, fmt::format("there is no diff backend \"{}\"; there are: {}", forced, namesOf(all)));
    if (!(*named)->isSupportedHere())
        return fail(Code::Unsupported, fmt::format("this machine cannot run the diff backend \"{}\"", forced), {},
                    fmt::format("choose another one: {}", namesOf(all)));
    return *named;
}

} // namespace deltascope
