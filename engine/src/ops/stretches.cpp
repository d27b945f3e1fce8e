#include "stretches.h"

#include "lineage/twice.h"

#include <algorithm>

namespace deltascope {

namespace {

const VersionSummary& summaryOf(const Run& run, const PlanLink& link)
{
    return *run.versions[link.version].summaryOf(link.form);
}

/// The complete form beside a delta that replays are compared with and begin with.
std::optional<std::size_t> fullFormOf(const Version& version)
{
    return version.beingWritten ? std::nullopt : version.fullForm();
}

/// Whether an anchor holds the same tensors as the full state that a stretch starts from; else comparing them means
/// nothing.
bool isOfSameModel(const Run& run, const Plan& stretch, const VersionSummary& anchor)
{
    const VersionSummary& first = stretch.fromExternalBase ? run.base->summary : summaryOf(run, stretch.links.front());
    return first.nameSet == anchor.nameSet;
}

/// Cuts a run into stretches, from front to back.
class StretchCutter {
public:
    explicit StretchCutter(const Run& run)
        : m_run(run)
        , m_planner(run, PlanOptions { true, StateChoice::Served, {} })
    {
    }

    std::vector<Stretch> cut()
    {
        for (std::size_t i = 0; i < m_run.versions.size(); ++i) {
            if (i > 0 && m_run.versions[i - 1].epoch != m_run.versions[i].epoch)
                close();
            take(i);
        }
        close();
        return std::move(m_stretches);
    }

private:
    void take(std::size_t i)
    {
        const Version& version = m_run.versions[i];
        if (!isUsable(version)) {
            close();
            beginAtFullForm(i);
        } else if (version.kind == VersionKind::Anchor) {
            endAt(PlanLink { i, 0 }, *version.summary);
        } else if (m_open && version.base && !m_current.plan.links.empty()
                   && *version.base == m_current.plan.links.back().version) {
            m_current.plan.links.push_back(PlanLink { i, 0 });
            if (const std::optional<std::size_t> full = fullFormOf(version))
                endAt(PlanLink { i, *full }, *version.summaryOf(*full));
        } else {
            close();
            beginOnBase(i);
            const std::optional<std::size_t> full = fullFormOf(version);
            if (m_open && full)
                endAt(PlanLink { i, *full }, *version.summaryOf(*full));
            else
                beginAtFullForm(i);
        }
    }

    /// Where a delta does not build on the version before it, its stretch begins with what leads to its base.
    void beginOnBase(std::size_t i)
    {
        const Version& version = m_run.versions[i];
        if (version.base) {
            Result<Plan> plan = m_planner.planFor(m_run.versions[*version.base]);
            if (!plan)
                return;
            m_current.plan = std::move(*plan);
        } else if (version.onExternalBase && m_run.base) {
            m_current.plan.fromExternalBase = true;
        } else {
            return;
        }
        m_current.plan.links.push_back(PlanLink { i, 0 });
        m_open = true;
    }

    void beginAtFullForm(std::size_t i)
    {
        const std::optional<std::size_t> full = fullFormOf(m_run.versions[i]);
        if (!m_open && full) {
            m_current.plan.links.push_back(PlanLink { i, *full });
            m_open = true;
        }
    }

    /// A full state is compared with what leads to it, and begins the next stretch.
    void endAt(PlanLink link, const VersionSummary& full)
    {
        const bool isCompared = m_open && isOfSameModel(m_run, m_current.plan, full);
        if (isCompared)
            m_current.plan.links.push_back(link);
        close();
        m_current.plan.links.push_back(link);
        m_current.beginsAnew = !isCompared && link.form == 0;
        m_open = true;
    }

    void close()
    {
        if (m_open && !m_current.judged(m_run).empty())
            m_stretches.push_back(std::move(m_current));
        m_current = {};
        m_open = false;
    }

    const Run& m_run;
    Planner m_planner;
    std::vector<Stretch> m_stretches;
    Stretch m_current;
    bool m_open = false;
};

/// Whether replaying a stretch tells something about versions that are wanted.
bool isWanted(const Run& run, const Stretch& stretch, const AnalyzeOptions& options)
{
    const std::vector<PlanLink> judged = stretch.judged(run);
    return std::any_of(judged.begin(), judged.end(), [&](const PlanLink& link) {
        const std::size_t at = link.version;
        const bool inRange = !options.range || (at >= options.range->first && at <= options.range->second);
        return inRange && (options.again || !run.versions[at].facts);
    });
}

/// Whether a stretch begins with one of two objects that may be of two runs, before they were compared.
bool beginsWithCandidate(const Run& run, const Stretch& stretch)
{
    const PlanLink& first = stretch.plan.links.front();
    const Version& version = run.versions[first.version];
    return first.form > 0 && existsTwice(version.objects) && !version.facts;
}

}

std::vector<PlanLink> Stretch::judged(const Run& run) const
{
    const bool skipsFirst =
        !plan.links.empty() && fromAnchor() && !beginsAnew && !recordsItsState(summaryOf(run, plan.links.front()));
    return { plan.links.begin() + (skipsFirst ? 1 : 0), plan.links.end() };
}

std::vector<Stretch> stretchesOf(const Run& run, std::optional<std::size_t> until)
{
    std::vector<Stretch> stretches = run.layout->standAlone() ? std::vector<Stretch>() : StretchCutter(run).cut();
    if (!until)
        return stretches;
    for (Stretch& stretch : stretches)
        std::erase_if(stretch.plan.links, [&](const PlanLink& link) { return link.version > *until; });
    std::erase_if(stretches, [&](const Stretch& stretch) { return stretch.judged(run).empty(); });
    return stretches;
}

std::vector<bool> wantedStretches(const Run& run, const std::vector<Stretch>& stretches, const AnalyzeOptions& options)
{
    std::vector<bool> wanted(stretches.size());
    for (std::size_t i = stretches.size(); i-- > 0;) {
        const bool decidesNext =
            i + 1 < stretches.size() && wanted[i + 1] && beginsWithCandidate(run, stretches[i + 1]);
        wanted[i] = decidesNext || isWanted(run, stretches[i], options);
    }
    return wanted;
}

bool isUsable(const Version& version)
{
    return version.summary && !version.failure && !version.beingWritten && !(version.facts && version.facts->damage)
        && !isReplaced(version);
}

bool failsItsRecord(const VersionFacts& facts)
{
    using Check = VersionFacts::RootCheck;
    return facts.digestsFailed > 0 || facts.rootCheck == Check::Differs || facts.rootCheck == Check::BaseDiffers;
}

bool isReplaced(const Version& version)
{
    return version.ownFormObstacle && version.facts && (version.facts->damage || failsItsRecord(*version.facts));
}

bool recordsItsState(const VersionSummary& summary)
{
    return !summary.root.empty() || !summary.stateDigest.empty() || summary.digests != DigestAlgorithm::None;
}

} // namespace deltascope
