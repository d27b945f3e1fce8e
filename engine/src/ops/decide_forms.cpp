#include "decide_forms.h"

#include "audit/replay_audit.h"
#include "fact_errors.h"
#include "lineage/drift.h"
#include "lineage/loss_test.h"
#include "lineage/twice.h"
#include "state/recorded_state.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

using FactsOfLinks = std::vector<VersionFacts>;

/// Nothing where an object on the way cannot be replayed, or was rewritten since it was first seen.
Result<std::optional<FactsOfLinks>> factsAlong(Workbench& bench, const Run& run, const Plan& plan, TaskContext& task)
{
    const auto unlessOfAnObject = [](Error error) -> Result<std::optional<FactsOfLinks>> {
        if (endsLearning(error.code))
            return std::optional<FactsOfLinks>();
        return fail(std::move(error));
    };
    DS_TRY(const WalkMeans means, bench.means());
    Result<PathPtr> path = openForFacts(bench, run, plan, task);
    if (!path)
        return unlessOfAnObject(std::move(path.error()));
    ReplayAudit audit(**path, true);
    Result<void> replayed = ifSound(replayAll(**path, audit, means, task), { path->get() }, task);
    if (!replayed)
        return unlessOfAnObject(std::move(replayed.error()));
    if (!(*path)->rewritten().empty()) // who is wrong is not decided by what is not on record
        return std::optional<FactsOfLinks>();
    audit.finishStates();
    const std::size_t before = (*path)->links().size() - plan.links.size(); // the checkpoint outside of the source
    FactsOfLinks facts;
    for (std::size_t i = 0; i < plan.links.size(); ++i) {
        const Version& version = run.versions[plan.links[i].version];
        const std::size_t form = plan.links[i].form;
        facts.push_back(audit.factsOf(before + i, version.kindOf(form), version.summaryOf(form)->storedElements));
    }
    return std::optional(std::move(facts));
}

bool missesItsRecord(const VersionFacts& facts)
{
    return facts.digestsFailed > 0 || facts.rootCheck == VersionFacts::RootCheck::Differs;
}

/// What speaks against one of two forms.
struct Objection {
    Code code = Code::Fork;
    std::string text;
};

class Decision {
public:
    Decision(const Run& run, const Plan& front, const Plan& behind, FactsOfLinks onDelta, FactsOfLinks onFull)
        : m_run(run)
        , m_front(front)
        , m_behind(behind)
        , m_onDelta(std::move(onDelta))
        , m_onFull(std::move(onFull))
        , m_version(run.versions[front.links.back().version])
        , m_delta(front.links.size() - 2)
    {
        std::vector<std::uint64_t> changed;
        const auto add = [&](const Plan& plan, std::size_t link, const VersionFacts& facts) {
            const std::size_t version = plan.links[link].version;
            if (plan.links[link].form > 0 || m_run.versions[version].kind != VersionKind::Delta
                || restoredVersion(m_run, version))
                return;
            changed.push_back(facts.changedElements);
            m_habit += { facts.noops, facts.assigned };
        };
        for (std::size_t i = 0; i < m_delta; ++i)
            add(m_front, i, m_onDelta[i]);
        for (std::size_t i = 1; i < m_behind.links.size(); ++i)
            add(m_behind, i, m_onFull[i]);
        m_limit = driftLimit(std::move(changed));
    }

    void judge()
    {
        if (judgeDigests() || !existsTwice(m_version.objects))
            return;
        judgeFront();
        for (std::size_t i = 1; i < m_behind.links.size(); ++i) {
            if (mayBeOfAnotherRun(i))
                continue;
            object(m_againstFull, i, m_onFull[i]);
            object(m_againstDelta, i, m_onDelta[m_delta + i]);
        }
    }

    const std::optional<Objection>& againstDelta() const noexcept { return m_againstDelta; }
    const std::optional<Objection>& againstFull() const noexcept { return m_againstFull; }

private:
    /// Whether a link behind the step is a complete form of a step that exists twice, too, and neither of the two leads
    /// to its bits: then it is no evidence.
    bool mayBeOfAnotherRun(std::size_t behind) const
    {
        const PlanLink& link = m_behind.links[behind];
        const auto leadsTo = [](const VersionFacts& facts) { return facts.changedVsPrevious == facts.zeroSigns; };
        return link.form > 0 && isCandidate(m_run.versions[link.version], link.form) && !leadsTo(m_onFull[behind])
            && !leadsTo(m_onDelta[m_delta + behind]);
    }

    /// Whether a publisher's digest behind the step fits one of the two alone.
    bool judgeDigests()
    {
        for (std::size_t i = 1; i < m_behind.links.size(); ++i) {
            const bool full = missesItsRecord(m_onFull[i]);
            const bool delta = missesItsRecord(m_onDelta[m_delta + i]);
            if (full && delta)
                return false;
            if (full || delta) {
                const std::size_t other = full ? 0 : m_front.links.back().form;
                (full ? m_againstFull : m_againstDelta) =
                    Objection { Code::Digest,
                                fmt::format("it does not lead to the digest that the publisher of step {} recorded, "
                                            "and {} does",
                                            stepOf(i), m_version.objectsOf(other).name) };
                return true;
            }
        }
        return false;
    }

    /// What the state in front of the step says of the two.
    void judgeFront()
    {
        const VersionFacts& delta = m_onDelta[m_delta];
        if (isLoss(delta))
            m_againstDelta =
                Objection { Code::Fork,
                            fmt::format("it assigns {} of {} elements the bits that they have in front of it",
                                        delta.noops, delta.assigned) };
        const FormFacts& full = *m_version.factsOf(m_front.links.back().form);
        const std::uint64_t differs = *full.differs - std::min(*full.differs, full.zeroSigns);
        const std::uint64_t atLeast = differs - std::min(differs, delta.changedElements);
        if (m_limit && atLeast > *m_limit)
            m_againstFull =
                Objection { Code::Fork,
                            fmt::format("it differs from the state in front of it in {} elements or more, and the "
                                        "deltas of the run explain {}",
                                        atLeast, *m_limit) };
    }

    /// What a link behind the step says of the form that it is replayed on.
    void object(std::optional<Objection>& against, std::size_t link, const VersionFacts& facts) const
    {
        if (against)
            return;
        if (facts.changedVsPrevious) {
            const std::uint64_t differs =
                *facts.changedVsPrevious - std::min(*facts.changedVsPrevious, facts.zeroSigns);
            if (m_limit && (differs > *m_limit || !facts.driftedTensors.empty()))
                against =
                    Objection { Code::Fork,
                                fmt::format("the complete state of step {} is further from what is replayed on it "
                                            "than the deltas of the run explain",
                                            stepOf(link)) };
        } else if (isLoss(facts)) {
            against = Objection { Code::Fork,
                                  fmt::format("on it step {} assigns {} of {} elements the bits that they have",
                                              stepOf(link), facts.noops, facts.assigned) };
        }
    }

    bool isLoss(const VersionFacts& facts) const
    {
        const NoopCounts counts { facts.noops, facts.assigned };
        return m_run.layout->writersAreExact() ? counts.noops > 0 : judgeNoops(counts, m_habit) == NoopVerdict::Loss;
    }

    std::int64_t stepOf(std::size_t behind) const { return m_run.versions[m_behind.links[behind].version].step(); }

    const Run& m_run;
    const Plan& m_front;
    const Plan& m_behind;
    FactsOfLinks m_onDelta; ///< of the links of `front` up to the delta, then of those of `behind` from the second on
    FactsOfLinks m_onFull; ///< of the links of `behind`
    const Version& m_version;
    std::size_t m_delta; ///< its link
    NoopCounts m_habit; ///< of the deltas in front, and of those behind on the complete form
    std::optional<std::uint64_t> m_limit;
    std::optional<Objection> m_againstDelta;
    std::optional<Objection> m_againstFull;
};

/// The winner was compared with a state that counts no more.
void forgetComparisons(Version& version)
{
    for (std::size_t form = 1; form < version.forms(); ++form) {
        if (version.factsOf(form) && version.factsOf(form)->comparedWith == 0)
            version.noteForm(form).differs.reset();
    }
}

}

Result<bool> decideForms(Workbench& bench, Run& run, const Plan& front, const Plan& behind, TaskContext& task)
{
    Plan onDelta = front;
    onDelta.links.pop_back();
    onDelta.links.insert(onDelta.links.end(), behind.links.begin() + 1, behind.links.end());
    DS_TRY(std::optional<FactsOfLinks> ofDelta, factsAlong(bench, run, onDelta, task));
    DS_TRY(std::optional<FactsOfLinks> ofFull, factsAlong(bench, run, behind, task));
    if (!ofDelta || !ofFull)
        return false;
    Decision decision(run, front, behind, std::move(*ofDelta), std::move(*ofFull));
    decision.judge();
    if (decision.againstDelta().has_value() == decision.againstFull().has_value())
        return false;

    const PlanLink full = front.links.back();
    Version& version = run.versions[full.version];
    const std::size_t loser = decision.againstFull() ? full.form : 0;
    const Objection& objection = decision.againstFull() ? *decision.againstFull() : *decision.againstDelta();
    const std::string& name = version.objectsOf(loser).name;
    version.noteDamage(
        loser,
        Error { objection.code,
                fmt::format("{} is not of step {} of this run: {}", name, version.step(), objection.text),
                name,
                version.step(),
                {} });
    if (loser == 0)
        forgetComparisons(version);
    for (std::size_t i = 1; i < behind.links.size() && loser > 0; ++i)
        run.versions[behind.links[i].version].facts.reset();
    return true;
}

} // namespace deltascope
