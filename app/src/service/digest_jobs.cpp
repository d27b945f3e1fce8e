#include "digest_jobs.h"

#include "diff_jobs.h"
#include "digest_document.h"
#include "opening.h"
#include "view/make_views.h"

#include "deltascope/engine/check_digests.h"

#include <chrono>

namespace deltascope::app {

Result<DigestView> digestOf(Workbench& bench, const VersionRequest& request, bool acrossGap, TensorHashes hashes,
                            TaskContext& task)
{
    DS_TRY(OpenState state, openState(bench, request, acrossGap, task));
    const auto attempt = [&] { return digestState(bench, *state.state, task, hashes); };
    DS_TRY(CheckpointDigest digest, tryStates(bench, { &state }, attempt, task));
    if (digest.noopsSeen && !acrossGap)
        DS_CHECK(judgeState(bench, state, task));
    ReadsView reads = makeReadsView({ state.state.get() }, state.notices());
    state.state.reset(); // there may be a million tensors: it makes room for the view
    DigestView view = makeDigestView(std::move(digest));
    view.chosen = state.chosen;
    view.reads = std::move(reads);
    return view;
}

Result<DigestCheckView> checkDigestsOf(Workbench& bench, const VersionRequest& request, const std::string& path,
                                       bool acrossGap, TaskContext& task)
{
    const auto began = std::chrono::steady_clock::now();
    DS_TRY(const std::unique_ptr<DigestState> digests, readDigestDocument(*bench.disk, path));
    DS_TRY(OpenState state, openState(bench, request, acrossGap, task));
    const auto attempt = [&] { return checkDigests(bench, *state.state, *digests, task); };
    DS_TRY(DigestCheck check, tryStates(bench, { &state }, attempt, task));
    if (check.noopsSeen && !acrossGap)
        DS_CHECK(judgeState(bench, state, task));
    DigestCheckView view = makeDigestCheckView(std::move(check));
    view.chosen = state.chosen;
    view.reads = makeReadsView({ state.state.get() }, state.notices());
    view.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return view;
}

} // namespace deltascope::app
