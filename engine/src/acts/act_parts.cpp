#include "acts/act_parts.h"

#include "ops/output_layout.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

void PlannedReads::insert(PlannedObject object)
{
    std::uint64_t& bytes = m_bytes[{ object.store, object.key, object.identity }];
    bytes = std::max(bytes, object.bytes);
}

void PlannedReads::add(const ObjectInfo& object, const VersionObjects& version, std::optional<std::uint64_t> bytes)
{
    insert({ version.mirror, std::string(version.inSource(object.key)), object.identity,
             bytes.value_or(object.sizeBytes) });
}

void PlannedReads::addOfBase(const ObjectInfo& object)
{
    insert({ m_run.base->store->uri(), object.key, object.identity, object.sizeBytes });
}

void PlannedReads::add(const Plan& plan)
{
    const auto isOfState = [](const ObjectInfo& object) {
        return !isTrainerState(std::string_view(object.key).substr(object.key.rfind('/') + 1)); // npos + 1 is 0
    };
    for (const PlanLink& link : plan.links) {
        const VersionObjects& version = m_run.versions[link.version].objectsOf(link.form);
        for (const ObjectInfo& object : version.objects) {
            if (isOfState(object))
                add(object, version);
        }
    }
    for (const ObjectInfo& object : plan.fromExternalBase ? m_run.base->objects.objects : std::vector<ObjectInfo>()) {
        if (isOfState(object))
            addOfBase(object);
    }
}

std::vector<PlannedObject> PlannedReads::take() const
{
    std::vector<PlannedObject> reads;
    for (const auto& [object, bytes] : m_bytes)
        reads.push_back({ std::get<0>(object), std::get<1>(object), std::get<2>(object), bytes });
    return reads;
}

Result<std::vector<PlannedObject>> objectsRead(const Run& run, const std::vector<const Version*>& versions)
{
    PlannedReads reads(run);
    for (const Version* version : versions) {
        DS_TRY(const FallbackPlans plans, FallbackPlans::of(run, *version));
        reads.add(plans.plan());
    }
    return reads.take();
}

bool hasOtherWays(const Run& run)
{
    return std::any_of(run.versions.begin(), run.versions.end(),
                       [](const Version& version) { return version.forms() > 1; });
}

namespace {

/// Of one step.
Result<VerifyReport> replayed(Workbench& bench, Run& run, const Version& version, TaskContext& task)
{
    const auto at = static_cast<std::size_t>(&version - run.versions.data());
    VerifyOptions options;
    options.level = 3;
    options.range = { at, at };
    return verifyRun(bench, run, options, task);
}

}

Result<Verdict> verifyTarget(Workbench& bench, Run& run, const Version& target, std::vector<Error>& warnings,
                             TaskContext& task)
{
    DS_TRY(const VerifyReport report, replayed(bench, run, target, task));
    const StepVerdict& verdict = report.steps.front();
    if (verdict.verdict <= Verdict::FirstSight) {
        std::copy_if(verdict.problems.begin(), verdict.problems.end(), std::back_inserter(warnings),
                     [](const Error& problem) { return problem.code == Code::SuspectValues; });
        return verdict.verdict;
    }
    const auto worst = std::find_if(verdict.problems.begin(), verdict.problems.end(),
                                    [](const Error& problem) { return problem.code != Code::Unproven; });
    if (worst != verdict.problems.end())
        return fail(*worst);
    const auto inFront = std::find_if(report.problems.begin(), report.problems.end(),
                                      [](const Error& problem) { return problem.code == Code::Rewritten; });
    if (inFront != report.problems.end()) // of what it builds on
        return fail(*inFront);
    return fail(Error { Code::Unproven,
                        fmt::format("step {} is {}: nothing vouches for it", target.step(), word(verdict.verdict)),
                        run.store->uri(), target.step(), "choose a step that verify calls sound" });
}

Result<void> expectReplays(Workbench& bench, Run& run, const Version& version, TaskContext& task)
{
    DS_CHECK(replayed(bench, run, version, task));
    return version.obstacle ? fail(*version.obstacle) : Result<void>();
}

Result<void> expectOwnRoot(Workbench& bench, Run& run, const Version& written, TaskContext& task)
{
    Result<void> read = expectReplays(bench, run, written, task);
    const bool isMeant = written.facts && written.facts->rootCheck == VersionFacts::RootCheck::Matches;
    if (read && isMeant)
        return {};
    const std::string why = read ? "it does not read back to the state that was meant" : read.error().text;
    return fail(Error { Code::Digest, fmt::format("step {} was published, and stays: {}", written.step(), why),
                        run.store->uri(), written.step(), "verify says what is wrong with it; publish behind it" });
}

Result<void> behindPublication(Result<void> looked, const PublishedVersion& version)
{
    if (looked || !mayStand(looked.error()))
        return looked;
    Error error = std::move(looked.error());
    error.text = fmt::format("step {} is published, and could not be read back: {}", version.step, error.text);
    if (!version.objects.empty())
        error.where = version.objects.back().key;
    error.step = version.step;
    error.action =
        "Repeat the command when the source can be reached: it checks the step, and publishes nothing twice.";
    return fail(std::move(error));
}

bool mayStand(const Error& error)
{
    return error.code == Code::Transient || error.code == Code::Auth || error.code == Code::Io
        || error.code == Code::Canceled;
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

JournalEntry ActStory::entryOf(std::string phase, const std::string& more) const
{
    JournalEntry entry = m_entry;
    entry.phase = std::move(phase);
    entry.text = more.empty() ? m_text : fmt::format("{}: {}", m_text, more);
    return entry;
}

Result<void> ActStory::tell(std::string phase, const std::string& more, TaskContext& task)
{
    DS_CHECK(m_beside.append(entryOf(std::move(phase), more), task));
    return {};
}

Result<void> ActStory::tellHere(std::string phase, TaskContext& task)
{
    DS_CHECK(m_beside.appendHere(entryOf(std::move(phase), {}), task));
    return {};
}

} // namespace deltascope
