#include "publish/step_facts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace deltascope {

namespace {

/// Objects of several states, each once, as a plan names them: without an address where they are of the run itself.
class StepReads {
public:
    explicit StepReads(std::string run)
        : m_run(std::move(run))
    {
    }

    /// `isWhole`: all of their bytes are read; else only their headers.
    void add(const std::vector<PlannedObject>& objects, bool isWhole)
    {
        for (const PlannedObject& object : objects) {
            std::uint64_t& bytes =
                m_bytes[{ object.store == m_run ? std::string() : object.store, object.key, object.identity }];
            bytes = std::max(bytes, isWhole ? object.bytes : 0);
        }
    }

    std::vector<PlannedObject> take() const
    {
        std::vector<PlannedObject> reads;
        for (const auto& [object, bytes] : m_bytes)
            reads.push_back({ std::get<0>(object), std::get<1>(object), std::get<2>(object), bytes });
        return reads;
    }

private:
    std::string m_run;
    std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> m_bytes;
};

void addWrites(ActPlan& plan, const RunEnd& end, const DueVersion& version)
{
    for (const std::string& key : version.keys) {
        const auto left = std::find_if(end.leftovers.begin(), end.leftovers.end(),
                                       [&](const ObjectInfo& object) { return object.key == key; });
        plan.writes.push_back({ {}, key, left == end.leftovers.end() ? std::string() : left->identity, 0 });
    }
}

/// Whether the end of the run records enough to be recognized as the step.
bool mayBeThere(const RunEnd& end, const PublishOptions& options)
{
    return end.step > 0 && !end.root.empty() && (options.newEpoch ? end.beginsEpoch : !end.base.empty());
}

std::vector<std::string> unknownOf(const RunEnd& end, const PublishOptions& options, const PublishPlan& plan)
{
    std::vector<std::string> unknown;
    if (std::any_of(plan.versions.begin(), plan.versions.end(), [](const DueVersion& due) { return due.anchor; }))
        unknown.emplace_back("the exact size of the anchor: it holds every tensor of the state, and a header");
    const bool hasDelta = std::any_of(plan.versions.begin(), plan.versions.end(),
                                      [](const DueVersion& version) { return !version.anchor; });
    if (hasDelta && options.layout == "slime-v2")
        unknown.emplace_back("how large the delta is, and whether anything changed: if nothing did, its index alone is "
                             "written");
    else if (hasDelta)
        unknown.emplace_back("how large the delta is, and whether anything changed: if nothing did, no delta is "
                             "written");
    if (mayBeThere(end, options))
        unknown.push_back(
            fmt::format("whether step {} is this one already, put by a process that was killed: if it is, "
                        "its state is read and nothing is written",
                        end.step));
    unknown.emplace_back("whether a publisher that was killed left unfinished files: they are removed");
    return unknown;
}

} // namespace

Result<PublishPlan> planStep(const RunEnd& end, const WriterChoice& writers, const PublishOptions& options,
                             const ObjectStore* into, const StepToPublish& step, bool onlyFind, TaskContext& task)
{
    const auto stateBytes = [&]() -> Result<std::uint64_t> {
        DS_TRY(const State* state, step.to.open(task));
        return state->stateBytes();
    };
    PublishPlan plan;
    plan.head = end.step > 0 ? std::optional(end.step) : std::nullopt;
    if (!onlyFind) {
        DS_TRY(DueVersion next, dueVersion(end, writers, options, stateBytes));
        plan.versions.push_back(std::move(next));
    }
    if (end.step == 0 && writers.hasAnchors())
        plan.versions.push_back(deltaBehindFirst(writers));
    ActPlan& act = plan.act;
    act.kind = "publish";
    act.arguments = { { "layout", options.layout },
                      { "encoding", options.encoding },
                      { "checksum", options.checksum },
                      { "into", step.into },
                      { "from", step.from.origin },
                      { "to", step.to.origin },
                      { "new_epoch", options.newEpoch ? "true" : "false" },
                      { "allow_suspect", options.allowSuspect ? "true" : "false" },
                      { "accept_rewritten", options.acceptRewritten ? "true" : "false" },
                      { "newest", end.identity } };
    if (options.prefixes)
        act.arguments.emplace_back("map_prefix", options.prefixes->a + "=" + options.prefixes->b);
    StepReads reads(into ? into->uri() : std::string());
    reads.add(step.from.reads, end.epochBegun || !options.allowSuspect); // values are judged beside those before
    reads.add(step.to.reads, true);
    reads.add(end.stateReads, true);
    if (!plan.versions.empty() && !plan.versions.front().anchor && end.step > 0) {
        for (const PlannedObject& object : end.newestReads)
            reads.add({ object }, !object.key.ends_with(".json"));
    }
    act.reads = reads.take();
    for (const DueVersion& version : plan.versions)
        addWrites(act, end, version);
    act.beside = { { "lease", "1" }, { "spans", "1" } };
    if (!plan.versions.empty())
        act.effects.push_back(
            { "newest step",
              fmt::format("{} to {}", plan.head ? std::to_string(*plan.head) : "none", plan.versions.back().step) });
    for (const DueVersion& version : plan.versions)
        act.effects.push_back({ fmt::format("step {}", version.step), version.anchor ? "anchor" : "delta" });
    if (!end.epochBegun)
        act.effects.push_back({ "epoch", std::to_string(end.epoch) });
    if (plan.head && end.epochBegun && !onlyFind)
        act.undo = "rollback";
    if (into && !into->traits().conditionalPut)
        act.warnings.push_back(Error { Code::Unsupported,
                                       "the store cannot put under a condition: another publisher would be noticed "
                                       "only after it wrote the same step",
                                       into->uri(), end.step + 1, "make sure that nobody else publishes there" });
    act.unknown = unknownOf(end, options, plan);
    for (const StepState* state : { &step.from, &step.to })
        act.unknown.insert(act.unknown.end(), state->unknown.begin(), state->unknown.end());
    return plan;
}

Result<void> expectNamesOfBase(const RunEnd& end, const WriterChoice& writers, const PublishedStep& step)
{
    if (end.step > 0 || writers.hasAnchors() || !step.isFromRenamed())
        return {};
    return fail(Error { Code::Unsupported,
                        "the first version builds on the checkpoint to publish from, and the names there stay as they "
                        "are",
                        step.from()->place().where, std::nullopt,
                        "publish without --map-prefix, or from a checkpoint with the names of the run" });
}

} // namespace deltascope
