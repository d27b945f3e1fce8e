#include "compare_models.h"

#include "compare_checkpoints.h"
#include "format/common/full_tensor_stream.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope {

namespace {

/// A complete state that an anchor is compared with.
struct Before {
    const ObjectStore* store = nullptr;
    const Layout* layout = nullptr;
    const VersionObjects* objects = nullptr;
    const VersionSummary* summary = nullptr;
    std::optional<std::size_t> version; ///< nothing: a base that the user gave, which may hold more than the run
};

/// "a, b, …"
std::string namesOf(const std::vector<std::string>& names)
{
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), TensorGroup::MostNames));
    return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), end == names.end() ? "" : ", …");
}

Result<std::optional<VersionIndex>> indexOf(const Before& state, TaskContext& task)
{
    Result<VersionIndex> index = state.layout->index(*state.store, *state.objects, task);
    if (index)
        return std::optional(std::move(*index));
    if (index.error().code == Code::Canceled || index.error().code == Code::Transient)
        return fail(std::move(index.error()));
    return std::optional<VersionIndex>(); // it was readable a moment ago; the next look tells
}

void compare(const VersionIndex& before, const Before& state, const VersionIndex& now, Version& version)
{
    std::vector<std::string> missing;
    for (const TensorEntry& entry : before.tensors) {
        const TensorEntry* same = now.find(entry.name());
        if (!same) {
            if (state.version)
                missing.push_back(entry.name());
            continue;
        }
        if (entry.info() && same->info()
            && (entry.info()->dtype != same->info()->dtype || entry.info()->shape != same->info()->shape)) {
            version.failure = Error {
                Code::Malformed,
                fmt::format("this full version holds {} as {}, the complete state before it ({}) as {}: it is no "
                            "checkpoint of this model",
                            entry.name(), describe(*same->info()), state.objects->name, describe(*entry.info())),
                version.objects.name,
                version.step(),
                {}
            };
            return;
        }
    }
    if (!missing.empty())
        version.summary->notes.push_back(
            Error { Code::MissingTensor,
                    fmt::format("this full version lacks {} of the {} tensors that step {} has: {}", missing.size(),
                                before.tensors.size(), state.objects->step, namesOf(missing)),
                    version.objects.name,
                    version.step(),
                    {} });
}

}

namespace {

/// What a complete state shows to be missing from the one before it is missing from every state that builds on that.
void reportIncomplete(Run& run, std::size_t first, const VersionIndex& before, std::size_t now,
                      const VersionIndex& whole)
{
    std::vector<std::string> missing;
    for (const TensorEntry& entry : whole.tensors) {
        if (!before.find(entry.name()))
            missing.push_back(entry.name());
    }
    for (std::size_t i = first; i < now && !missing.empty(); ++i) {
        Version& version = run.versions[i];
        if (version.summary)
            version.summary->notes.push_back(Error {
                Code::MissingTensor,
                fmt::format("the state of step {} lacks {} of the {} tensors that the complete state of step {} "
                            "has: {}",
                            version.step(), missing.size(), whole.tensors.size(), run.versions[now].step(),
                            namesOf(missing)),
                version.objects.name,
                version.step(),
                {} });
    }
}

}

Result<void> compareModels(const Workbench& bench, Run& run, TaskContext& task)
{
    if (run.layout->standAlone()) {
        DS_TRY(const bool noted, compareCheckpoints(bench, run, task));
        if (noted)
            assess(run);
        return {};
    }
    bool found = false;
    Before before;
    int epoch = -1;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        if (version.epoch != epoch) {
            epoch = version.epoch;
            before = run.base
                ? Before { run.base->store.get(), run.base->layout.get(), &run.base->objects, &run.base->summary, {} }
                : Before();
        }
        if (version.kind != VersionKind::Anchor || !version.summary || version.failure)
            continue;
        const Before self { run.store.get(), run.layout.get(), &version.objects, &*version.summary, i };
        if (before.objects && before.summary->nameSet != version.summary->nameSet) {
            DS_TRY(const std::optional<VersionIndex> then, indexOf(before, task));
            DS_TRY(const std::optional<VersionIndex> now, indexOf(self, task));
            if (then && now) {
                compare(*then, before, *now, version);
                if (before.version && !version.failure)
                    reportIncomplete(run, *before.version, *then, i, *now);
            }
            found = true;
        }
        if (!version.failure)
            before = self;
    }
    if (found)
        assess(run);
    return {};
}

} // namespace deltascope
