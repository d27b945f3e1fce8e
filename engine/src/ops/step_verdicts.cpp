#include "step_verdicts.h"

#include "lineage/claims.h"
#include "step_evidence.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace deltascope {

namespace {

/// What an obstacle makes of a version.
Verdict verdictOfObstacle(const Run& run, std::size_t at)
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

/// The version whose state the deltas of a version are replayed on, as far as it lies in the run.
std::optional<std::size_t> basisOf(const Version& version)
{
    return version.fullForm() || version.ownFormObstacle ? std::nullopt : version.base;
}

/// Judges one version after another.
class Judge {
public:
    explicit Judge(const VerdictInputs& inputs)
        : m_in(inputs)
        , m_trustworthy(trustworthySteps(inputs.run))
        , m_states(inputs.run.versions.size())
    {
    }

    /// What it builds on was judged before.
    StepVerdict judge(std::size_t at)
    {
        const Run& run = m_in.run;
        const Version& version = run.versions[at];
        StepVerdict step;
        step.version = at;
        step.problems = version.problems;
        step.digestsChecked = isReplayed() && version.facts ? version.facts->digestsChecked : 0;
        if (!isComparedWithRewritten(at))
            step.drift = driftAt(run, at);
        addProblems(m_in.findings[at], step);
        noteState(at);
        const bool isJudged = isReplayed() && version.facts && version.facts->replayed && !version.obstacle;
        if (isJudged && !m_states[at].onRewritten && !isComparedWithRewritten(at))
            step.health = version.suspect ? StepVerdict::Health::Suspect : StepVerdict::Health::Normal;
        if (isReplayed()) {
            const bool onRewritten = m_states[at].onRewritten; // then an anchor that is near it says nothing, either
            step.coverage =
                coverageAt(run, at, m_in.onRecord && !onRewritten ? Evidence::FirstSight : Evidence::None,
                           isOtherBase() ? Evidence::None : Evidence::Base, m_in.level >= 4 && !onRewritten);
        }
        step.verdict = verdictOn(at, step);
        m_states[at].verdict = step.verdict;
        const State* const base = basis(at);
        m_states[at].isUnreplayed = m_states[at].onRewritten && isReplayed() && !version.obstacle && !step.coverage;
        if (m_states[at].isUnreplayed && !(base && base->isUnreplayed)) // said once, of the first
            step.problems.push_back(Error { Code::Rewritten,
                                            "what it builds on was rewritten, and it cannot be replayed on what is "
                                            "there now to what its publisher recorded",
                                            version.objects.name,
                                            version.step(),
                                            {} });
        return step;
    }

private:
    struct State {
        Verdict verdict = Verdict::Unverified;
        bool onRewritten = false; ///< it or what it builds on was rewritten, and no publisher vouches for it
        bool isChanging = false; ///< it or what it builds on changed while it was read
        bool isUnreplayed = false; ///< and the replay fails on what was rewritten
    };

    bool isReplayed() const { return m_in.level >= 3; }
    static bool saysRewritten(const ObjectFindings& findings)
    {
        return findings.has(Code::Rewritten) || findings.has(Code::Catalog);
    }
    /// Whether the checkpoint outside of the source is not known to be the one that was seen first.
    bool isOtherBase() const { return saysRewritten(m_in.ofBase); }

    /// Whether the state that an anchor is compared with stands on an object that was rewritten.
    bool isComparedWithRewritten(std::size_t at) const
    {
        const std::vector<Version>& versions = m_in.run.versions;
        if (at == 0 || versions[at].kind != VersionKind::Anchor || versions[at - 1].epoch != versions[at].epoch)
            return false;
        for (std::optional<std::size_t> i = at - 1; i; i = basisOf(versions[*i])) {
            const bool onBase = versions[*i].onExternalBase && m_in.run.baseRewritten;
            if (onBase || versions[*i].rewrittenForms.contains(0))
                return true;
        }
        return false;
    }

    static void addProblems(const ObjectFindings& findings, StepVerdict& step)
    {
        for (const Error& problem : findings.problems) {
            const bool told = std::any_of(step.problems.begin(), step.problems.end(), [&](const Error& other) {
                return other.code == problem.code && other.where == problem.where;
            });
            if (!told)
                step.problems.push_back(problem);
        }
    }

    /// The state of what it builds on.
    const State* basis(std::size_t at) const
    {
        const std::optional<std::size_t> base = basisOf(m_in.run.versions[at]);
        return base && *base < at ? &m_states[*base] : nullptr;
    }

    void noteState(std::size_t at)
    {
        const Version& version = m_in.run.versions[at];
        const State* const base = basis(at);
        const bool onExternalBase = version.onExternalBase && !version.fullForm() && !version.ownFormObstacle;
        m_states[at].onRewritten =
            saysRewritten(m_in.findings[at]) || (base && base->onRewritten) || (onExternalBase && isOtherBase());
        m_states[at].isChanging = m_in.findings[at].isChanging || (base && base->isChanging);
    }

    Verdict verdictOn(std::size_t at, StepVerdict& step)
    {
        const Run& run = m_in.run;
        const Version& version = run.versions[at];
        const ObjectFindings& findings = m_in.findings[at];
        if (findings.has(Code::Digest) || findings.has(Code::Truncated) || findings.has(Code::Malformed)
            || findings.has(Code::Hostile))
            return Verdict::Damaged;
        if (version.obstacle)
            return verdictOfObstacle(run, at);
        if (findings.has(Code::NotFound))
            return Verdict::Incomplete;
        const State* const base = basis(at);
        if (base && base->verdict >= Verdict::Incomplete) { // its objects, not its lineage, speak against the base
            step.problems.push_back(
                Error { Code::ChainGap,
                        fmt::format("step {} builds on step {}, whose objects are not what they were", version.step(),
                                    run.versions[*version.base].step()),
                        version.objects.name,
                        version.step(),
                        {} });
            return Verdict::Incomplete;
        }
        if (m_in.level < 2 || !version.proven)
            return Verdict::Unverified;
        // A lossy state is never trusted, whatever it matches: the same sum may round otherwise elsewhere.
        const bool trusted = m_trustworthy[at] && step.coverage && !version.lossy && !isUnvouchedEmpty(run, at);
        if (trusted && step.coverage->isVerified() && !m_states[at].isChanging) {
            m_states[at].onRewritten = false; // its publisher vouches for it
            return Verdict::Verified;
        }
        if (m_states[at].onRewritten || version.driftAlarm || version.formsDiffer || version.suspect)
            return Verdict::Unverified;
        if (trusted && step.coverage->isConsistent())
            return Verdict::Consistent;
        const bool wasLookedAt = !isReplayed() || step.coverage; // at this level, first sight is that of a replay
        return m_in.onRecord && wasLookedAt ? Verdict::FirstSight : Verdict::Unverified;
    }

    const VerdictInputs& m_in;
    const std::vector<bool> m_trustworthy;
    std::vector<State> m_states; ///< by index in Run::versions
};

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

std::vector<bool> withBases(const Run& run, std::size_t first, std::size_t last)
{
    std::vector<bool> meant(run.versions.size(), false);
    std::fill(meant.begin() + static_cast<std::ptrdiff_t>(first), meant.begin() + static_cast<std::ptrdiff_t>(last) + 1,
              true);
    for (std::size_t i = last + 1; i-- > 0;) {
        const std::optional<std::size_t> base = basisOf(run.versions[i]);
        if (meant[i] && base)
            meant[*base] = true;
    }
    return meant;
}

std::vector<StepVerdict> verdictsOf(const VerdictInputs& inputs, const std::vector<bool>& meant)
{
    Judge judge(inputs);
    std::vector<StepVerdict> steps;
    for (std::size_t i = 0; i < meant.size(); ++i) {
        if (meant[i])
            steps.push_back(judge.judge(i));
    }
    return steps;
}

void addDamagedForms(const Run& run, std::vector<StepVerdict>& steps)
{
    for (StepVerdict& step : steps) { // what builds on such a step can do without that form
        if (hasDamagedForm(run.versions[step.version]))
            step.verdict = std::max(step.verdict, Verdict::Damaged);
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

} // namespace deltascope
