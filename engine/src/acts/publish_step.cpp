#include "deltascope/engine/publish_step.h"

#include "acts/act_parts.h"
#include "ops/adapter_settings.h"
#include "publish/head_state.h"
#include "publish/publishable.h"
#include "publish/step_facts.h"
#include "publish/tensor_difference.h"

#include <algorithm>

namespace deltascope {

namespace {

/// Where a step goes: the end of a run as it is found, or the publisher that goes on from there.
template <class End> struct Destination {
    End end;
    /// The external base of the run is not known, so nothing can be put: why. The step may be there already.
    std::optional<Error> missing = {};
};

std::int64_t stepOf(const RunEnd& end) { return end.step; }
std::int64_t stepOf(const Publisher& publisher) { return publisher.headStep().value_or(0); }

/// `open`: finds the end of the run on a given base. Without a named base, `from` is the base: so a publisher
/// finds the first version on an external base when it publishes that again.
template <class Open>
auto openDestination(Workbench& bench, const OpenOptions& base, const StepState& from, const Open& open)
    -> Result<Destination<std::decay_t<decltype(*open(base))>>>
{
    using Found = Destination<std::decay_t<decltype(*open(base))>>;
    auto end = open(base);
    if (end)
        return Found { std::move(*end) };
    if (end.error().code != Code::BaseMissing || base.base || from.checkpoint.empty())
        return fail(std::move(end.error()));
    OpenOptions onFrom = base;
    onFrom.base = bench.stores->open(from.checkpoint).value_or(nullptr);
    if (onFrom.base) {
        auto first = open(onFrom);
        if (first && stepOf(*first) == 1)
            return Found { std::move(*first), std::move(end.error()) };
    }
    return fail(std::move(end.error()));
}

} // namespace

StepState StepState::of(const PlannedState& state)
{
    StepState step;
    PlannedReads reads(state.run);
    reads.add(state.plan);
    step.reads = reads.take();
    for (PlannedObject& object : step.reads)
        object.store = object.store.empty() ? state.run.store->uri() : object.store;
    if (state.plan.links.size() + (state.plan.fromExternalBase ? 1 : 0) == 1)
        step.checkpoint = (state.plan.fromExternalBase ? state.run.base->store : state.run.store)->uri();
    if (hasOtherWays(state.run))
        step.unknown.emplace_back(OtherWays);
    return step;
}

StepState StepState::ofFile(const ObjectStore& store, const ObjectInfo& file)
{
    StepState step;
    step.reads = { { store.uri(), file.key, file.identity, file.sizeBytes } };
    return step;
}

Result<PublishPlan> planPublish(Workbench& bench, std::shared_ptr<ObjectStore> into, const OpenOptions& base,
                                const StepToPublish& step, const PublishOptions& options, TaskContext& task)
{
    DS_TRY(const WriterChoice writers, WriterChoice::of(options, bench.scratchFolder));
    const auto open = [&](const OpenOptions& onBase) {
        return findRunEnd(bench, into, onBase, options, writers, task);
    };
    DS_TRY(const auto found, openDestination(bench, base, step.from, open));
    DS_TRY(PublishPlan plan, planStep(found.end, writers, options, into.get(), step, found.missing.has_value(), task));
    DS_TRY(const State* const before, step.from.open(task));
    DS_TRY(const State* const behind, step.to.open(task));
    if (plan.versions.size() == 2)
        DS_CHECK(expectElements(*before, step.from.origin));
    DS_CHECK(expectElements(*behind, step.to.origin));
    if (found.end.epochBegun)
        DS_CHECK(expectSameSettings(*before, *behind, step.to.origin, task));
    DS_TRY(const PublishedStep published, PublishedStep::of(before, *behind, options.prefixes));
    DS_CHECK(expectNamesOfBase(found.end, writers, published));
    if (found.end.epochBegun) {
        const bool hasHead = found.end.step > 0 || (!writers.hasAnchors() && base.base);
        const HeadState head(bench, into, base, options.acceptRewritten);
        std::optional<Error> difference;
        if (hasHead && !found.missing)
            difference = head.differenceInForm(found.end, *published.from(), task);
        if (difference)
            return fail(std::move(*difference));
        DS_CHECK(expectSameTensors(*published.from(), published.to()));
        const bool addsDelta = !plan.versions.empty() && !plan.versions.front().anchor;
        if (found.end.step > 0 && addsDelta)
            DS_CHECK(head.expectSound(found.end, nullptr, writers, task));
    }
    plan.stateBytes = behind->stateBytes();
    plan.isAdapter = holdsAdapter(*behind);
    return plan;
}

Result<std::vector<PublishedVersion>> publishStep(Workbench& bench, std::shared_ptr<ObjectStore> into,
                                                  const OpenOptions& base, const StepToPublish& step,
                                                  const PublishOptions& options, const std::string& planHash,
                                                  TaskContext& task)
{
    const auto open = [&](const OpenOptions& onBase) { return Publisher::open(bench, into, onBase, options, task); };
    DS_TRY(auto found, openDestination(bench, base, step.from, open));
    Publisher& publisher = found.end;
    DS_TRY(const PublishPlan plan, publisher.plan(step, found.missing.has_value(), task));
    if (!planHash.empty())
        DS_CHECK(expectPlanned(plan.act, planHash, into->uri(), plan.head));
    DS_TRY(const State* const before, step.from.open(task));
    DS_TRY(const State* const behind, step.to.open(task));
    const NamedState from { *before, step.from.origin };
    const NamedState to { *behind, step.to.origin };
    if (plan.versions.size() == 2)
        return publisher.begin(from, to, task);
    std::optional<PublishedVersion> there;
    if (found.missing || options.newEpoch) {
        Result<std::optional<PublishedVersion>> known = publisher.find(from, to, task);
        if (found.missing && (!known || !*known))
            return fail(std::move(*found.missing));
        DS_TRY(there, std::move(known));
    }
    if (there)
        return std::vector { std::move(*there) };
    Result<PublishedVersion> version = publisher.publish(before, *behind, to.origin, task);
    if (!version && version.error().code == Code::BaseMismatch && !options.newEpoch) {
        DS_TRY(there, publisher.find(from, to, task));
    }
    if (there)
        return std::vector { std::move(*there) };
    if (!version)
        return fail(std::move(version.error()));
    return std::vector { std::move(*version) };
}

} // namespace deltascope
