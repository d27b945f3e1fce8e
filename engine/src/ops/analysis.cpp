#include "deltascope/engine/operations.h"
#include "deltascope/engine/rewritten_parts.h"

#include "audit/replay_audit.h"
#include "compare_forms.h"
#include "compare_restored.h"
#include "decide_forms.h"
#include "fact_errors.h"
#include "judge_checkpoints.h"
#include "lineage/restored.h"
#include "model_beside.h"
#include "remember_facts.h"
#include "stands_on_rewritten.h"
#include "state/recorded_state.h"
#include "stretches.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// The facts of a full form: what speaks against it, and how it differs from the state that leads to it.
void addFullForm(const ReplayAudit& audit, const PathState& chain, std::size_t link, Version& version)
{
    using Check = VersionFacts::RootCheck;
    const VersionObjects& objects = chain.links()[link]->objects;
    const VersionFacts own = audit.factsOf(link, VersionKind::Anchor, 0);
    std::optional<Error> damage;
    if (own.rootCheck == Check::Differs)
        damage = rootFailure(own, objects, chain.links()[link]->index.stateDigest.hex);
    else if (own.digestsFailed > 0)
        damage = digestFailure(own, objects, false);
    if (link == 0 && !damage && !version.facts && isUsable(version) && !version.ownFormObstacle)
        return; // its deltas can be replayed, and will tell all
    FormFacts& facts = version.noteForm(chain.formOf(link));
    if (damage)
        facts.damage = std::move(damage);
    facts.vouchedFor = !facts.damage && own.rootCheck == Check::Matches;
    if (link == 0)
        return;
    facts.suspects = own.suspectTensors;
    facts.differs = audit.links()[link].counts.changed;
    facts.zeroSigns = audit.links()[link].counts.zeroSigns;
    if (*facts.differs > 0 && version.facts->rootCheck == Check::Matches && own.rootCheck == Check::None)
        facts.damage = Error { Code::Digest,
                               fmt::format("the full form differs in {} elements from what the deltas lead to, and "
                                           "that has the digest that the publisher recorded",
                                           *facts.differs),
                               objects.name,
                               objects.step,
                               {} };
}

/// Whether an other form has proven damaged: what is replayed on it tells nothing of the versions behind it.
bool isDamaged(const Run& run, const PlanLink& link)
{
    const FormFacts* facts = link.form > 0 ? run.versions[link.version].factsOf(link.form) : nullptr;
    return facts && facts->damage;
}

/// What comparing a state with another one has shown, or with what came before it.
void forgetComparisons(VersionFacts& facts)
{
    facts.changedVsPrevious.reset();
    facts.zeroSigns = 0;
    facts.sameLowByte = 0;
    facts.driftedTensors.clear();
    facts.revertedTensors.clear();
    facts.revertsAll = false;
    facts.suspectTensors.clear();
    facts.infiniteTensors.clear();
    facts.assigned = 0;
    facts.noops = 0;
}

/// Fills in what the replay of a stretch has shown. `judgesFirst`: also of its first link. Of an object that was
/// rewritten, what holds whatever it was is taken, for this once unless it fails its own record, and of what stands on
/// it likewise where all is replayed again; else nothing.
void takeFacts(Workbench& bench, Run& run, const PathState& chain, const ReplayAudit& audit, bool judgesFirst,
               const std::vector<std::string>& keys, const RestoredStates& restored, const AnalyzeOptions& options)
{
    const std::size_t rewritten = firstRewritten(chain);
    Workbench forOnce = bench;
    forOnce.catalog = nullptr;
    for (std::size_t link = 0; link < chain.links().size(); ++link) {
        const std::optional<std::size_t> at = chain.versionOf(link);
        const bool onRewritten = link >= rewritten;
        if (link > rewritten && !options.again)
            return;
        if (!at)
            continue;
        Workbench& rememberer = onRewritten ? forOnce : bench;
        Version& version = run.versions[*at];
        if (chain.isFullForm(link)) {
            addFullForm(audit, chain, link, version);
            if (onRewritten)
                version.noteForm(chain.formOf(link)).differs.reset();
            if (!version.facts)
                continue;
            if (link > 0) // the link before it is its sparse form
                rememberFacts(rememberer, run, keys, *at, audit.links()[link - 1].changed);
            else // which an earlier stretch has counted
                rememberFacts(rememberer, run, keys, *at);
            if (isDamaged(run, PlanLink { *at, chain.formOf(link) }))
                return; // nothing stands behind it, or the next pass begins elsewhere
            continue;
        }
        const bool isFirst = link == 0 && !judgesFirst;
        if (chain.formOf(link) > 0 || (isFirst && (version.facts || !recordsItsState(*version.summary))))
            continue; // its own stretch, or comparing it with others, tells all
        std::vector<FormFacts> others = version.facts ? std::move(version.facts->otherForms) : std::vector<FormFacts>();
        version.facts = audit.factsOf(link, version.kind, version.summary->storedElements);
        version.facts->otherForms = std::move(others);
        if (const auto shown = restored.find(*at); shown != restored.end())
            version.facts->restores = shown->second;
        if (onRewritten)
            forgetComparisons(*version.facts);
        const bool failsItself = link == rewritten && failsItsRecord(*version.facts);
        rememberFacts(failsItself ? bench : rememberer, run, keys, *at, audit.links()[link].changed);
        if (options.onCounts && !onRewritten)
            options.onCounts(*at, audit.links()[link].changed);
    }
}

/// What the complete state that a stretch begins with has of suspect values.
std::vector<SuspectTensor> heldBy(const Run& run, const Stretch& stretch)
{
    const PlanLink& first = stretch.plan.links.front();
    const std::optional<VersionFacts>& facts = run.versions[first.version].facts;
    if (!stretch.fromAnchor() || !facts)
        return {};
    if (first.form == 0)
        return facts->suspectTensors;
    const FormFacts* ofForm = run.versions[first.version].factsOf(first.form);
    return ofForm ? ofForm->suspects : std::vector<SuspectTensor>();
}

/// What the state behind a version has of suspect values that its epoch began before.
std::vector<SuspectTensor> heldBehind(const Run& run, std::size_t at)
{
    std::vector<SuspectTensor> held;
    for (std::optional<std::size_t> i = at; i;) {
        const Version& version = run.versions[*i];
        if (version.facts)
            held.insert(held.end(), version.facts->suspectTensors.begin(), version.facts->suspectTensors.end());
        const std::optional<std::size_t> restored = restoredVersion(run, *i);
        i = restored || version.kind == VersionKind::Anchor ? restored : version.base;
    }
    return held;
}

/// The links of a chain that restore an earlier state.
std::map<std::size_t, RestoredState> restoredBy(const Run& run, const PathState& chain, const RestoredStates& shown)
{
    std::map<std::size_t, RestoredState> links;
    std::map<std::size_t, std::size_t> linkOfVersion;
    for (std::size_t link = 0; link < chain.links().size(); ++link) {
        const std::optional<std::size_t> at = chain.versionOf(link);
        if (!at || chain.formOf(link) > 0)
            continue;
        linkOfVersion[*at] = link;
        const auto known = shown.find(*at);
        const std::optional<std::size_t> restored = known == shown.end() ? restoredVersion(run, *at)
            : known->second                                              ? namedAsRestored(run, *at)
                                                                         : std::nullopt;
        if (!restored)
            continue;
        const auto own = linkOfVersion.find(*restored);
        links[link] = own == linkOfVersion.end() ? RestoredState { {}, heldBehind(run, *restored) }
                                                 : RestoredState { own->second, {} };
    }
    return links;
}

void noteDamagedBase(Run& run, const Error& damage)
{
    Error problem = damage;
    problem.text = "in the base checkpoint: " + problem.text;
    std::vector<Error>& notices = run.sourceNotices;
    if (std::find(notices.begin(), notices.end(), problem) == notices.end())
        notices.push_back(std::move(problem));
}

/// Where a path that was replayed, or ended with an error at a link of the plan, fails behind a rewritten object: that
/// link of the plan.
std::optional<std::size_t> failsOnRewritten(const PathState& path, const ReplayAudit& audit, std::size_t planLinks,
                                            std::optional<std::size_t> at)
{
    const std::size_t before = path.links().size() - planLinks; // the checkpoint outside of the source
    if (at)
        return standsOnRewritten(path, before + *at) ? at : std::nullopt;
    const std::optional<std::size_t> failed = failureOnRewritten(path, audit);
    return failed ? std::optional(*failed - before) : std::nullopt;
}

/// Removes the links that stand on an object that was rewritten.
void cutBehindRewritten(const Run& run, Plan& plan)
{
    std::size_t stands = plan.fromExternalBase && run.baseRewritten ? 0 : 1;
    while (stands > 0 && stands < plan.links.size()
           && !run.versions[plan.links[stands - 1].version].rewrittenForms.contains(plan.links[stands - 1].form))
        ++stands;
    plan.links.resize(std::min(stands, plan.links.size()));
}

/// Whether an object changed while it was read, or a read of it gave other bytes than are stored.
bool isReplaced(const Error& error) { return error.code == Code::Rewritten && !saysUnlikeRecord(error); }

/// Whether a state that was replayed is another one than its publisher recorded.
bool failsAnyRecord(const PathState& chain, const ReplayAudit& audit)
{
    for (std::size_t link = 0; link < chain.links().size(); ++link) {
        if (failsItsRecord(audit.factsOf(link, VersionKind::Anchor, 0)))
            return true;
    }
    return false;
}

/// That what was read of a path which leads to other states than are recorded is what is stored there. Errors:
/// Rewritten, Digest.
Result<void> expectAsStored(const PathState& path, TaskContext& task)
{
    const Error found { Code::Digest, {}, {}, {}, {} };
    Error reason = path.reasonOf(found, task);
    return reason == found ? Result<void>() : deltascope::fail(std::move(reason));
}

/// How much was learned of a stretch.
enum class Learned : std::uint8_t {
    All,
    /// Not what stands on an object that was rewritten since it was first seen: what fails there is no fact about other
    /// objects, and what is found there is none about the values of the run.
    Part,
    /// Nothing: an object was replaced since it was listed, or the checkpoint outside of the source that it builds on
    /// is damaged.
    Nothing,
};

/// Analyzes one stretch; damage cuts it short and becomes a fact of the version. `book`: of the epoch, from the
/// stretches before. `judgesFirst`: also the first link, though another stretch has.
Result<Learned> analyzeStretch(Workbench& bench, Run& run, Stretch stretch, HealthBook& book, bool judgesFirst,
                               const std::vector<std::string>& keys, const RestoredStates& restored,
                               const AnalyzeOptions& options, TaskContext& task)
{
    DS_TRY(const WalkMeans means, bench.means());
    Learned learned = Learned::All;
    if (rewrittenOn(run, stretch.plan)) {
        learned = Learned::Part;
        if (!options.again)
            cutBehindRewritten(run, stretch.plan);
        if (stretch.plan.links.empty())
            return learned;
    }
    book.held = heldBy(run, stretch);
    const std::optional<VersionFacts>& ofFirst = run.versions[stretch.plan.links.front().version].facts;
    book.judgesFirst = stretch.beginsAnew && (judgesFirst || !(ofFirst && ofFirst->replayed));
    bool isSecondTry = false;
    while (!stretch.judged(run).empty()) {
        Result<PathPtr> path = openForFacts(bench, run, stretch.plan, task);
        Result<void> outcome;
        std::optional<ReplayAudit> audit;
        if (path) {
            book.restored = restoredBy(run, **path, restored);
            audit.emplace(**path, true, &book, means.backend);
            outcome = ifSound(replayAll(**path, *audit, means, task), { path->get() }, task);
        } else {
            outcome = fail(std::move(path.error()));
        }
        std::vector<PlanLink>& links = stretch.plan.links;
        if (outcome)
            audit->finishStates();
        if (outcome && failsAnyRecord(**path, *audit))
            outcome = expectAsStored(**path, task);
        if (!outcome && path && isReplaced(outcome.error()) && !std::exchange(isSecondTry, true))
            continue; // what was kept of other bytes is dropped by now
        if (outcome) {
            if (const auto failed = failsOnRewritten(**path, *audit, links.size(), std::nullopt)) {
                links.resize(*failed);
                learned = Learned::Part;
                continue;
            }
            takeFacts(bench, run, **path, *audit, book.judgesFirst, keys, restored, options);
            audit->moveTo(book);
            return firstRewritten(**path) < (*path)->links().size() ? Learned::Part : learned;
        }
        const Error& error = outcome.error();
        const std::size_t at = linkOf(run, links, error);
        const bool isOfBase = at == links.size() && stretch.plan.fromExternalBase && !error.step;
        if (isReplaced(error) || (isOfBase && saysDamage(error))) {
            if (!isReplaced(error)) // the next look lists a replaced object again
                noteDamagedBase(run, error);
            if (options.onSkipped)
                options.onSkipped(error);
            return Learned::Nothing;
        }
        if (at == links.size() || !saysDamage(error))
            return fail(std::move(outcome.error()));
        if (path && failsOnRewritten(**path, *audit, links.size(), at)) {
            links.resize(at);
            learned = Learned::Part;
            continue;
        }
        const auto broken = links.begin() + static_cast<std::ptrdiff_t>(at);
        run.versions[broken->version].noteDamage(broken->form, error);
        rememberFacts(bench, run, keys, broken->version, std::vector<TensorCount>());
        if (broken == links.begin() && stretch.fromAnchor())
            return learned;
        links.erase(broken, links.end());
    }
    return learned;
}

/// Compares, for what is replayed, the states that versions say they restore, before anything is judged by that.
Result<RestoredStates> restoredStates(Workbench& bench, const Run& run, const std::vector<Stretch>& stretches,
                                      const std::vector<bool>& wanted, bool again, TaskContext& task)
{
    RestoredStates states;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        for (const PlanLink& link : stretches[i].plan.links) {
            const std::optional<VersionFacts>& facts = run.versions[link.version].facts;
            if (!wanted[i] || link.form > 0 || states.contains(link.version))
                continue;
            std::optional<bool> same = facts ? facts->restores : std::nullopt;
            if (!same || again) {
                DS_TRY(same, compareRestored(bench, run, link.version, task));
            }
            if (same)
                states[link.version] = *same;
        }
    }
    return states;
}

/// Whether a stretch ends with the complete form beside a delta, and the two are known to lead to two states.
bool endsWithTwoStates(const Run& run, const Stretch& stretch)
{
    const std::vector<PlanLink>& links = stretch.plan.links;
    if (links.size() < 2 || links.back().form == 0 || links[links.size() - 2] != PlanLink { links.back().version, 0 })
        return false;
    const Version& version = run.versions[links.back().version];
    return isUsable(version) && version.fullForm() == links.back().form && version.fullFormDiffers().value_or(0) > 0;
}

/// Decides between the two states that a stretch ends with, by what stands behind them.
Result<void> decideEnd(Workbench& bench, Run& run, const std::vector<Stretch>& stretches, std::size_t at,
                       const std::vector<std::string>& keys, TaskContext& task)
{
    const Plan& front = stretches[at].plan;
    Plan behind;
    behind.links = { front.links.back() };
    if (at + 1 < stretches.size() && stretches[at + 1].plan.links.front() == front.links.back())
        behind = stretches[at + 1].plan;
    if (rewrittenOn(run, front))
        return {};
    DS_TRY(const bool decided, decideForms(bench, run, front, behind, task));
    if (decided)
        rememberFacts(bench, run, keys, front.links.back().version);
    return {};
}

/// Replays every stretch that tells something about versions that are wanted.
Result<void> replayStretches(Workbench& bench, Run& run, const AnalyzeOptions& options,
                             const std::vector<std::string>& keys, TaskContext& task)
{
    const std::vector<Stretch> stretches = stretchesOf(run, options.until);
    const std::vector<bool> wanted = wantedStretches(run, stretches, options);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        if (wanted[i])
            bytes += run.totalElementsOf(run.versions[stretches[i].judged(run).front().version]).value_or(0) * 2;
    }
    DS_TRY(const RestoredStates restored, restoredStates(bench, run, stretches, wanted, options.again, task));
    task.beginPhase("replay", bytes);
    Workbench unremembered = bench;
    unremembered.catalog = nullptr;
    HealthBook book;
    std::optional<int> epoch;
    std::optional<int> interrupted; ///< the epoch of which not all can be learned now
    bool isSkipped = false; ///< the rest of that epoch
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const bool nextIsWanted = i + 1 < stretches.size() && wanted[i + 1];
        if (wanted[i]) {
            const PlanLink& first = stretches[i].plan.links.front();
            const int own = run.versions[first.version].epoch;
            if (epoch != own)
                book = {};
            epoch = own;
            // What follows is judged by half of the history of its epoch: no facts to keep.
            const bool isBehind = interrupted == own;
            if (isDamaged(run, first) || (isBehind && isSkipped)) // the first as the stretch before it has shown
                continue;
            Stretch stretch = stretches[i];
            stretch.beginsAnew = stretch.beginsAnew || (isBehind && first.form == 0 && stretch.fromAnchor());
            DS_TRY(const Learned learned,
                   analyzeStretch(isBehind ? unremembered : bench, run, std::move(stretch), book,
                                  isBehind && options.again, keys, restored, options, task));
            if (learned != Learned::All) {
                isSkipped = learned == Learned::Nothing && !options.again;
                interrupted = own;
                book = {};
            }
        }
        if ((wanted[i] || nextIsWanted) && endsWithTwoStates(run, stretches[i]))
            DS_CHECK(decideEnd(bench, run, stretches, i, keys, task));
    }
    return {};
}

std::size_t damagedOtherForms(const Run& run)
{
    std::size_t damaged = 0;
    for (const Version& version : run.versions) {
        for (std::size_t form = 1; form < version.forms(); ++form) {
            const FormFacts* facts = version.factsOf(form);
            damaged += facts && facts->damage ? 1 : 0;
        }
    }
    return damaged;
}

/// Drops what was replayed on a state that another form replaces by now. `known`: the replaced versions of earlier
/// calls, behind which that has happened. Returns whether there was anything to drop.
bool forgetBehindReplaced(Run& run, std::vector<bool>& known)
{
    const std::vector<bool> before = known;
    std::vector<bool> stale(run.versions.size(), false);
    bool any = false;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        const bool isAnchor = version.kind == VersionKind::Anchor; // compared with the version before it
        const std::optional<std::size_t> on = isAnchor && i > 0 ? std::optional(i - 1) : version.base;
        const bool stands = on && run.versions[*on].epoch == version.epoch
            && (stale[*on] || (isReplaced(run.versions[*on]) && !before[*on]));
        stale[i] = stands && !isAnchor;
        known[i] = !stands && isReplaced(version);
        any = any || (stands && version.facts);
        if (stands)
            version.facts.reset();
    }
    if (any)
        assess(run);
    return any;
}

/// Replays and compares until nothing is left that a damaged form stood in for.
Result<void> replayRun(Workbench& bench, Run& run, const AnalyzeOptions& options, TaskContext& task)
{
    const std::vector<std::string> keys = chainKeys(run);
    const auto range = options.range.value_or(std::pair<std::size_t, std::size_t>(0, run.versions.size()));
    std::vector<bool> replaced(run.versions.size(), false);
    AnalyzeOptions pass = options;
    for (;;) {
        const std::size_t damaged = damagedOtherForms(run);
        DS_CHECK(replayStretches(bench, run, pass, keys, task));
        DS_CHECK(judgeCheckpoints(bench, run, pass, keys, task));
        DS_CHECK(compareModelBeside(bench, run, pass.standAloneBytes, task));
        assess(run);
        if (!run.hasOtherForms())
            return {};
        DS_TRY(const std::vector<std::size_t> compared, compareOtherForms(bench, run, range, pass.again, task));
        for (const std::size_t version : compared)
            rememberFacts(bench, run, keys, version);
        assess(run);
        const bool anyStale = forgetBehindReplaced(run, replaced);
        if (!anyStale && damagedOtherForms(run) == damaged)
            return {};
        pass.again = false; // once more, only what was replayed over damaged forms and can be had another way
    }
}

}

Result<void> analyzeRun(Workbench& bench, Run& run, const AnalyzeOptions& options, TaskContext& task)
{
    DS_CHECK(replayRun(bench, run, options, task));
    noteRewritten(bench, run); // what was read may be what tells it
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
