#include "acts/act_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

void addReads(std::set<PlannedObject>& reads, const Run& run, const Plan& plan)
{
    const auto add = [&](const std::string& store, const VersionObjects& version) {
        for (const ObjectInfo& object : version.objects) {
            PlannedObject planned { store, object.key, object.identity, object.sizeBytes };
            for (const std::string& mirror : run.mirrors) {
                if (!object.key.starts_with(mirror + '/'))
                    continue;
                planned.store = mirror;
                planned.key = object.key.substr(mirror.size() + 1);
            }
            reads.insert(std::move(planned));
        }
    };
    for (const PlanLink& link : plan.links)
        add({}, run.versions[link.version].objectsOf(link.form));
    if (plan.fromExternalBase)
        add(run.base->store->uri(), run.base->objects);
}

}

Result<std::vector<PlannedObject>> objectsRead(const Run& run, const std::vector<const Version*>& versions)
{
    std::set<PlannedObject> reads;
    for (const Version* version : versions) {
        DS_TRY(const FallbackPlans plans, FallbackPlans::of(run, *version));
        addReads(reads, run, plans.plan());
    }
    return std::vector<PlannedObject>(reads.begin(), reads.end());
}

Result<Verdict> verifyTarget(Workbench& bench, Run& run, const Version& target, TaskContext& task)
{
    const auto at = static_cast<std::size_t>(&target - run.versions.data());
    VerifyOptions options;
    options.level = 3;
    options.range = { at, at };
    DS_TRY(const VerifyReport report, verifyRun(bench, run, options, task));
    const StepVerdict& verdict = report.steps.front();
    if (verdict.verdict <= Verdict::FirstSight)
        return verdict.verdict;
    const auto worst = std::find_if(verdict.problems.begin(), verdict.problems.end(),
                                    [](const Error& problem) { return problem.code != Code::Unproven; });
    if (worst != verdict.problems.end())
        return fail(*worst);
    return fail(Error { Code::Unproven,
                        fmt::format("step {} is {}: nothing vouches for it", target.step(), word(verdict.verdict)),
                        run.store->uri(), target.step(), "choose a step that verify calls sound" });
}

std::optional<JournalEntry> newestEntry(const std::vector<JournalEntry>& journal, std::string_view act,
                                        const std::string& key)
{
    const auto last = std::find_if(journal.rbegin(), journal.rend(), [&](const JournalEntry& entry) {
        return entry.act == act && std::any_of(entry.keys.begin(), entry.keys.end(), [&](const std::string& own) {
                   return own == key || own.starts_with(key + '/');
               });
    });
    return last == journal.rend() ? std::nullopt : std::optional(*last);
}

ActStory::ActStory(const Workbench& bench, std::shared_ptr<ObjectStore> run, const std::string& by, const ActPlan& plan,
                   std::string text)
    : m_beside(std::move(run), { by, bench.shadowFolder, bench.nowUs })
    , m_text(std::move(text))
{
    m_entry.act = plan.kind;
    m_entry.plan = plan.hash();
    for (const PlannedObject& object : plan.writes)
        m_entry.keys.push_back(object.key);
}

Result<void> ActStory::tell(std::string phase, const std::string& more, TaskContext& task)
{
    JournalEntry entry = m_entry;
    entry.phase = std::move(phase);
    entry.text = more.empty() ? m_text : fmt::format("{}: {}", m_text, more);
    DS_CHECK(m_beside.append(std::move(entry), task));
    return {};
}

} // namespace deltascope
