#include "recorded_state.h"

#include "replay_audit.h"
#include "state_digest.h"

#include <algorithm>

namespace deltascope {

namespace {

std::string recordedBy(const OpenVersion& version)
{
    const std::string_view root = version.index.fact(fact::Root);
    return root.empty() ? version.index.stateDigest.hex : std::string(root);
}

Result<void> expectRecordedRoot(const Chain& chain, const std::string& root)
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

/// The error of the first link whose own record does not fit, which may lie below the one that `last` speaks of.
Result<Error> firstMismatch(Workbench& bench, const Chain& chain, Error last, TaskContext& task)
{
    ReplayAudit audit(chain, true);
    task.beginPhase("find the damage", chain.stateBytes());
    DS_CHECK(replayAll(bench, chain, audit, task));
    audit.finishStates();
    for (std::size_t link = 0; link + 1 < chain.links().size(); ++link) {
        const VersionFacts facts = audit.factsOf(link, VersionKind::Anchor, 0);
        if (facts.rootCheck == VersionFacts::RootCheck::Differs)
            return rootFailure(facts, chain.links()[link]->objects, recordedBy(*chain.links()[link]));
    }
    return last;
}

}

Result<void> replayAll(Workbench& bench, const Chain& chain, ReplayAudit& audit, TaskContext& task)
{
    std::vector<const TensorInfo*> tensors;
    for (const TensorInfo& tensor : chain.tensors())
        tensors.push_back(&tensor);
    if (!audit.wantsOrder()) {
        std::stable_sort(tensors.begin(), tensors.end(),
                         [](const TensorInfo* a, const TensorInfo* b) { return a->bytes() > b->bytes(); });
    }
    const unsigned threads = audit.wantsOrder() ? 1 : chain.replaysAtOnce(bench.threads);
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

Result<void> expectRecordedState(Workbench& bench, const Chain& chain, const std::string& root, TaskContext& task)
{
    Result<void> outcome = expectRecordedRoot(chain, root);
    if (outcome)
        outcome = expectStateDigest(bench, chain, task);
    if (outcome || outcome.error().code != Code::Digest)
        return outcome;
    DS_TRY(Error first, firstMismatch(bench, chain, std::move(outcome.error()), task));
    return fail(std::move(first));
}

} // namespace deltascope
