#include "deltascope/engine/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope {

namespace {

/// Whether an error that names `where` may speak of these objects: of one of them, of what lies in one of them, or of
/// the file or folder that stands for all of them.
bool isNamedBy(const VersionObjects& objects, std::string_view where)
{
    const auto startsWith = [&](std::string_view name) {
        return where.starts_with(name) && (where.size() == name.size() || where[name.size()] == '/');
    };
    return startsWith(objects.name)
        || std::any_of(objects.objects.begin(), objects.objects.end(),
                       [&](const ObjectInfo& object) { return startsWith(object.key); });
}

/// The names of what the links of a plan read that another one does not.
std::vector<std::string_view> onlyIn(const Run& run, const Plan& plan, const Plan& other)
{
    std::vector<std::string_view> names;
    for (const PlanLink& link : plan.links) {
        if (std::find(other.links.begin(), other.links.end(), link) == other.links.end())
            names.push_back(run.versions[link.version].objectsOf(link.form).name);
    }
    return names;
}

/// "a, b, c and 12 more".
std::string inWords(const std::vector<std::string_view>& names)
{
    constexpr std::size_t Told = 3;
    const std::size_t told = std::min(Told, names.size());
    std::string text =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(told), ", "));
    return names.size() > told ? fmt::format("{} and {} more", text, names.size() - told) : text;
}

}

std::size_t linkOf(const Run& run, const std::vector<PlanLink>& links, const Error& error)
{
    const auto isOfStep = [&](const PlanLink& link) { return error.step == run.versions[link.version].step(); };
    auto found = std::find_if(links.rbegin(), links.rend(), [&](const PlanLink& link) {
        return isOfStep(link) && isNamedBy(run.versions[link.version].objectsOf(link.form), error.where);
    });
    if (found == links.rend()) // it names no object
        found = std::find_if(links.rbegin(), links.rend(),
                             [&](const PlanLink& link) { return isOfStep(link) && link.form == 0; });
    return found == links.rend() ? links.size() : static_cast<std::size_t>(links.rend() - found) - 1;
}

bool speaksOfAnObject(Code code) noexcept
{
    switch (code) {
    case Code::Malformed:
    case Code::Hostile:
    case Code::Truncated:
    case Code::BaseMismatch:
    case Code::Unsupported:
    case Code::Digest:
    case Code::DuplicateName:
    case Code::Unfinished:
    case Code::NotFound:
        return true;
    default:
        return false;
    }
}

FallbackPlans::FallbackPlans(const Run& run, const Version& version, PlanOptions options, Plan plan)
    : m_run(&run)
    , m_version(&version)
    , m_options(std::move(options))
    , m_plan(std::move(plan))
{
}

Result<FallbackPlans> FallbackPlans::of(const Run& run, const Version& version, const PlanOptions& options)
{
    DS_TRY(Plan plan, planFor(run, version, options));
    return FallbackPlans(run, version, options, std::move(plan));
}

bool FallbackPlans::moveOn(const Error& error)
{
    if (!speaksOfAnObject(error.code) && error.code != Code::Rewritten)
        return false;
    const std::size_t link = linkOf(*m_run, m_plan.links, error);
    if (link == m_plan.links.size())
        return false;
    if (moveOnWithout(m_plan.links[link], error))
        return true;
    // A digest that fails speaks of all that leads to it, the complete state that the replay begins with included.
    if (error.code != Code::Digest || link == 0 || m_plan.fromExternalBase)
        return false;
    const PlanLink start = m_plan.links.front();
    const VersionObjects& objects = m_run->versions[start.version].objectsOf(start.form);
    return moveOnWithout(
        start,
        Error { Code::Digest,
                fmt::format("{} does not lead to what is recorded behind it: {}", objects.name, error.text),
                objects.name,
                objects.step,
                {} });
}

bool FallbackPlans::moveOnWithout(PlanLink link, Error told)
{
    m_options.without.push_back(link);
    Result<Plan> next = deltascope::planFor(*m_run, *m_version, m_options);
    if (!next) {
        m_options.without.pop_back();
        return false;
    }
    told.text += "; used instead: " + inWords(onlyIn(*m_run, *next, m_plan));
    m_replaced.push_back(std::move(told));
    m_plan = std::move(*next);
    return true;
}

} // namespace deltascope
