#include "state_tensors.h"

#include "deltascope/engine/path_state.h"

namespace deltascope::app {

namespace {

Result<TensorList> readList(const Workbench& bench, const Run& run, const Plan& plan, TaskContext& task)
{
    DS_TRY(const PathPtr state, openForFacts(bench, run, plan, task));
    DS_CHECK(state->expectSoundReads(task));
    return std::make_shared<const std::vector<TensorInfo>>(state->copyOfTensors());
}

/// Equal texts, equal objects.
std::string objectsOf(const Run& run, const Plan& plan)
{
    std::string objects = run.store->uri();
    if (plan.fromExternalBase)
        objects += "\n" + run.base->store->uri() + "\n" + run.base->objects.identity();
    for (const PlanLink& link : plan.links)
        objects += "\n" + run.versions[link.version].objectsOf(link.form).identity();
    return objects;
}

}

Result<TensorList> StateTensors::of(const Workbench& bench, const Run& run, const Version& version, Plan plan,
                                    TaskContext& task)
{
    const bool deltasFit = version.facts && version.facts->replayed && !version.facts->damage;
    if (!deltasFit)
        return readList(bench, run, plan, task);
    std::erase_if(plan.links, [&run](const PlanLink& link) {
        const std::optional<VersionSummary>& summary = run.versions[link.version].summaryOf(link.form);
        return summary && !summary->full;
    });
    const std::string objects = objectsOf(run, plan);
    if (TensorList known = kept(objects))
        return known;
    DS_TRY(TensorList list, readList(bench, run, plan, task));
    const std::lock_guard lock(m_mutex);
    m_objects = objects;
    m_last = list;
    return list;
}

TensorList StateTensors::kept(const std::string& objects) const
{
    const std::lock_guard lock(m_mutex);
    return objects == m_objects ? m_last : nullptr;
}

} // namespace deltascope::app
