#include "deltascope/engine/operations.h"

#include "audit/replay_audit.h"
#include "deltascope/engine/parallel.h"
#include "format/common/read_chunks.h"
#include "gone_versions.h"
#include "lineage/claims.h"
#include "lost_publications.h"
#include "read_headers.h"
#include "repeated_files.h"
#include "replay/object_reads.h"
#include "restart.h"
#include "step_evidence.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace deltascope {

namespace {

using KeyedSight = std::pair<std::string, Records::Sight>;

void addTo(StoreDigests& sum, const StoreDigests& more)
{
    sum.equal += more.equal;
    sum.uncompared += more.uncompared;
    sum.none += more.none;
}

/// What reading all bytes of a version's objects showed.
struct ObjectFindings {
    std::vector<Error> problems;
    std::vector<KeyedSight> sights; ///< not on record yet
    bool isChanging = false; ///< another object stands there than the one that was read
    StoreDigests storeDigests;

    /// The same of another object of the version, without its sights.
    void add(ObjectFindings other)
    {
        std::move(other.problems.begin(), other.problems.end(), std::back_inserter(problems));
        isChanging = isChanging || other.isChanging;
        addTo(storeDigests, other.storeDigests);
    }
    bool has(Code code) const
    {
        return std::any_of(problems.begin(), problems.end(),
                           [code](const Error& problem) { return problem.code == code; });
    }
};

/// Digests of a whole object.
struct ObjectDigest {
    std::string xxh3;
    std::vector<Digest128> leaves;
};

/// An object of a version, or of another form of it.
struct OwnedObject {
    const VersionObjects* version;
    const VersionObjects* form;
    const ObjectInfo* object;
};

/// Hashes objects and compares them with what was seen first. Any thread.
class ObjectCheck {
public:
    ObjectCheck(Workbench& bench, const ObjectStore& store, bool acceptRewritten)
        : m_bench(bench)
        , m_store(store)
        , m_source(store.uri())
        , m_acceptRewritten(acceptRewritten)
    {
    }

    Result<ObjectFindings> check(const OwnedObject& owned, TaskContext& task) const
    {
        const VersionObjects& version = *owned.version;
        const ObjectInfo& object = *owned.object;
        ObjectFindings findings;
        Result<ObjectDigest> hashed = hashMended(object, task);
        if (!hashed && (hashed.error().code == Code::Truncated || hashed.error().code == Code::NotFound)) {
            findings.problems.push_back(atStep(std::move(hashed.error()), version.step));
            return findings;
        }
        DS_TRY(const ObjectDigest digest, std::move(hashed));
        if (object.sizeBytes > 0)
            count(m_store.proofOf(object), findings.storeDigests);
        DS_TRY(const ObjectInfo after, m_store.stat(object.key, task));
        if (after.identity != object.identity) {
            findings.isChanging = true;
            findings.problems.push_back(Error { Code::Rewritten, "the object changed while it was being read",
                                                object.key, version.step, "verify again when the trainer is quiet" });
        } else if (m_bench.records)
            DS_CHECK(owned.form->mirror.empty() ? compareWithSights(version, object, digest, findings)
                                                : compareWithSource(version, *owned.form, object, digest, findings));
        return findings;
    }

private:
    static void count(ReadProof proof, StoreDigests& digests)
    {
        switch (proof) {
        case ReadProof::Proven:
            ++digests.equal;
            return;
        case ReadProof::Partial:
            ++digests.uncompared;
            return;
        case ReadProof::None:
            ++digests.none;
            return;
        }
    }

    /// Again where what came wrong from the store comes right by now.
    Result<ObjectDigest> hashMended(const ObjectInfo& object, TaskContext& task) const
    {
        constexpr int MostReads = 3;
        for (int reads = 1;; ++reads) {
            const std::size_t mended = task.noticeCount();
            Result<ObjectDigest> digest = hash(object, task);
            const bool cameWrong = !digest && digest.error().code == Code::Digest && task.noticeCount() > mended;
            if (!cameWrong || reads == MostReads)
                return digest;
        }
    }

    Result<ObjectDigest> hash(const ObjectInfo& object, TaskContext& task) const
    {
        const std::unique_ptr<StreamingDigest> digest = makeXxh3();
        LeafHasher leaves(LeafHasher::Strength::Fast);
        DS_CHECK(readChunks(m_store, object.key, 0, object.sizeBytes, task, m_spare, [&](ByteSpan chunk) {
            digest->update(chunk);
            leaves.update(chunk);
            task.addDone(chunk.size());
        }));
        leaves.finish();
        return ObjectDigest { digest->hex(), leaves.fast() };
    }

    /// A rewritten object is told every time, until a user accepts it: a record that is updated by looking is none.
    Result<void> compareWithSights(const VersionObjects& version, const ObjectInfo& object, const ObjectDigest& digest,
                                   ObjectFindings& findings) const
    {
        Result<std::vector<Records::Sight>> found = m_bench.records->sights(m_source, object.key);
        if (!found && found.error().code == Code::Catalog) {
            if (m_acceptRewritten)
                findings.sights.emplace_back(object.key, sightOf(object, digest, true));
            else
                findings.problems.push_back(atStep(std::move(found.error()), version.step));
            return {};
        }
        DS_TRY(const std::vector<Records::Sight> sights, std::move(found));
        const auto known = std::find_if(sights.rbegin(), sights.rend(),
                                        [&](const Records::Sight& sight) { return sight.identity == object.identity; });
        if (known != sights.rend() && known->xxh3 != digest.xxh3) {
            findings.problems.push_back(
                Error { Code::Digest,
                        fmt::format("its bytes have digest {}, at first sight they had {}, and neither size nor "
                                    "times of the object changed: the storage is damaged",
                                    digest.xxh3, known->xxh3),
                        object.key,
                        version.step,
                        {} });
            return {};
        }
        const auto trusted =
            std::find_if(sights.rbegin(), sights.rend(), [](const Records::Sight& sight) { return sight.trusted; });
        const bool asTrusted = trusted == sights.rend() || trusted->xxh3 == digest.xxh3;
        if (!asTrusted && !m_acceptRewritten)
            findings.problems.push_back(
                Error { Code::Rewritten,
                        fmt::format("the object was rewritten: identity {} had digest {}, identity {} has {}",
                                    trusted->identity, trusted->xxh3, object.identity, digest.xxh3),
                        object.key,
                        version.step,
                        {} });
        const bool trust = asTrusted || m_acceptRewritten;
        const bool lacksLeaves = known != sights.rend() && known->leaves.empty() && !digest.leaves.empty();
        if (known == sights.rend() || lacksLeaves || (trust && !known->trusted))
            findings.sights.emplace_back(object.key, sightOf(object, digest, trust));
        return {};
    }

    /// An object of a mirror is held against what is on record of the source's, and is no sight of its own. Where the
    /// source has the object, one that is unlike it is only worth knowing: it is never read.
    Result<void> compareWithSource(const VersionObjects& version, const VersionObjects& form, const ObjectInfo& object,
                                   const ObjectDigest& digest, ObjectFindings& findings) const
    {
        Result<std::vector<Records::Sight>> sights =
            m_bench.records->sights(m_source, std::string(form.inSource(object.key)));
        if (!sights && sights.error().code == Code::Catalog)
            return {}; // told of the source's own object, or where the mirror is read in its place
        DS_CHECK(sights);
        const auto trusted =
            std::find_if(sights->rbegin(), sights->rend(), [](const Records::Sight& sight) { return sight.trusted; });
        if (trusted != sights->rend() && trusted->xxh3 != digest.xxh3)
            findings.problems.push_back(Error { &form == &version ? Code::Rewritten : Code::Mirror,
                                                std::string(UnlikeRecord), object.key, version.step,
                                                "fetch the object again from where it was published" });
        return {};
    }

    Records::Sight sightOf(const ObjectInfo& object, const ObjectDigest& digest, bool trusted) const
    {
        return { object.identity, object.sizeBytes, digest.xxh3, m_bench.nowUs(), trusted, digest.leaves };
    }

    Workbench& m_bench;
    const ObjectStore& m_store;
    std::string m_source;
    bool m_acceptRewritten;
    mutable SpareRequests m_spare { 16 };
};

std::vector<OwnedObject> objectsOf(const VersionObjects& version)
{
    std::vector<OwnedObject> objects;
    const auto add = [&](const VersionObjects& form) {
        for (const ObjectInfo& object : form.objects) {
            if (object.oddity.empty()) // what the version needs is a file here, or its failure
                objects.push_back({ &version, &form, &object });
        }
    };
    add(version);
    std::for_each(version.otherForms.begin(), version.otherForms.end(), add);
    return objects;
}

/// Reads every object of the versions (null: one that is left out); those of one version are findings of their own.
/// What was read before an interruption is on record all the same.
Result<std::vector<ObjectFindings>> checkObjects(Workbench& bench, const ObjectStore& store,
                                                 const std::vector<const VersionObjects*>& versions,
                                                 bool acceptRewritten, TaskContext& task)
{
    constexpr unsigned LeastAtOnce = 4; // where most of them wait for the store
    std::vector<OwnedObject> objects;
    std::vector<std::size_t> ofVersion; ///< index of each object's version
    for (std::size_t i = 0; i < versions.size(); ++i) {
        if (!versions[i])
            continue;
        const std::vector<OwnedObject> own = objectsOf(*versions[i]);
        objects.insert(objects.end(), own.begin(), own.end());
        ofVersion.resize(objects.size(), i);
    }
    std::vector<ObjectFindings> ofObjects(objects.size());
    const ObjectCheck check(bench, store, acceptRewritten);
    const unsigned atOnce = store.traits().keepsReads ? std::max(LeastAtOnce, bench.threads) : bench.threads;
    const Result<void> outcome = forEachParallel(atOnce, objects.size(), task, [&](std::size_t i) -> Result<void> {
        DS_TRY(ofObjects[i], check.check(objects[i], task));
        return {};
    });
    std::vector<ObjectFindings> findings(versions.size());
    std::vector<KeyedSight> fresh;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        std::move(ofObjects[i].sights.begin(), ofObjects[i].sights.end(), std::back_inserter(fresh));
        findings[ofVersion[i]].add(std::move(ofObjects[i]));
    }
    if (!fresh.empty())
        DS_CHECK(bench.records->add(store.uri(), fresh));
    DS_CHECK(outcome);
    return findings;
}

/// The objects of the versions first..last.
Result<std::vector<ObjectFindings>> checkRun(Workbench& bench, const Run& run, std::size_t first, std::size_t last,
                                             bool acceptRewritten, TaskContext& task)
{
    std::uint64_t bytes = 0;
    std::vector<const VersionObjects*> versions;
    for (std::size_t i = first; i <= last; ++i) {
        const Version& version = run.versions[i];
        bytes += version.objects.wireBytes();
        // what is not whole yet has no first sight: it will change
        versions.push_back(version.beingWritten || version.failure ? nullptr : &version.objects);
    }
    task.beginPhase("objects", bytes);
    return checkObjects(bench, *run.store, versions, acceptRewritten, task);
}

/// Those of the checkpoint outside of the source.
Result<ObjectFindings> checkBase(Workbench& bench, const ExternalBase& base, bool acceptRewritten, TaskContext& task)
{
    task.beginPhase("base", base.objects.wireBytes());
    DS_TRY(std::vector<ObjectFindings> findings,
           checkObjects(bench, *base.store, { &base.objects }, acceptRewritten, task));
    for (Error& problem : findings.front().problems)
        problem.text = "in the base checkpoint: " + problem.text;
    return std::move(findings.front());
}

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
        const bool standsOnRewritten = ofObjects.has(Code::Rewritten) || ofObjects.has(Code::Catalog)
            || (base && rewritten[*version.base - first]);
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
