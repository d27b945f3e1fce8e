#include "diff_jobs.h"

#include "view/make_views.h"

#include <algorithm>
#include <chrono>

namespace deltascope::app {

namespace {

/// The link of B's chain whose state is A, if B builds on A.
std::optional<std::size_t> linkOfAInB(const OpenState& a, const OpenState& b)
{
    if (!a.version || !b.version)
        return std::nullopt;
    const auto& links = b.chain->links();
    for (std::size_t i = links.size(); i-- > 0;) {
        if (links[i]->store->uri() == a.run->store->uri()
            && links[i]->objects.identity() == a.version->objects.identity())
            return i;
        if (b.chain->formOf(i) > 0) // another way than step by step, which does not pass what came and went
            return std::nullopt;
    }
    return std::nullopt;
}

}

Result<void> judgeState(Workbench& bench, const OpenState& state, TaskContext& task)
{
    if (!state.version || state.version->facts)
        return {};
    DS_CHECK(judgeChain(bench, *state.run, *state.version, task));
    return {};
}

Result<DiffView> diffOf(Workbench& bench, const VersionRequest& a, const VersionRequest& b, const DiffChoice& choice,
                        TaskContext& task)
{
    DiffOptions options { TensorGlobs(choice.tensors), true, {} };
    if (choice.prefixes)
        options.prefixes = { choice.prefixes->first, choice.prefixes->second };
    const auto began = std::chrono::steady_clock::now();
    DS_TRY(OpenState left, openState(bench, a, false, task));
    DS_TRY(OpenState right, openState(bench, b, false, task));
    const auto attempt = [&] {
        return diffStates(bench, *left.chain, *right.chain, linkOfAInB(left, right), task, options);
    };
    DS_TRY(DiffReport report, tryStates(bench, { &left, &right }, attempt, task));
    if (report.noopsSeen) {
        DS_CHECK(judgeState(bench, left, task));
        DS_CHECK(judgeState(bench, right, task));
    }
    std::vector<Error> notices = left.notices();
    for (Error& notice : right.notices()) {
        if (std::find(notices.begin(), notices.end(), notice) == notices.end())
            notices.push_back(std::move(notice));
    }
    ReadsView reads = makeReadsView({ left.chain.get(), right.chain.get() }, notices);
    left.chain.reset(); // there may be a million tensors: it makes room for the view
    right.chain.reset();
    DiffView view = makeDiffView(std::move(report));
    view.globs = choice.tensors;
    view.reads = std::move(reads);
    view.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return view;
}

} // namespace deltascope::app
