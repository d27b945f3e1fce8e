#include "deltascope/engine/read_acts.h"

#include "acts/act_parts.h"
#include "format/common/object_names.h"
#include "format/hf/checkpoint_index.h"
#include "lineage/restored.h"
#include "ops/judge_checkpoints.h"
#include "ops/sidecars.h"
#include "ops/step_verdicts.h"
#include "ops/stretches.h"
#include "ops/trainer_files.h"

#include "deltascope/engine/hash_tree.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

using IndexRange = std::pair<std::size_t, std::size_t>;
using Arguments = std::vector<std::pair<std::string, std::string>>;

std::string addressOf(const Version& version) { return fmt::format("{}:{}", version.epoch, version.step()); }

std::string flagText(bool flag) { return flag ? "true" : "false"; }

/// Of every object of the versions, whether it is read or only listed.
std::string listedDigest(const Run& run, const IndexRange& range)
{
    std::string text;
    for (std::size_t i = range.first; i <= range.second; ++i) {
        const std::string identity = run.versions[i].objects.identity();
        text += fmt::format("{} {}:{}\n", addressOf(run.versions[i]), identity.size(), identity);
    }
    return toHex(sha256(asBytes(text)));
}

/// The objects of the versions themselves: at level 1 their headers, from level 2 on all bytes of those that are whole,
/// and of those that they build on.
void addRange(PlannedReads& reads, const Run& run, const IndexRange& range, int level)
{
    const std::vector<bool> meant = withBases(run, range.first, range.second);
    for (std::size_t i = level >= 2 ? 0 : range.first; i <= range.second; ++i) {
        const Version& version = run.versions[i];
        if (!meant[i] || (i < range.first && (version.beingWritten || version.failure)))
            continue;
        const bool isWhole = level >= 2 && !version.beingWritten && !version.failure;
        for (std::size_t form = 0; form < version.forms(); ++form) {
            const VersionObjects& objects = version.objectsOf(form);
            for (const ObjectInfo& object : objects.objects) {
                if (object.oddity.empty())
                    reads.add(object, objects, isWhole ? std::nullopt : std::optional<std::uint64_t>(0));
            }
        }
    }
}

void addPlan(PlannedReads& reads, const Result<Plan>& plan)
{
    if (plan)
        reads.add(*plan);
}

/// The state that a version says it restores, where their recorded roots do not tell.
void addRestored(PlannedReads& reads, const Run& run, const Planner& planner, std::size_t at)
{
    const std::optional<std::size_t> restored = namedAsRestored(run, at);
    if (!restored)
        return;
    const auto rootOf = [&](std::size_t version) {
        return run.versions[version].summary ? run.versions[version].summary->root : std::string();
    };
    if (!rootOf(at).empty() && !rootOf(*restored).empty())
        return;
    addPlan(reads, planner.planFor(run.versions[at]));
    addPlan(reads, planner.planFor(run.versions[*restored]));
}

/// Whether a file of a version that stands alone holds weights, or says where they lie.
bool isOfWeights(std::string_view key)
{
    const std::string_view file = splitKey(key).file;
    return isDataFile(file) || file == CheckpointIndexName || file.ends_with(".distcp") || file == ".metadata";
}

/// The weights of the checkpoint that a version is judged beside.
void addJudgedBeside(PlannedReads& reads, const Run& run, std::size_t at)
{
    const std::optional<std::size_t> before = judgedBeside(run, at);
    if (!before)
        return;
    const VersionObjects& version = run.versions[*before].objects;
    for (const ObjectInfo& object : version.objects) {
        if (isOfWeights(object.key))
            reads.add(object, version);
    }
}

/// What the replay of the versions reads beside their own objects. As at the begin of verifyRun(), nothing is known of
/// them.
void addReplay(PlannedReads& reads, const Run& given, const IndexRange& range, const VerifyOptions& verify)
{
    Run run = given;
    for (std::size_t i = range.first; i <= range.second; ++i)
        run.versions[i].facts.reset();
    assess(run);
    AnalyzeOptions options;
    options.again = true;
    options.range = range;
    const std::vector<Stretch> stretches = stretchesOf(run, verify.until);
    const std::vector<bool> wanted = wantedStretches(run, stretches, options);
    const Planner planner(run, { true, StateChoice::Served, {} });
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        if (!wanted[i])
            continue;
        reads.add(stretches[i].plan);
        for (const PlanLink& link : stretches[i].plan.links)
            addRestored(reads, run, planner, link.version);
    }
    for (std::size_t i = range.first; i <= range.second; ++i) {
        const Version& version = run.versions[i];
        addJudgedBeside(reads, run, i);
        for (std::size_t form = 0; version.forms() > 1 && form < version.forms(); ++form) {
            if (!version.originalOf(form)) // a copy is compared byte by byte
                addPlan(reads, planner.planOver(version, form));
        }
        if (verify.level >= 4 && (version.kind == VersionKind::Anchor || i == range.second)) // its root
            addPlan(reads, planFor(run, version));
    }
}

void addVerifyEffects(ActPlan& plan, const Run& run, const VerifyOptions& options)
{
    if (options.level < 2)
        return;
    plan.effects.push_back({ "records",
                             options.acceptRewritten ? "what is there now counts as seen first"
                                                     : "what is read for the first time is taken down" });
    if (!options.acceptRewritten)
        return;
    std::string lost;
    for (const GoneVersion& gone : run.gone)
        lost += fmt::format("{}{}:{}", lost.empty() ? "" : ", ", gone.epoch, gone.step);
    if (!lost.empty())
        plan.effects.push_back({ "losses that are accepted", lost });
}

bool hasOtherWaysIn(const Run& run, const IndexRange& range)
{
    return std::any_of(run.versions.begin() + static_cast<std::ptrdiff_t>(range.first),
                       run.versions.begin() + static_cast<std::ptrdiff_t>(range.second) + 1,
                       [](const Version& version) { return version.forms() > 1; });
}

/// What is not known before a state was replayed.
std::vector<std::string> unknownOf(const PlannedState& state)
{
    std::vector<std::string> unknown;
    if (hasOtherWays(state.run))
        unknown.emplace_back(OtherWays);
    if (!state.version.facts)
        unknown.push_back(fmt::format("whether the deltas up to step {} set bits that were there already: then its "
                                      "epoch is replayed to judge that",
                                      state.version.step()));
    return unknown;
}

}

ActPlan planVerify(const Run& run, const VerifyOptions& options)
{
    ActPlan plan;
    plan.kind = "verify";
    plan.arguments = { { "level", std::to_string(options.level) },
                       { "accept_rewritten", flagText(options.acceptRewritten) } };
    PlannedReads reads(run);
    if (!run.versions.empty()) {
        const IndexRange range = options.range.value_or(IndexRange { 0, run.versions.size() - 1 });
        plan.arguments.emplace_back("first", addressOf(run.versions[range.first]));
        plan.arguments.emplace_back("last", addressOf(run.versions[range.second]));
        plan.arguments.emplace_back("objects", listedDigest(run, range));
        if (options.level >= 1)
            addRange(reads, run, range, options.level);
        if (options.level >= 2 && run.base) {
            for (const ObjectInfo& object : run.base->objects.objects)
                reads.addOfBase(object);
        }
        if (options.level >= 3)
            addReplay(reads, run, range, options);
        if (options.level == 1)
            plan.unknown.emplace_back("how long the headers are, which are all that is read of the objects");
        if (options.level >= 3 && hasOtherWaysIn(run, range))
            plan.unknown.emplace_back(OtherWays);
    }
    plan.reads = reads.take();
    addVerifyEffects(plan, run, options);
    return plan;
}

ActPlan planDiff(const PlannedState& a, const PlannedState& b, bool acceptRewritten)
{
    ActPlan plan;
    plan.kind = "diff";
    plan.arguments = { { "a", addressOf(a.version) },
                       { "b", addressOf(b.version) },
                       { "accept_rewritten", flagText(acceptRewritten) } };
    PlannedReads reads(a.run);
    reads.add(a.plan);
    reads.add(b.plan);
    plan.reads = reads.take();
    plan.unknown = unknownOf(a);
    for (std::string& text : unknownOf(b)) {
        if (std::find(plan.unknown.begin(), plan.unknown.end(), text) == plan.unknown.end())
            plan.unknown.push_back(std::move(text));
    }
    return plan;
}

Result<ActPlan> planMaterialize(const PlannedState& from, StateChoice state, const MaterializeOptions& options,
                                TaskContext& task)
{
    const auto& [run, version, way] = from;
    ActPlan plan;
    plan.kind = "materialize";
    plan.arguments = { { "step", addressOf(version) },
                       { "state", state == StateChoice::Trained ? "trained" : "served" },
                       { "destination", options.destination },
                       { "shard_bytes", std::to_string(options.shardBytes) },
                       { "across_gap", flagText(options.acrossGap) },
                       { "for_training", flagText(options.forTraining) },
                       { "accept_rewritten", flagText(options.acceptRewritten) } };
    PlannedReads reads(run);
    reads.add(way);
    for (const ObjectInfo& object : sidecarsOfBase(run, way))
        reads.addOfBase(object);
    if (options.forTraining) {
        DS_TRY(const std::vector<ObjectInfo> objects, trainerObjectsOf(run, version, way, task));
        for (const ObjectInfo& object : objects)
            reads.add(object, run.versions[way.links.front().version].objectsOf(way.links.front().form));
    }
    plan.reads = reads.take();
    plan.effects = { { "new folder", options.destination } };
    plan.unknown = unknownOf(from);
    return plan;
}

} // namespace deltascope
