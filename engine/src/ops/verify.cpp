#include "deltascope/engine/operations.h"

#include "audit/replay_audit.h"
#include "check_objects.h"
#include "deltascope/base/address.h"
#include "deltascope/engine/parallel.h"
#include "deltascope/engine/rewritten_parts.h"
#include "gone_versions.h"
#include "lost_publications.h"
#include "read_headers.h"
#include "repeated_files.h"
#include "restart.h"
#include "source_events.h"
#include "step_evidence.h"
#include "step_verdicts.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// First and last version that are meant.
std::pair<std::size_t, std::size_t> rangeOf(const Run& run, const VerifyOptions& options)
{
    return options.range.value_or(std::pair<std::size_t, std::size_t>(0, run.versions.size() - 1));
}

/// " at 14:05 UTC"
std::string timeOf(const Version& version)
{
    return fmt::format(" at {:%H:%M} UTC",
                       fmt::gmtime(static_cast<std::time_t>(version.objects.publishedUs() / 1'000'000)));
}

/// Reports once that a trainer started again under the same keys, and takes its objects as first sights. `findings`: by
/// index in Run::versions; loses what the restart explains.
Result<void> takeRestarts(Workbench& bench, Run& run, const VerifyOptions& options,
                          std::vector<ObjectFindings>& findings, std::int64_t beganUs, std::vector<Error>& problems,
                          TaskContext& task)
{
    const auto isRewritten = [&](std::size_t version) { return findings[version].has(Code::Rewritten); };
    const auto epochOf = [&](std::size_t version) { return run.versions[version].epoch; };
    const auto [first, last] = rangeOf(run, options);
    const std::size_t end = last + 1;
    const std::size_t endOfRun = options.until ? *options.until + 1 : run.versions.size();
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
            std::erase_if(findings[i].problems, [](const Error& problem) { return problem.code == Code::Rewritten; });
        problems.push_back(Error {
            Code::Fork,
            fmt::format("a new run began here with step {}{}; the earlier one is remembered: steps {} to {} have other "
                        "bytes than on record, all of their deltas, and replay on each other",
                        run.versions[begin].step(), timeOf(run.versions[begin]), run.versions[begin].step(),
                        run.versions[behind - 1].step()),
            run.store->uri(), run.versions[begin].step(),
            "nothing, if a trainer was started again; what was built from the run before keeps its provenance" });
        keepEvents(bench, *run.store, { problems.back() });
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

/// One form of a version: headers, and what they record about payload if `payload` is set.
Result<void> readForm(const Run& run, const VersionObjects& objects, bool payload, std::optional<Error>& failure,
                      ObjectFindings& findings, TaskContext& task)
{
    Result<VersionIndex> index = readIndex(*run.store, *run.layout, objects, task);
    if (!index) {
        if (index.error().code == Code::Canceled || index.error().code == Code::Transient)
            return fail(std::move(index.error()));
        if (!failure || failure->code != Code::Vanished) // which says why it cannot be read
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

/// Reads the headers of the versions of a range again, whatever the catalog says.
Result<void> readAgain(Workbench& bench, Run& run, const VerifyOptions& options, std::vector<ObjectFindings>& findings,
                       TaskContext& task)
{
    task.beginPhase("headers", 0);
    const auto [first, last] = rangeOf(run, options);
    const bool payload = options.level >= 2;
    unsigned threads = bench.threads;
    for (const Version& version : std::span(run.versions).subspan(first, last - first + 1))
        threads = std::min(threads, readersOf(version.summary, threads));
    return forEachParallel(threads, last - first + 1, task, [&, begin = first](std::size_t n) -> Result<void> {
        Version& version = run.versions[begin + n];
        DS_CHECK(readForm(run, version.objects, payload, version.failure, findings[begin + n], task));
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

bool holds(const Version& version, std::string_view key)
{
    for (std::size_t form = 0; form < version.forms(); ++form) {
        const std::vector<ObjectInfo>& objects = version.objectsOf(form).objects;
        if (std::any_of(objects.begin(), objects.end(), [key](const ObjectInfo& object) { return object.key == key; }))
            return true;
    }
    return false;
}

/// What the records say against objects whose bytes nobody compares. `meant`: by index in Run::versions. What concerns
/// no version becomes one of `others`.
void addSeenChanges(const Workbench& bench, const Run& run, const std::vector<bool>& meant,
                    std::vector<ObjectFindings>& findings, std::vector<Error>& others)
{
    for (Error& change : changedSinceSeen(bench, run)) {
        bool concernsVersion = false;
        for (std::size_t i = 0; change.step && i < run.versions.size(); ++i) {
            if (!holds(run.versions[i], change.where))
                continue;
            concernsVersion = true;
            if (meant[i])
                findings[i].problems.push_back(change);
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

/// Fills in the roots of anchors and of the last step. A state that cannot be rebuilt has none: its step says why.
Result<void> addRoots(Workbench& bench, const Run& run, std::vector<StepVerdict>& steps, TaskContext& task)
{
    for (StepVerdict& step : steps) {
        const Version& version = run.versions[step.version];
        const bool isMeant = version.kind == VersionKind::Anchor || &step == &steps.back();
        if (!isMeant || step.verdict >= Verdict::Incomplete)
            continue;
        Result<std::string> root = rootOf(bench, run, version, task);
        if (!root && !speaksOfDamage(root.error().code) && root.error().code != Code::Rewritten)
            return fail(std::move(root.error()));
        if (root)
            step.root = std::move(*root);
    }
    return {};
}

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
    const auto [first, last] = rangeOf(run, options);
    const std::vector<bool> below = withBases(run, first, last);
    const std::int64_t beganUs = bench.nowUs();
    if (options.level >= 2 && bench.records)
        DS_CHECK(bench.records->check());
    std::vector<Error> restarts;
    std::vector<Error> otherChanges;
    std::vector<ObjectFindings> findings(run.versions.size());
    if (options.level >= 1)
        DS_CHECK(readAgain(bench, run, options, findings, task));
    ObjectFindings ofBase;
    if (options.level >= 2 && run.base) {
        DS_TRY(ofBase, checkBase(bench, *run.base, options.acceptRewritten, task));
    }
    if (options.level >= 2) {
        std::vector<ObjectCheckup> checkups;
        for (std::size_t i = 0; i < run.versions.size(); ++i)
            checkups.push_back(i >= first && i <= last ? ObjectCheckup::Read
                                   : below[i]          ? ObjectCheckup::Known
                                                       : ObjectCheckup::None);
        DS_TRY(std::vector<ObjectFindings> ofObjects, checkRun(bench, run, checkups, options.acceptRewritten, task));
        StoreDigests& digests = report.storeDigests.emplace();
        for (std::size_t i = first; i <= last; ++i)
            addTo(digests, ofObjects[i].storeDigests);
        for (std::size_t i = 0; i < findings.size(); ++i)
            findings[i].add(std::move(ofObjects[i]));
        for (const std::string& key : ofBase.accepted)
            report.accepted.push_back(Address(run.base->store->uri()).below(key).text());
        for (const ObjectFindings& of : findings)
            report.accepted.insert(report.accepted.end(), of.accepted.begin(), of.accepted.end());
        noteRewritten(bench, run);
    } else {
        addSeenChanges(bench, run, below, findings, otherChanges);
    }
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
        DS_CHECK(takeRestarts(bench, run, options, findings, beganUs, restarts, task));

    noteRewritten(bench, run); // with what was read in the replay, and with restarts
    const VerdictInputs inputs { run, options.level, bench.records != nullptr, findings, ofBase };
    for (StepVerdict& step : verdictsOf(inputs, below)) {
        if (step.version >= first && step.version <= last) {
            report.steps.push_back(std::move(step));
            continue;
        }
        const std::vector<Error>& problems = findings[step.version].problems; // of what the range builds on
        otherChanges.insert(otherChanges.end(), problems.begin(), problems.end());
    }
    if (options.level >= 4)
        DS_CHECK(addRoots(bench, run, report.steps, task));
    addDamagedForms(run, report.steps);
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
