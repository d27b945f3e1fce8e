#include "deltascope/engine/operations.h"

#include "replay_audit.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

bool usable(const Version& version)
{
    return version.summary && !version.failure && !version.beingWritten && !(version.facts && version.facts->damage);
}

/// Whether a version records something that the state behind it can be compared with.
bool recordsItsState(const VersionSummary& summary)
{
    return !summary.root.empty() || !summary.stateDigest.empty() || summary.digests != DigestAlgorithm::None;
}

const VersionSummary& summaryOf(const Run& run, const PlanLink& link)
{
    const Version& version = run.versions[link.version];
    return link.fullForm ? *version.fullForm : *version.summary;
}

/// A complete state and everything that can be replayed on it, up to and including the next complete anchor or full
/// form.
struct Stretch {
    Plan plan;
    bool fromAnchor() const { return !plan.fromExternalBase; }
    /// The links that replaying it tells something about: of the first full one only whether it is what it records.
    std::vector<PlanLink> judged(const Run& run) const
    {
        const bool skipsFirst =
            !plan.links.empty() && fromAnchor() && !recordsItsState(summaryOf(run, plan.links.front()));
        return { plan.links.begin() + (skipsFirst ? 1 : 0), plan.links.end() };
    }
};

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
    {
    }

    std::vector<Stretch> cut()
    {
        if (m_run.layout->standAlone())
            return {};
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
        if (!usable(version)) {
            close();
            beginAtFullForm(i);
        } else if (version.kind == VersionKind::Anchor) {
            endAt(PlanLink { i, false }, *version.summary);
        } else if (m_open && version.base && !m_current.plan.links.empty()
                   && *version.base == m_current.plan.links.back().version) {
            m_current.plan.links.push_back(PlanLink { i, false });
            if (version.fullForm && !version.beingWritten)
                endAt(PlanLink { i, true }, *version.fullForm);
        } else {
            close();
            beginOnBase(i);
            if (m_open && version.fullForm && !version.beingWritten)
                endAt(PlanLink { i, true }, *version.fullForm);
            else
                beginAtFullForm(i);
        }
    }

    /// Where a delta does not build on the version before it, its stretch begins at the full state that it builds on.
    void beginOnBase(std::size_t i)
    {
        Plan plan;
        for (std::size_t at = i;;) {
            const Version& version = m_run.versions[at];
            const bool asFullForm = at != i && version.hasUsableFullForm();
            if (!asFullForm && !usable(version))
                return;
            plan.links.insert(plan.links.begin(), PlanLink { at, asFullForm });
            plan.fromExternalBase = version.onExternalBase && m_run.base;
            if (asFullForm || version.kind == VersionKind::Anchor || plan.fromExternalBase) {
                m_current.plan = std::move(plan);
                m_open = true;
                return;
            }
            if (!version.base)
                return;
            at = *version.base;
        }
    }

    void beginAtFullForm(std::size_t i)
    {
        const Version& version = m_run.versions[i];
        if (!m_open && version.fullForm && !version.beingWritten) {
            m_current.plan.links.push_back(PlanLink { i, true });
            m_open = true;
        }
    }

    /// A full state is compared with what leads to it, and begins the next stretch.
    void endAt(PlanLink link, const VersionSummary& full)
    {
        if (m_open && isOfSameModel(m_run, m_current.plan, full))
            m_current.plan.links.push_back(link);
        close();
        m_current.plan.links.push_back(link);
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
    std::vector<Stretch> m_stretches;
    Stretch m_current;
    bool m_open = false;
};

/// Replays the stretch over all tensors. Errors carry the step of the link that failed.
Result<void> replayStretch(Workbench& bench, const Chain& chain, ReplayAudit& audit, TaskContext& task)
{
    std::vector<const TensorInfo*> tensors;
    for (const TensorInfo& tensor : chain.tensors())
        tensors.push_back(&tensor);
    if (!audit.wantsOrder()) {
        std::stable_sort(tensors.begin(), tensors.end(),
                         [](const TensorInfo* a, const TensorInfo* b) { return a->bytes() > b->bytes(); });
    }
    const unsigned threads = audit.wantsOrder() ? 1 : bench.threads;
    return forEachParallel(threads, tensors.size(), task, [&](std::size_t i) -> Result<void> {
        ReplayAudit::Tensor watcher(audit, *tensors[i], true);
        ReplayOptions options;
        options.scratchFolder = bench.scratchFolder;
        options.observer = &watcher;
        DS_TRY(TensorReplay replay, TensorReplay::open(chain, *tensors[i], std::move(options), task));
        for (;;) {
            DS_TRY(const ByteSpan block, replay.next(task));
            if (block.empty())
                break;
            task.addDone(block.size());
        }
        watcher.finish();
        return {};
    });
}

bool isDamage(Code code)
{
    return code == Code::Hostile || code == Code::Truncated || code == Code::BaseMismatch || code == Code::Unsupported
        || code == Code::Digest || code == Code::DuplicateName || code == Code::Unfinished || code == Code::NotFound;
}

/// A cache: that it cannot be written must not stop the work.
void remember(Workbench& bench, const Run& run, const std::vector<std::string>& keys, std::size_t version,
              const std::vector<TensorCount>& counts)
{
    if (bench.catalog)
        static_cast<void>(bench.catalog->putFacts(catalogKey(run), run.versions[version].objects.name,
                                                  Catalog::KnownFacts { keys[version], *run.versions[version].facts },
                                                  counts));
}

/// The facts of a full form: what speaks against it, and how it differs from the state that leads to it.
void addFullForm(const ReplayAudit& audit, const Chain& chain, std::size_t link, Version& version)
{
    using Check = VersionFacts::RootCheck;
    if (!version.facts) {
        version.facts.emplace();
        version.facts->replayed = false;
    }
    VersionFacts& facts = *version.facts;
    const VersionObjects& objects = chain.links()[link]->objects;
    const VersionFacts own = audit.factsOf(link, VersionKind::Anchor, 0);
    if (own.rootCheck == Check::Differs)
        facts.fullFormDamage = rootFailure(own, objects, chain.links()[link]->index.stateDigest.hex);
    else if (own.digestsFailed > 0)
        facts.fullFormDamage = digestFailure(own, objects, false);
    if (link == 0)
        return;
    facts.fullFormSuspects = own.suspectTensors;
    facts.fullFormDiffers = audit.links()[link].counts.changed;
    facts.zeroSigns = audit.links()[link].counts.zeroSigns;
    if (*facts.fullFormDiffers > 0 && facts.rootCheck == Check::Matches && own.rootCheck == Check::None)
        facts.fullFormDamage =
            Error { Code::Digest,
                    fmt::format("the full form differs in {} elements from what the deltas lead to, and that has the "
                                "digest that the publisher recorded",
                                *facts.fullFormDiffers),
                    objects.name,
                    objects.step,
                    {} };
}

/// Fills in what the replay of a stretch has shown.
void takeFacts(Workbench& bench, Run& run, const Chain& chain, const ReplayAudit& audit,
               const std::vector<std::string>& keys, const AnalyzeOptions& options)
{
    for (std::size_t link = 0; link < chain.links().size(); ++link) {
        const std::optional<std::size_t> at = chain.versionOf(link);
        if (!at)
            continue;
        Version& version = run.versions[*at];
        if (chain.isFullForm(link)) {
            addFullForm(audit, chain, link, version);
            const bool ownCounts = link > 0; // the link before it is its sparse form
            remember(bench, run, keys, *at, ownCounts ? audit.links()[link - 1].changed : std::vector<TensorCount>());
            continue;
        }
        if (link == 0 && (version.facts || !recordsItsState(*version.summary)))
            continue; // its own stretch has told all
        version.facts = audit.factsOf(link, version.kind, version.summary->storedElements);
        remember(bench, run, keys, *at, audit.links()[link].changed);
        if (options.onCounts)
            options.onCounts(*at, audit.links()[link].changed);
    }
}

/// The link that an error speaks of.
std::vector<PlanLink>::iterator brokenLink(const Run& run, std::vector<PlanLink>& links, const Error& error)
{
    return std::find_if(links.begin(), links.end(), [&](const PlanLink& link) {
        const VersionObjects& objects = run.versions[link.version].objects;
        if (!error.step || objects.step != *error.step)
            return false;
        const bool ofFullForm = objects.fullForm && error.where.starts_with(objects.fullForm->name);
        return link.fullForm == ofFullForm;
    });
}

/// What the complete state that a stretch begins with has of suspect values.
std::vector<SuspectTensor> heldBy(const Run& run, const Stretch& stretch)
{
    const PlanLink& first = stretch.plan.links.front();
    const std::optional<VersionFacts>& facts = run.versions[first.version].facts;
    if (!stretch.fromAnchor() || !facts)
        return {};
    return first.fullForm ? facts->fullFormSuspects : facts->suspectTensors;
}

/// Analyzes one stretch; damage cuts it short and becomes a fact of the version. `book`: of the epoch, from the
/// stretches before.
Result<void> analyzeStretch(Workbench& bench, Run& run, Stretch stretch, HealthBook& book,
                            const std::vector<std::string>& keys, const AnalyzeOptions& options, TaskContext& task)
{
    book.held = heldBy(run, stretch);
    while (!stretch.judged(run).empty()) {
        Result<Chain> chain = Chain::open(run, stretch.plan, task);
        Result<void> outcome;
        std::optional<ReplayAudit> audit;
        if (chain) {
            audit.emplace(*chain, true, &book);
            outcome = replayStretch(bench, *chain, *audit, task);
        } else {
            outcome = fail(std::move(chain.error()));
        }
        if (outcome) {
            audit->finishStates();
            takeFacts(bench, run, *chain, *audit, keys, options);
            audit->addTo(book);
            return {};
        }
        const Error& error = outcome.error();
        std::vector<PlanLink>& links = stretch.plan.links;
        const auto broken = brokenLink(run, links, error);
        if (!isDamage(error.code) || broken == links.end())
            return fail(std::move(outcome.error()));
        std::optional<VersionFacts>& facts = run.versions[broken->version].facts;
        if (broken->fullForm) {
            if (!facts) {
                facts.emplace();
                facts->replayed = false;
            }
            facts->fullFormDamage = error;
        } else {
            facts.emplace();
            facts->damage = error;
        }
        remember(bench, run, keys, broken->version, {});
        if (broken == links.begin() && stretch.fromAnchor())
            return {};
        links.erase(broken, links.end());
    }
    return {};
}

}

Result<void> analyzeRun(Workbench& bench, Run& run, const AnalyzeOptions& options, TaskContext& task)
{
    const std::vector<std::string> keys = chainKeys(run);
    std::vector<Stretch> work;
    std::uint64_t bytes = 0;
    for (Stretch& stretch : StretchCutter(run).cut()) {
        const std::vector<PlanLink> judged = stretch.judged(run);
        const bool wanted = std::any_of(judged.begin(), judged.end(), [&](const PlanLink& link) {
            const std::size_t at = link.version;
            const bool inRange = !options.range || (at >= options.range->first && at <= options.range->second);
            return inRange && (options.again || !run.versions[at].facts);
        });
        if (!wanted)
            continue;
        bytes += run.totalElementsOf(run.versions[judged.front().version]).value_or(0) * 2;
        work.push_back(std::move(stretch));
    }
    task.beginPhase("replay", bytes);
    HealthBook book;
    std::optional<int> epoch;
    for (const Stretch& stretch : work) {
        const int own = run.versions[stretch.plan.links.front().version].epoch;
        if (epoch != own)
            book = {};
        epoch = own;
        DS_CHECK(analyzeStretch(bench, run, stretch, book, keys, options, task));
    }
    assess(run);
    return {};
}

Result<bool> judgeChain(Workbench& bench, const Run& run, const Version& version, TaskContext& task)
{
    Run judged = run;
    AnalyzeOptions options;
    if (run.layout->writersAreExact()) { // needs no habit
        const auto ofEpoch = [&](const Version& other) { return other.epoch == version.epoch; };
        const auto first = std::find_if(run.versions.begin(), run.versions.end(), ofEpoch);
        const auto behind = std::find_if_not(first, run.versions.end(), ofEpoch);
        options.range = { static_cast<std::size_t>(first - run.versions.begin()),
                          static_cast<std::size_t>(behind - run.versions.begin()) - 1 };
    }
    DS_CHECK(analyzeRun(bench, judged, options, task));
    const Version& verdict = judged.versions[static_cast<std::size_t>(&version - run.versions.data())];
    if (verdict.obstacle)
        return fail(*verdict.obstacle);
    return verdict.proven;
}

} // namespace deltascope
