#include "compare_checkpoints.h"

#include "correspondence.h"
#include "deltascope/engine/path_state.h"
#include "fused_projections.h"
#include "lineage/placeholders.h"
#include "state/rounding.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

namespace {

/// How two checkpoints differ as models, and what helps.
struct ModelDifference {
    std::vector<std::string> reasons;
    std::string remedy = "diff between the two steps shows which";
};

using Tensors = std::vector<const TensorInfo*>;

/// "a, b and 5 others"
std::string namesOf(const Tensors& tensors)
{
    constexpr std::size_t MostNames = 3;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(MostNames, tensors.size()); ++i)
        names.push_back(tensors[i]->name);
    if (tensors.size() <= MostNames)
        return fmt::format("{}", fmt::join(names, ", "));
    return fmt::format("{} and {} others", fmt::join(names, ", "), tensors.size() - MostNames);
}

void addNames(const Correspondence& all, std::int64_t before, ModelDifference& found)
{
    if (!all.names)
        return;
    const FormDifference& names = *all.names;
    const auto& [then, now] = all.pairs.back();
    if (names.kind == FormDifference::Kind::Adapters) {
        found.reasons.push_back(
            names.b.empty()
                ? fmt::format("step {} is wrapped with LoRA adapters that were not merged, as {} "
                              "shows, and this one is not",
                              before, names.a)
                : fmt::format("it is wrapped with LoRA adapters that were not merged, as {} shows", names.b));
        found.remedy = "merge the adapters before the checkpoint is saved (merge_and_unload of PEFT)";
        return;
    }
    const std::string example = fmt::format("{} is {} there", now->name, then->name);
    if (names.kind == FormDifference::Kind::Wrappers)
        found.reasons.push_back(
            fmt::format("its modules are wrapped in another way than at step {} ({})", before, example));
    else if (names.a.empty())
        found.reasons.push_back(
            fmt::format("its names begin with {} where those of step {} do not ({})", names.b, before, example));
    else if (names.b.empty())
        found.reasons.push_back(
            fmt::format("its names lack the {} that those of step {} begin with ({})", names.a, before, example));
    else
        found.reasons.push_back(fmt::format("names that begin with {} at step {} begin with {} here ({})", names.a,
                                            before, names.b, example));
    found.remedy = "save the model itself, without what wraps it (torch.compile keeps it as _orig_mod)";
}

void addTypes(const Correspondence& all, std::int64_t before, ModelDifference& found)
{
    std::map<std::pair<Dtype, Dtype>, Tensors> types;
    for (const auto& [then, now] : all.pairs) {
        if (then->dtype != now->dtype)
            types[{ then->dtype, now->dtype }].push_back(now);
    }
    for (const auto& [dtypes, tensors] : types)
        found.reasons.push_back(
            fmt::format("{} of {} tensor{} {} {} and {} {} at step {} ({})", tensors.size(), all.pairs.size(),
                        all.pairs.size() == 1 ? "" : "s", tensors.size() == 1 ? "is" : "are", word(dtypes.second),
                        tensors.size() == 1 ? "was" : "were", word(dtypes.first), before, namesOf(tensors)));
    if (types.size() != 1 || found.reasons.size() != 1)
        return;
    const auto [then, now] = types.begin()->first;
    found.remedy = fmt::format("save all checkpoints as {}", word(then));
    if (commonDtype(then, now))
        found.remedy += "; diff compares both as rounded to the narrower dtype";
}

void addShapes(const Correspondence& all, std::int64_t before, ModelDifference& found)
{
    std::size_t reshaped = 0;
    std::string first;
    for (const auto& [then, now] : all.pairs) {
        if (then->shape == now->shape)
            continue;
        if (reshaped++ == 0)
            first = fmt::format("{} is [{}] and was [{}]", now->name, fmt::join(now->shape, ", "),
                                fmt::join(then->shape, ", "));
    }
    if (reshaped > 0)
        found.reasons.push_back(fmt::format("{} {} another shape than at step {} ({})", reshaped,
                                            reshaped == 1 ? "tensor has" : "tensors have", before, first));
}

ModelDifference differenceOf(const State& then, const State& now, std::int64_t before)
{
    const FusedSides sides(then, now, true, std::nullopt);
    const Correspondence all = correspond(sides.a(), sides.b(), true, std::nullopt);
    ModelDifference found;
    addNames(all, before, found);
    for (const FormDifference& fused : sides.forms()) {
        found.reasons.push_back(fmt::format("it stores {} where step {} stores {}", fused.b, before, fused.a));
        if (found.remedy.empty())
            found.remedy = "save all checkpoints with one set of tensors; diff compares such ones row by row";
    }
    addTypes(all, before, found);
    addShapes(all, before, found);
    const auto counted = [](const Tensors& tensors) {
        return fmt::format("{} {}", tensors.size(), tensors.size() == 1 ? "tensor" : "tensors");
    };
    if (!all.onlyInA.empty())
        found.reasons.push_back(
            fmt::format("it lacks {} of step {} ({})", counted(all.onlyInA), before, namesOf(all.onlyInA)));
    if (!all.onlyInB.empty())
        found.reasons.push_back(
            fmt::format("it has {} that step {} lacks ({})", counted(all.onlyInB), before, namesOf(all.onlyInB)));
    return found;
}

void note(Version& version, const Version& before, const ModelDifference& difference)
{
    const std::string what = difference.reasons.empty()
        ? fmt::format("is of other names, types or shapes than that of step {}", before.step())
        : fmt::format("is not of the form of step {}: {}", before.step(), fmt::join(difference.reasons, "; "));
    version.summary->notes.push_back(Error { Code::PartialAnchor,
                                             fmt::format("the checkpoint at step {} {}", version.step(), what),
                                             version.objects.name, version.step(), difference.remedy });
}

/// Also those whose names alone do not tell that they are placeholders.
void notePlaceholders(Version& version, const State& then, const State& now)
{
    std::string text = placeholdersIn(now, &then);
    std::vector<Error>& notes = version.summary->notes;
    const auto known =
        std::find_if(notes.begin(), notes.end(), [](const Error& error) { return error.code == Code::SuspectValues; });
    if (text.empty())
        return;
    if (known != notes.end())
        known->text = std::move(text);
    else
        notes.push_back(placeholderNote(std::move(text)));
}

}

Result<bool> compareCheckpoints(const Workbench& bench, Run& run, TaskContext& task)
{
    bool found = false;
    const auto isRead = [](const Version& version) {
        return version.kind == VersionKind::Anchor && version.summary && !version.failure;
    };
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        std::optional<std::size_t> before = run.checkpointBefore(i);
        while (before && !isRead(run.versions[*before]))
            before = run.checkpointBefore(*before);
        if (!isRead(version) || !before || run.versions[*before].summary->nameSet == version.summary->nameSet)
            continue;
        const Version* const then = &run.versions[*before];
        found = true;
        const auto open = [&](const Version& of) -> Result<PathPtr> {
            DS_TRY(const Plan plan, planFor(run, of));
            return openForFacts(bench, run, plan, task);
        };
        const auto compared = [&]() -> Result<ModelDifference> {
            DS_TRY(const PathPtr a, open(*then));
            DS_TRY(const PathPtr b, open(version));
            DS_CHECK(a->expectSoundReads(task));
            DS_CHECK(b->expectSoundReads(task));
            notePlaceholders(version, *a, *b);
            return differenceOf(*a, *b, then->step());
        };
        const Result<ModelDifference> difference = compared();
        if (!difference && (difference.error().code == Code::Canceled || difference.error().code == Code::Transient))
            return fail(difference.error());
        note(version, *then, difference.value_or(ModelDifference()));
    }
    return found;
}

} // namespace deltascope
