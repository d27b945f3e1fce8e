#include "deltascope/engine/operations.h"

#include "audit/replay_audit.h"
#include "check_objects.h"
#include "deltascope/engine/parallel.h"
#include "gone_versions.h"
#include "lineage/claims.h"
#include "lost_publications.h"
#include "read_headers.h"
#include "repeated_files.h"
#include "restart.h"
#include "step_evidence.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// " at 14:05 UTC"
std::string timeOf(const Version& version)
{
    return fmt::format(" at {:%H:%M} UTC",
                       fmt::gmtime(static_cast<std::time_t>(version.objects.publishedUs() / 1'000'000)));
}

/// A trainer that started again under the same keys is told once, and what is there now is a first sight. `findings`:
/// of the versions from `first` on; loses what the restart explains. `until`: VerifyOptions::until.
Result<void> takeRestarts(Workbench& bench, Run& run, std::size_t first, std::optional<std::size_t> until,
                          std::vector<ObjectFindings>& findings, std::int64_t beganUs, std::vector<Error>& problems,
                          TaskContext& task)
{
    const auto isRewritten = [&](std::size_t version) { return findings[version - first].has(Code::Rewritten); };
    const auto epochOf = [&](std::size_t version) { return run.versions[version].epoch; };
    const std::size_t end = first + findings.size();
    const std::size_t endOfRun = until ? *until + 1 : run.versions.size();
    for (std::size_t begin = first, behind = first; begin < end; begin = behind) {
        while (behind < end && epochOf(behind) == epochOf(begin))
            ++behind;
        const bool isWhole = (begin == 0 || epochOf(begin - 1) != epochOf(begin))
            && (behind == endOfRun || epochOf(behind) != epochOf(begin));
        bool anyRewritten = false;
        for (std::size_t i = begin; i < behind; ++i)
            anyRewritten = anyRewritten || isRewritten(i);
        if (!isWhole || !anyRewritten)
            continue;
        DS_TRY(const RestartSights sights, sightsOfRestart(bench, run, begin, behind - 1, beganUs, task));
        if (sights.empty())
            continue;
        DS_CHECK(bench.records->add(run.store->uri(), sights));
        DS_CHECK(acceptEarlierRun(bench, run, epochOf(begin)));
        assess(run);
        for (std::size_t i = begin; i < behind; ++i)
            std::erase_if(findings[i - first].problems,
                          [](const Error& problem) { return problem.code == Code::Rewritten; });
        problems.push_back(Error {
            Code::Fork,
            fmt::format("a new run began here with step {}{}; the earlier one is remembered: steps {} to {} have other "
                        "bytes than on record, all of their deltas, and replay on each other",
                        run.versions[begin].step(), timeOf(run.versions[begin]), run.versions[begin].step(),
                        run.versions[behind - 1].step()),
            run.store->uri(), run.versions[begin].step(),
            "nothing, if a trainer was started again; what was built from the run before keeps its provenance" });
    }
    return {};
}

/// Whether the loss of a version takes something away: what needs it, or the newest state of a chain.
bool missesVersions(const Run& run)
{
    return std::any_of(run.gone.begin(), run.gone.end(), [&](const GoneVersion& gone) {
        return gone.loss == GoneVersion::Loss::Needed
            || (gone.loss == GoneVersion::Loss::Newest && !run.layout->standAlone());
    });
}

bool speaksOfDamage(Code code)
{
    switch (code) {
    case Code::Digest:
    case Code::Truncated:
    case Code::Malformed:
    case Code::Hostile:
    case Code::BaseMismatch:
    case Code::DuplicateName:
    case Code::Noop:
        return true;
    default:
        return false;
    }
}

/// One form of a version: headers, and what they record about payload if `payload` is set.
Result<void> readForm(const Run& run, const VersionObjects& objects, bool payload, std::optional<Error>& failure,
                      ObjectFindings& findings, TaskContext& task)
{
    Result<VersionIndex> index = readIndex(*run.store, *run.layout, objects, task);
    if (!index) {
        if (index.error().code == Code::Canceled || index.error().code == Code::Transient)
            return fail(std::move(index.error()));
        failure = std::move(index.error());
        return {};
    }
    Result<void> sound = payload ? run.layout->checkPayload(*run.store, objects, *index, task) : Result<void>();
    if (sound || !speaksOfDamage(sound.error().code))
        return sound;
    const ObjectInfo* const odd = oddObject(objects, sound.error().where);
    findings.problems.push_back(atStep(odd ? noFileError(*odd) : std::move(sound.error()), objects.step));
    return {};
}

/// Reads the headers of the versions from `first` on again, whatever the catalog says.
Result<void> readAgain(Workbench& bench, Run& run, std::size_t first, std::vector<ObjectFindings>& findings,
                       bool payload, TaskContext& task)
{
    task.beginPhase("headers", 0);
    unsigned threads = bench.threads;
    for (const Version& version : std::span(run.versions).subspan(first, findings.size()))
        threads = std::min(threads, readersOf(version.summary, threads));
    return forEachParallel(threads, findings.size(), task, [&](std::size_t n) -> Result<void> {
        Version& version = run.versions[first + n];
        DS_CHECK(readForm(run, version.objects, payload, version.failure, findings[n], task));
        for (std::size_t i = 0; i < version.otherForms.size(); ++i) {
            OtherForm& form = version.otherForms[i];
            ObjectFindings ofForm; // the other ones may be sound
            DS_CHECK(readForm(run, version.objects.otherForms[i], payload, form.failure, ofForm, task));
            if (!form.failure && !ofForm.problems.empty())
                form.failure = ofForm.problems.front();
            if (form.failure)
                form.summary.reset();
        }
        return {};
    });
}

/// What an obstacle makes of a version.
Verdict verdictOf(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    if (version.obstacleAt != at)
        return Verdict::Incomplete;
    if (version.onExternalBase && version.obstacle->code == Code::BaseMismatch)
        return Verdict::Incomplete; // the base is another one; that says nothing against the objects of the version
    return speaksOfDamage(version.obstacle->code) ? Verdict::Damaged : Verdict::Incomplete;
}

/// Whether an object of a version is damaged, be it that another form stands in for it.
bool hasDamagedForm(const Version& version)
{
    const auto isDamage = [](const std::optional<Error>& error) { return error && speaksOfDamage(error->code); };
    if (isDamage(version.ownFormObstacle))
        return true;
    for (std::size_t form = 1; form < version.forms(); ++form) {
        const FormFacts* facts = version.factsOf(form);
        if (isDamage(version.otherForms[form - 1].failure) || (facts && isDamage(facts->damage)))
            return true;
    }
    return false;
}

bool holds(const Version& version, std::string_view key)
{
    for (std::size_t form = 0; form < version.forms(); ++form) {
        const std::vector<ObjectInfo>& objects = version.objectsOf(form).objects;
        if (std::any_of(objects.begin(), objects.end(), [key](const ObjectInfo& object) { return object.key == key; }))
            return true;
    }
    return false;
}

/// What the records say against objects whose bytes nobody compares. What concerns no version becomes one of `others`.
void addSeenChanges(const Workbench& bench, const Run& run, std::size_t first, std::vector<ObjectFindings>& findings,
                    std::vector<Error>& others)
{
    for (Error& change : changedSinceSeen(bench, run)) {
        bool concernsVersion = false;
        for (std::size_t i = 0; change.step && i < run.versions.size(); ++i) {
            if (!holds(run.versions[i], change.where))
                continue;
            concernsVersion = true;
            if (i >= first && i - first < findings.size())
                findings[i - first].problems.push_back(change);
        }
        if (!concernsVersion)
            others.push_back(std::move(change));
    }
}

/// Digest of the state of one version; the strong root needs every byte of it.
Result<std::string> rootOf(Workbench& bench, const Run& run, const Version& version, TaskContext& task)
{
    DS_TRY(const Plan plan, planFor(run, version));
    DS_TRY(const PathPtr path, openForFacts(bench, run, plan, task));
    DS_TRY(const CheckpointRoot root, rootOfState(bench, *path, LeafHasher::Strength::FastAndStrong, task));
    return toHex(root.strong);
}

}

std::string_view word(Verdict verdict) noexcept
{
    switch (verdict) {
    case Verdict::Verified:
        return "verified";
    case Verdict::Consistent:
        return "consistent";
    case Verdict::FirstSight:
        return "first_sight";
    case Verdict::Unverified:
        return "unverified";
    case Verdict::Incomplete:
        return "incomplete";
    case Verdict::Damaged:
        break;
    }
    return "damaged";
}

Result<VerifyReport> verifyRun(Workbench& given, Run& run, const VerifyOptions& options, TaskContext& task)
{
    const TaskContext::Patience patience(task);
    Workbench bench = given;
    if (run.recordsLost) // what is read now must not look as if it had been on record
        bench.records = nullptr;
    VerifyReport report;
    report.level = options.level;
    if (run.versions.empty()) {
        report.problems = run.problems;
        return report;
    }
    const auto [first, last] = options.range.value_or(std::pair<std::size_t, std::size_t>(0, run.versions.size() - 1));

    const std::int64_t beganUs = bench.nowUs();
    if (options.level >= 2 && bench.records)
        DS_CHECK(bench.records->check());
    std::vector<Error> restarts;
    std::vector<Error> otherChanges;
    std::vector<ObjectFindings> findings(last - first + 1);
    if (options.level >= 1)
        DS_CHECK(readAgain(bench, run, first, findings, options.level >= 2, task));
    ObjectFindings ofBase;
    if (options.level >= 2 && run.base) {
        DS_TRY(ofBase, checkBase(bench, *run.base, options.acceptRewritten, task));
    }
    if (options.level >= 2) {
        StoreDigests& digests = report.storeDigests.emplace();
        DS_TRY(std::vector<ObjectFindings> ofObjects, checkRun(bench, run, first, last, options.acceptRewritten, task));
        for (std::size_t n = 0; n < findings.size(); ++n) {
            findings[n].isChanging = ofObjects[n].isChanging;
            addTo(digests, ofObjects[n].storeDigests);
            findings[n].problems.insert(findings[n].problems.end(), ofObjects[n].problems.begin(),
                                        ofObjects[n].problems.end());
        }
    }

    if (options.level < 2)
        addSeenChanges(bench, run, first, findings, otherChanges);
    if (options.level >= 2 && bench.records) { // with what was read just now
        DS_TRY(const auto onRecord, bench.records->objects(run.store->uri()));
        noteRepeatedFiles(run, onRecord);
    }
    if (options.level >= 3) {
        for (std::size_t i = first; i <= last; ++i)
            run.versions[i].facts.reset();
        assess(run);
        AnalyzeOptions analyze;
        analyze.again = true;
        analyze.range = { first, last };
        analyze.until = options.until;
        analyze.standAloneBytes = UINT64_MAX;
        DS_CHECK(analyzeRun(bench, run, analyze, task));
    } else {
        assess(run);
    }
    if (options.level >= 2 && bench.records)
        DS_CHECK(takeRestarts(bench, run, first, options.until, findings, beganUs, restarts, task));

    std::vector<bool> rewritten(last - first + 1, false); ///< it or what it builds on, and no publisher vouches for it
    std::vector<bool> changing(last - first + 1, false); ///< it or what it builds on, while it was read
    const std::vector<bool> trustworthy = trustworthySteps(run);
    for (std::size_t i = first; i <= last; ++i) {
        const Version& version = run.versions[i];
        StepVerdict step;
        step.version = i;
        step.problems = version.problems;
        step.digestsChecked = options.level >= 3 && version.facts ? version.facts->digestsChecked : 0;
        step.drift = driftAt(run, i);
        if (options.level >= 3 && version.facts && version.facts->replayed && !version.obstacle)
            step.health = version.suspect ? StepVerdict::Health::Suspect : StepVerdict::Health::Normal;
        const ObjectFindings& ofObjects = findings[i - first];
        for (const Error& problem : ofObjects.problems) {
            const bool told = std::any_of(step.problems.begin(), step.problems.end(), [&](const Error& other) {
                return other.code == problem.code && other.where == problem.where;
            });
            if (!told)
                step.problems.push_back(problem);
        }
        const bool standsOnBase = version.base && !version.fullForm() && !version.ownFormObstacle;
        const StepVerdict* base = standsOnBase && *version.base >= first && *version.base < i
            ? &report.steps[*version.base - first]
            : nullptr;
        const bool standsOnExternalBase = version.onExternalBase && !version.fullForm() && !version.ownFormObstacle;
        const bool standsOnRewritten = ofObjects.has(Code::Rewritten) || ofObjects.has(Code::Catalog)
            || (base && rewritten[*version.base - first])
            || (standsOnExternalBase && (ofBase.has(Code::Rewritten) || ofBase.has(Code::Catalog)));
        changing[i - first] = ofObjects.isChanging || (base && changing[*version.base - first]);
        if (options.level >= 3)
            step.coverage =
                coverageAt(run, i, bench.records && !standsOnRewritten ? Evidence::FirstSight : Evidence::None,
                           options.level >= 4);
        // A lossy state is never trusted, whatever it matches: the same sum may round otherwise elsewhere.
        const bool trusted = trustworthy[i] && step.coverage && !version.lossy;
        if (ofObjects.has(Code::Digest) || ofObjects.has(Code::Truncated) || ofObjects.has(Code::Malformed)
            || ofObjects.has(Code::Hostile)) {
            step.verdict = Verdict::Damaged;
        } else if (version.obstacle) {
            step.verdict = verdictOf(run, i);
        } else if (ofObjects.has(Code::NotFound)) {
            step.verdict = Verdict::Incomplete;
        } else if (base
                   && base->verdict >= Verdict::Incomplete) { // its objects, not its lineage, speak against the base
            step.verdict = Verdict::Incomplete;
            step.problems.push_back(
                Error { Code::ChainGap,
                        fmt::format("step {} builds on step {}, whose objects are not what they were", version.step(),
                                    run.versions[*version.base].step()),
                        version.objects.name,
                        version.step(),
                        {} });
        } else if (options.level < 2 || !version.proven) {
            step.verdict = Verdict::Unverified;
        } else if (trusted && step.coverage->isVerified() && !changing[i - first] && !isUnvouchedEmpty(run, i)) {
            step.verdict = Verdict::Verified;
        } else if (standsOnRewritten) {
            step.verdict = Verdict::Unverified;
            rewritten[i - first] = true;
        } else if (version.driftAlarm || version.formsDiffer || version.suspect) {
            step.verdict = Verdict::Unverified;
        } else if (trusted && step.coverage->isConsistent() && !isUnvouchedEmpty(run, i)) {
            step.verdict = Verdict::Consistent;
        } else {
            step.verdict = bench.records ? Verdict::FirstSight : Verdict::Unverified;
        }
        const bool wantsRoot = version.kind == VersionKind::Anchor || i == last;
        if (options.level >= 4 && wantsRoot && step.verdict < Verdict::Incomplete) {
            DS_TRY(step.root, rootOf(bench, run, version, task));
        }
        report.steps.push_back(std::move(step));
    }
    for (StepVerdict& step : report.steps) { // what builds on such a step can do without that form
        if (hasDamagedForm(run.versions[step.version]))
            step.verdict = std::max(step.verdict, Verdict::Damaged);
    }
    report.verdict = verdictOfSteps(run, report.steps);
    if (options.level >= 3)
        report.consistentTo = consistentTo(run, report.steps);
    if (!ofBase.problems.empty()) {
        const bool onlyOtherThanOnRecord =
            std::all_of(ofBase.problems.begin(), ofBase.problems.end(), [](const Error& problem) {
                return problem.code == Code::Rewritten || problem.code == Code::Catalog;
            });
        report.verdict = std::max(report.verdict, onlyOtherThanOnRecord ? Verdict::Unverified : Verdict::Damaged);
    }
    report.problems = run.problems;
    report.problems.insert(report.problems.end(), restarts.begin(), restarts.end());
    report.problems.insert(report.problems.end(), otherChanges.begin(), otherChanges.end());
    if (missesVersions(run))
        report.verdict = std::max(report.verdict, Verdict::Incomplete);
    DS_TRY(std::optional<Error> lost, lostPublications(run, task));
    if (lost && !run.newestGone()) {
        report.verdict = std::max(report.verdict, Verdict::Incomplete);
        report.problems.push_back(std::move(*lost));
    }
    report.problems.insert(report.problems.end(), ofBase.problems.begin(), ofBase.problems.end());
    const std::vector<Error> mended = task.notices();
    report.problems.insert(report.problems.end(), mended.begin(), mended.end());
    return report;
}

} // namespace deltascope
