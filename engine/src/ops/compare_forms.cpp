#include "compare_forms.h"

#include "audit/replay_audit.h"
#include "correspondence.h"
#include "deltascope/engine/walk.h"
#include "element_compare.h"
#include "fact_errors.h"
#include "replay/checked_reads.h"
#include "stands_on_rewritten.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// What replaying two ways to a version side by side shows.
struct SideBySide {
    std::uint64_t differs = 0;
    bool sameTensors = true;
    VersionFacts ofForm; ///< of the last link of the second way
};

Result<SideBySide> replayBoth(const WalkMeans& means, const PathState& a, const PathState& b, TaskContext& task)
{
    SideBySide result;
    result.sameTensors = haveSameTensors(a, b);
    if (!result.sameTensors)
        return result;
    ReplayAudit audit(b, true);
    std::vector<std::unique_ptr<ReplayAudit::Tensor>> watches(b.tensors().size());
    std::unique_ptr<StateWalk> right;
    const auto watch = [&](std::size_t pair) {
        watches[pair] = std::make_unique<ReplayAudit::Tensor>(audit, right->tensor(pair), true);
        return watches[pair].get();
    };
    const std::unique_ptr<StateWalk> left = a.replay(allTensors(a), { means });
    right = b.replay(allTensors(b), { means, watch });
    std::atomic<std::uint64_t> differs = 0;
    const auto compare = [&](std::size_t pair, PairReader& reader) -> Result<void> {
        const Dtype dtype = right->tensor(pair).dtype;
        DS_CHECK(forEachPair(reader, task,
                             [&](ByteSpan x, ByteSpan y) { differs += countDifferent(*means.backend, x, y, dtype); }));
        watches[pair]->finish();
        watches[pair].reset(); // there may be a million tensors
        return {};
    };
    DS_CHECK(walkPairs(*left, *right, audit.wantsOrder() ? InOrder : means.threads, task, compare));
    audit.finishStates();
    result.differs = differs;
    result.ofForm = audit.factsOf(b.links().size() - 1, VersionKind::Anchor, 0);
    return result;
}

/// Whether a publisher recorded a digest of the tensors or the state behind a form, and it fits. Weak ones tell
/// nothing.
bool isVouchedFor(const VersionFacts& facts, const VersionSummary& summary)
{
    if (facts.rootCheck == VersionFacts::RootCheck::Matches)
        return facts.digestsFailed == 0;
    return facts.digestsFailed == 0 && facts.digestsChecked > 0 && summary.digests != DigestAlgorithm::Adler32;
}

/// Compares the other forms of one version.
class FormComparison {
public:
    FormComparison(Workbench& bench, const Run& run, const Planner& planner, Version& version)
        : m_bench(bench)
        , m_run(run)
        , m_planner(planner)
        , m_version(version)
    {
    }

    /// Returns whether there was anything to compare.
    Result<bool> compareAll(bool again, TaskContext& task)
    {
        const std::optional<std::size_t> first = firstUsable();
        bool any = false;
        for (std::size_t form = 1; first && form < m_version.forms(); ++form) {
            const FormFacts* known = m_version.factsOf(form);
            const bool isKnown = known && (known->differs || known->damage);
            const bool ofDelta = *first == 0 && m_version.fullForm() == form;
            if (!isUsable(form) || ofDelta || (isKnown && !again))
                continue;
            const std::optional<std::size_t> original = m_version.originalOf(form);
            const bool isCopy = original && isUsable(*original);
            const std::size_t reference = isCopy ? *original : *first;
            DS_TRY(const bool same, isCopy ? haveSameBytes(reference, form, task) : Result<bool>(false));
            if (same)
                noteSame(reference, form);
            else
                DS_CHECK(compare(reference, form, task));
            any = true;
        }
        return any;
    }

private:
    bool isUsable(std::size_t form) const
    {
        return form == 0 ? !m_version.obstacle && !m_version.ownFormObstacle : !m_version.otherForms[form - 1].obstacle;
    }

    std::optional<std::size_t> firstUsable() const
    {
        for (std::size_t form = 0; form < m_version.forms(); ++form) {
            if (isUsable(form))
                return form;
        }
        return std::nullopt;
    }

    /// Whether a mirror holds the very bytes of a form; then nothing has to be replayed to know where they lead.
    Result<bool> haveSameBytes(std::size_t original, std::size_t copy, TaskContext& task)
    {
        const VersionObjects& here = m_version.objectsOf(original);
        const VersionObjects& there = m_version.objectsOf(copy);
        if (here.objects.size() != there.objects.size())
            return false;
        Result<bool> same = compareObjects(here, there, task);
        if (!same && endsLearning(same.error().code))
            return false; // replaying it tells what is wrong
        return same;
    }

    /// Of the objects that were listed, held against the records as openForFacts() does.
    Result<bool> compareObjects(const VersionObjects& here, const VersionObjects& there, TaskContext& task)
    {
        Records* const records = m_run.recordsLost ? nullptr : m_bench.records;
        const ReadRules rules { m_bench.threads, records, true, Replaced::Fails };
        DS_TRY(const auto left, CheckedReads::ofObjects(m_run.store, here, false, rules, task));
        DS_TRY(const auto right, CheckedReads::ofObjects(m_run.store, there, false, rules, task));
        for (const ObjectInfo& object : here.objects) {
            const auto other =
                std::find_if(there.objects.begin(), there.objects.end(), [&](const ObjectInfo& candidate) {
                    return there.inSource(candidate.key) == here.inSource(object.key);
                });
            if (other == there.objects.end() || other->sizeBytes != object.sizeBytes)
                return false;
            DS_TRY(const bool same, compareBytes(*left->source(), object, *right->source(), *other, task));
            if (!same)
                return false;
        }
        DS_CHECK(left->expectSound(false, task));
        DS_CHECK(right->expectSound(false, task));
        return true;
    }

    static Result<bool> compareBytes(const ObjectStore& storeOfA, const ObjectInfo& a, const ObjectStore& storeOfB,
                                     const ObjectInfo& b, TaskContext& task)
    {
        constexpr std::uint64_t ChunkBytes = std::uint64_t { 1 } << 20;
        std::vector<std::byte> left(std::min(ChunkBytes, a.sizeBytes));
        std::vector<std::byte> right(left.size());
        for (std::uint64_t at = 0; at < a.sizeBytes; at += left.size()) {
            DS_CHECK(task.checkpoint());
            left.resize(std::min(ChunkBytes, a.sizeBytes - at));
            right.resize(left.size());
            DS_CHECK(storeOfA.read(a, at, left, task));
            DS_CHECK(storeOfB.read(b, at, right, task));
            if (left != right)
                return false;
        }
        return true;
    }

    void noteSame(std::size_t original, std::size_t copy)
    {
        const FormFacts* known = original == 0 ? nullptr : m_version.factsOf(original);
        const bool ownIsVouchedFor =
            original == 0 && m_version.facts && isVouchedFor(*m_version.facts, *m_version.summary);
        const bool vouchedFor = ownIsVouchedFor || (known && known->vouchedFor);
        FormFacts& facts = m_version.noteForm(copy);
        facts.differs = 0;
        facts.comparedWith = original;
        facts.vouchedFor = vouchedFor;
    }

    Result<void> compare(std::size_t reference, std::size_t form, TaskContext& task)
    {
        Result<Plan> a = m_planner.planOver(m_version, reference);
        Result<Plan> b = m_planner.planOver(m_version, form);
        if (!a || !b)
            return {};
        DS_TRY(const WalkMeans means, m_bench.means());
        bool onRewritten = false;
        Result<SideBySide> seen = replay(*a, *b, means, onRewritten, task);
        if (seen)
            return take(reference, form, *seen, onRewritten), Result<void>();
        const Error& error = seen.error();
        if (!endsLearning(error.code))
            return fail(std::move(seen.error()));
        const std::size_t link = linkOf(m_run, b->links, error);
        if (saysDamage(error) && !onRewritten && link < b->links.size() && b->links[link] == b->links.back())
            m_version.noteDamage(form, error);
        return {}; // the replay of the damaged link itself reports it
    }

    /// `onRewritten`: gets whether what fails or differs may be the fault of an object on the way that was rewritten.
    Result<SideBySide> replay(const Plan& a, const Plan& b, const WalkMeans& means, bool& onRewritten,
                              TaskContext& task)
    {
        DS_TRY(const PathPtr left, openForFacts(m_bench, m_run, a, task));
        DS_TRY(const PathPtr right, openForFacts(m_bench, m_run, b, task));
        Result<SideBySide> seen = ifSound(replayBoth(means, *left, *right, task), { left.get(), right.get() }, task);
        const auto standsOn = [](const PathState& path) { return standsOnRewritten(path, path.links().size() - 1); };
        onRewritten = standsOn(*left) || standsOn(*right);
        return seen;
    }

    void take(std::size_t reference, std::size_t form, const SideBySide& seen, bool onRewritten)
    {
        using Check = VersionFacts::RootCheck;
        const VersionObjects& objects = m_version.objectsOf(form);
        const auto note = [&](std::size_t of, const Error& damage) {
            if (!onRewritten)
                m_version.noteDamage(of, damage);
        };
        const auto damaged = [&](const VersionObjects& of, std::string text) {
            return Error { Code::Digest, std::move(text), of.name, m_version.step(), {} };
        };
        if (seen.ofForm.digestsFailed > 0)
            return note(form, digestFailure(seen.ofForm, objects, false));
        if (seen.ofForm.rootCheck == Check::Differs || seen.ofForm.rootCheck == Check::BaseDiffers)
            return note(form, rootFailure(seen.ofForm, objects, m_version.summaryOf(form)->root));
        if (!seen.sameTensors)
            return note(form,
                        damaged(objects,
                                fmt::format("it leads to other tensors than {}", m_version.objectsOf(reference).name)));
        const bool forOwn = reference == 0 && m_version.facts && isVouchedFor(*m_version.facts, *m_version.summary);
        const bool forForm = isVouchedFor(seen.ofForm, *m_version.summaryOf(form));
        const auto against = [&](const VersionObjects& right) {
            return fmt::format("it differs in {} elements from the state that {} leads to, which has the digest that "
                               "its publisher recorded",
                               seen.differs, right.name);
        };
        if (seen.differs > 0 && forOwn && !forForm)
            return note(form, damaged(objects, against(m_version.objects)));
        if (seen.differs > 0 && forForm && reference == 0 && !forOwn)
            return note(0, damaged(m_version.objects, against(objects)));
        FormFacts& facts = m_version.noteForm(form);
        facts.differs = seen.differs;
        facts.comparedWith = reference;
        facts.vouchedFor = forForm;
    }

    Workbench& m_bench;
    const Run& m_run;
    const Planner& m_planner;
    Version& m_version;
};

}

Result<std::vector<std::size_t>>
compareOtherForms(Workbench& bench, Run& run, std::pair<std::size_t, std::size_t> range, bool again, TaskContext& task)
{
    std::vector<std::size_t> changed;
    std::uint64_t bytes = 0; // nearly all elements are of 16 bits
    for (std::size_t at = range.first; at <= range.second && at < run.versions.size(); ++at)
        bytes += run.versions[at].otherForms.size() * run.totalElementsOf(run.versions[at]).value_or(0) * 2;
    task.beginPhase("compare forms", bytes);
    const Planner planner(run); // of what was known before: what proves damaged now is left out at the next look
    for (std::size_t at = range.first; at <= range.second && at < run.versions.size(); ++at) {
        Version& version = run.versions[at];
        if (version.otherForms.empty() || version.beingWritten)
            continue;
        DS_TRY(const bool compared, FormComparison(bench, run, planner, version).compareAll(again, task));
        if (compared)
            changed.push_back(at);
    }
    return changed;
}

} // namespace deltascope
