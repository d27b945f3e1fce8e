#include "deltascope/engine/backend.h"

#include "backend/scalar_diff.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string>

namespace deltascope {

namespace {

std::string namesOf(const std::vector<std::shared_ptr<const Backend>>& backends)
{
    std::string names;
    for (const auto& backend : backends)
        names += fmt::format("{}{}{}", names.empty() ? "" : ", ", backend->name(),
                             backend->isSupportedHere() ? "" : " (not on this machine)");
    return names;
}

} // namespace

Backends Backends::builtin()
{
    std::vector<std::shared_ptr<const Backend>> all = makeSimdDiffs();
    all.insert(all.begin(), makeScalarDiff());
    return Backends(std::move(all));
}

Backends Backends::with(std::shared_ptr<const Backend> backend) const
{
    std::vector<std::shared_ptr<const Backend>> all = m_all;
    all.push_back(std::move(backend));
    return Backends(std::move(all));
}

Result<std::shared_ptr<const Backend>> Backends::choose(std::string_view forced) const
{
    if (forced.empty()) // the scalar one ends the search at the latest
        return *std::find_if(m_all.rbegin(), m_all.rend(),
                             [](const auto& backend) { return !backend->byNameOnly() && backend->isSupportedHere(); });
    const auto named =
        std::find_if(m_all.begin(), m_all.end(), [&](const auto& backend) { return backend->name() == forced; });
    if (named == m_all.end())
        return fail(Code::Usage, fmt::format("there is no diff backend \"{}\"; there are: {}", forced, namesOf(m_all)));
    if (!(*named)->isSupportedHere()) {
        const std::optional<Error> obstacle = (*named)->obstacle();
        std::string why;
        if (obstacle)
            why = ": " + obstacle->text + (obstacle->where.empty() ? "" : " (" + obstacle->where + ")");
        const bool hasRemedy = obstacle && !obstacle->action.empty();
        std::vector<std::shared_ptr<const Backend>> supported;
        std::copy_if(m_all.begin(), m_all.end(), std::back_inserter(supported),
                     [](const auto& backend) { return backend->isSupportedHere(); });
        return fail(Code::Unsupported, fmt::format("this machine cannot run the diff backend \"{}\"{}", forced, why),
                    {},
                    fmt::format("{}{} another one: {}", hasRemedy ? obstacle->action + " " : "",
                                hasRemedy ? "Or choose" : "choose", namesOf(supported)));
    }
    return *named;
}

} // namespace deltascope
