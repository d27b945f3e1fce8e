#include "kept_plans.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

std::size_t bytesOf(const PlanView& view)
{
    std::size_t bytes = view.title.size() + view.cli.size() + view.destination.size() + view.hash.size();
    for (const PlanStepView& step : view.steps)
        bytes += step.text.size();
    for (const std::string& warning : view.warnings)
        bytes += warning.size();
    return bytes;
}

std::size_t bytesOf(const MaterializePlan& plan) { return plan.step.size() + plan.to.size(); }
std::size_t bytesOf(const VerifyPlan& plan) { return plan.range.size(); }
std::size_t bytesOf(const DiffPlan& plan) { return plan.a.size() + plan.b.size(); }

/// About what a plan takes: what somebody else chose the length of counts twice, in the request and in what starts it.
std::size_t bytesOf(const BoundPlan& plan)
{
    return sizeof plan + bytesOf(plan.view)
        + 2 * std::visit([](const auto& request) { return bytesOf(request); }, plan.request);
}

}

Result<PlanView> KeptPlans::add(BoundPlan plan, const std::string& by)
{
    const std::size_t bytes = bytesOf(plan);
    if (bytes > MostBytesOfOne)
        return fail(Code::Usage, fmt::format("the plan takes {} bytes, which is more than {}", bytes, MostBytesOfOne),
                    plan.view.run, "name steps and destinations by short names");
    makeRoom(by, bytes);
    plan.view.id = fmt::format("p{}", m_next++);
    m_plans.push_back({ std::move(plan), by, bytes });
    return m_plans.back().plan.view;
}

void KeptPlans::makeRoom(const std::string& by, std::size_t bytes)
{
    std::size_t count = 1;
    for (const Kept& kept : m_plans) {
        if (kept.by == by) {
            ++count;
            bytes += kept.bytes;
        }
    }
    std::erase_if(m_plans, [&](const Kept& kept) { // from the oldest on
        if (kept.by != by || (count <= MostOfOne && bytes <= MostBytesOfOne))
            return false;
        --count;
        bytes -= kept.bytes;
        return true;
    });
    if (m_plans.size() >= Most)
        m_plans.pop_front();
}

Result<const BoundPlan*> KeptPlans::find(const std::string& id, const std::string& hash) const
{
    const auto found =
        std::find_if(m_plans.begin(), m_plans.end(), [&](const Kept& kept) { return kept.plan.view.id == id; });
    if (found == m_plans.end())
        return fail(Code::NotFound, "there is no such plan", id, "make a new one");
    if (found->plan.view.hash != hash)
        return fail(Code::Rewritten, "this is not the hash of the plan", id, "look at the plan again");
    return &found->plan;
}

} // namespace deltascope::app
