#include "kept_plans.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace deltascope::app {

namespace {

std::size_t bytesOf(const PlanView& view)
{
    std::size_t bytes = view.title.size() + view.cli.size() + view.destination.size() + view.hash.size();
    for (const PlanStepView& step : view.steps)
        bytes += step.text.size();
    for (const std::string& warning : view.warnings)
        bytes += warning.size();
    for (const ChangedTensorView& tensor : view.changes)
        bytes += sizeof tensor + tensor.name.size();
    if (view.act) {
        for (const std::vector<PlannedObjectView>* objects :
             { &view.act->reads, &view.act->writes, &view.act->deletes }) {
            for (const PlannedObjectView& object : *objects)
                bytes += sizeof object + object.store.size() + object.key.size();
        }
    }
    return bytes;
}

std::size_t bytesOf(const ActRequest& request)
{
    std::size_t bytes = request.kind.size();
    for (const auto& [name, value] : request.args) {
        const auto* const text = std::get_if<std::string>(&value);
        bytes += sizeof value + name.size() + (text ? text->size() : 0);
    }
    return bytes;
}

/// About what a plan takes: what somebody else chose the length of counts twice, in the request and in what starts it.
std::size_t bytesOf(const BoundPlan& plan) { return sizeof plan + bytesOf(plan.view) + 2 * bytesOf(plan.request); }

}

void KeptPlans::forget(const Kept& kept)
{
    if (kept.job)
        m_dropped.push_back(*kept.job);
}

void KeptPlans::makeRoom(const std::string& by, std::size_t bytes, const std::string& id)
{
    const auto isOther = [&](const Kept& kept) { return kept.by == by && kept.plan.view.id != id; };
    std::size_t count = 1;
    for (const Kept& kept : m_plans) {
        if (isOther(kept)) {
            ++count;
            bytes += kept.bytes;
        }
    }
    std::erase_if(m_plans, [&](const Kept& kept) { // from the oldest on
        if (!isOther(kept) || (count <= MostOfOne && bytes <= MostBytesOfOne))
            return false;
        --count;
        bytes -= kept.bytes;
        forget(kept);
        return true;
    });
}

Result<PlanView> KeptPlans::add(BoundPlan plan, const std::string& by, const std::function<JobId()>& prepare)
{
    const std::size_t bytes = bytesOf(plan);
    if (bytes > MostBytesOfOne)
        return fail(Code::Usage, fmt::format("the plan takes {} bytes, which is more than {}", bytes, MostBytesOfOne),
                    plan.view.run, "name steps and destinations by short names");
    plan.view.id = fmt::format("p{}", m_next++);
    makeRoom(by, bytes, plan.view.id);
    if (m_plans.size() >= Most) {
        forget(m_plans.front());
        m_plans.pop_front();
    }
    std::optional<JobId> job;
    if (prepare) {
        plan.view.state = "planning";
        job = prepare();
    }
    m_plans.push_back({ std::move(plan), by, bytes, job });
    return m_plans.back().plan.view;
}

Result<PlanView> KeptPlans::view(const std::string& id) const
{
    const auto found =
        std::find_if(m_plans.begin(), m_plans.end(), [&](const Kept& kept) { return kept.plan.view.id == id; });
    return found == m_plans.end() ? fail(Code::NotFound, "there is no such plan", id, "make a new one")
                                  : Result<PlanView>(found->plan.view);
}

void KeptPlans::drop(const std::string& id)
{
    std::erase_if(m_plans, [&](const Kept& kept) {
        if (kept.plan.view.id != id)
            return false;
        forget(kept);
        return true;
    });
}

KeptPlans::Kept* KeptPlans::planOf(JobId job)
{
    const auto found = std::find_if(m_plans.begin(), m_plans.end(), [&](const Kept& kept) { return kept.job == job; });
    return found == m_plans.end() ? nullptr : &*found;
}

void KeptPlans::take(const JobView& job)
{
    if (Kept* const kept = planOf(job.id)) {
        PlanView& view = kept->plan.view;
        view.phase = job.phase;
        view.doneBytes = job.doneBytes;
        view.totalBytes = job.totalBytes;
    }
}

bool KeptPlans::takeEnd(JobId job, const Result<JobResult>& outcome)
{
    Kept* const kept = planOf(job);
    if (!kept)
        return false;
    kept->job.reset();
    PlanView& view = kept->plan.view;
    if (outcome) {
        kept->plan.complete(view, *outcome);
        view.state = "ready";
    } else {
        view.state = "failed";
        view.problem = problemView(outcome.error());
    }
    kept->bytes = bytesOf(kept->plan);
    const std::string by = kept->by;
    makeRoom(by, kept->bytes, std::string(view.id));
    return true;
}

std::vector<JobId> KeptPlans::takeDropped() { return std::exchange(m_dropped, {}); }

Result<const BoundPlan*> KeptPlans::find(const std::string& id, const std::string& hash) const
{
    const auto found =
        std::find_if(m_plans.begin(), m_plans.end(), [&](const Kept& kept) { return kept.plan.view.id == id; });
    if (found == m_plans.end())
        return fail(Code::NotFound, "there is no such plan", id, "make a new one");
    if (found->plan.view.state != "ready")
        return fail(Code::Usage, "the plan is not made yet", id, "wait until it can be looked at");
    if (found->plan.view.hash != hash)
        return fail(Code::Rewritten, "this is not the hash of the plan", id, "look at the plan again");
    return &found->plan;
}

} // namespace deltascope::app
