#include "state/recorded_state.h"

#include "audit/replay_audit.h"
#include "audit/state_hasher.h"

#include "deltascope/engine/walk.h"

#include <algorithm>

namespace deltascope {

namespace {

std::string recordedBy(const OpenVersion& version)
{
    const std::string_view root = version.index.fact(fact::Root);
    return root.empty() ? version.index.stateDigest.hex : std::string(root);
}

Result<void> expectRecordedRoot(const PathState& chain, const std::string& root)
{
    const OpenVersion& last = *chain.links().back();
    const std::string_view recorded = last.index.fact(fact::Root);
    if (recorded.empty() || recorded == root)
        return {};
    VersionFacts facts;
    facts.rootCheck = VersionFacts::RootCheck::Differs;
    facts.actualRoot = root;
    return fail(rootFailure(facts, last.objects, recorded));
}

/// Errors: Digest, if the publisher of the last link recorded another digest for the state behind it. Replays all
/// tensors one after another where one is recorded, for they go into one digest; else does nothing.
Result<void> expectStateDigest(const PathState& chain, const WalkMeans& means, TaskContext& task)
{
    const OpenVersion& last = *chain.links().back();
    const StateDigest& recorded = last.index.stateDigest;
    if (recorded.hex.empty())
        return {};
    task.beginPhase("state digest", chain.stateBytes());
    StateHasher hasher(recorded);
    const std::unique_ptr<StateWalk> walk = chain.replay(allTensors(chain), { means });
    const auto hash = [&](std::size_t slice, SliceReader& reader) {
        hasher.beginTensor(walk->tensor(slice));
        return forEachBlock(reader, task, [&](ByteSpan block) { hasher.update(block); });
    };
    DS_CHECK(walkTensors(*walk, InOrder, task, hash));
    if (hasher.matches())
        return {};
    VersionFacts facts;
    facts.rootCheck = VersionFacts::RootCheck::Differs;
    facts.actualRoot = hasher.actual();
    return fail(rootFailure(facts, last.objects, recorded.hex));
}

/// The error of the first link whose own record does not fit, which may lie below the one that `last` speaks of.
Result<Error> firstMismatch(const PathState& chain, Error last, const WalkMeans& means, TaskContext& task)
{
    ReplayAudit audit(chain, true);
    task.beginPhase("find the damage", chain.stateBytes());
    DS_CHECK(replayAll(chain, audit, means, task));
    audit.finishStates();
    for (std::size_t link = 0; link + 1 < chain.links().size(); ++link) {
        const VersionFacts facts = audit.factsOf(link, VersionKind::Anchor, 0);
        if (facts.rootCheck == VersionFacts::RootCheck::Differs)
            return rootFailure(facts, chain.links()[link]->objects, recordedBy(*chain.links()[link]));
    }
    return last;
}

}

Result<void> replayAll(const PathState& chain, ReplayAudit& audit, const WalkMeans& means, TaskContext& task)
{
    std::vector<TensorSlice> slices = audit.wantsOrder() ? allTensors(chain) : largestFirst(chain);
    std::vector<std::unique_ptr<ReplayAudit::Tensor>> watches(slices.size());
    std::unique_ptr<StateWalk> walk;
    const auto watch = [&](std::size_t slice) -> ReplayObserver* {
        watches[slice] = std::make_unique<ReplayAudit::Tensor>(audit, walk->tensor(slice), true);
        return watches[slice].get();
    };
    walk = chain.replay(std::move(slices), { means, watch });
    const auto judge = [&](std::size_t slice, SliceReader& reader) -> Result<void> {
        DS_CHECK(forEachBlock(reader, task, [](ByteSpan) {}));
        watches[slice]->finish();
        watches[slice].reset(); // there may be a million tensors
        return {};
    };
    DS_CHECK(walkTensors(*walk, audit.wantsOrder() ? InOrder : means.threads, task, judge));
    return {};
}

Result<void> expectRecordedState(const PathState& chain, const std::string& root, const WalkMeans& means,
                                 TaskContext& task)
{
    Result<void> outcome = expectRecordedRoot(chain, root);
    if (outcome)
        outcome = expectStateDigest(chain, means, task);
    if (outcome || outcome.error().code != Code::Digest)
        return outcome;
    DS_TRY(Error first, firstMismatch(chain, std::move(outcome.error()), means, task));
    return fail(std::move(first));
}

} // namespace deltascope
