#include "publish/publishable.h"

#include "format/common/object_names.h"
#include "ops/adapter_settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace deltascope {

Result<void> expectElements(const State& state, const std::string& origin)
{
    const TensorRange tensors = state.tensors();
    if (std::any_of(tensors.begin(), tensors.end(), [](const TensorInfo& tensor) { return tensor.elements() > 0; }))
        return {};
    const std::string what = tensors.empty() ? "the checkpoint holds no tensor"
        : tensors.size() == 1                ? "the only tensor of the checkpoint has no element"
                              : fmt::format("none of the {} tensors of the checkpoint has an element", tensors.size());
    return fail(Error { Code::Malformed, what + ": there is nothing to publish",
                        origin.empty() ? state.place().where : origin, std::nullopt,
                        "Save the checkpoint again, with its weights" });
}

Result<void> expectSameSettings(const State& from, const State& to, const std::string& origin, TaskContext& task)
{
    DS_TRY(const std::optional<AdapterConfig> before, from.adapterConfig(task));
    DS_TRY(const std::optional<AdapterConfig> now, to.adapterConfig(task));
    if (!before || !now || before->text == now->text)
        return {};
    DS_TRY(const std::vector<SettingDiff> different,
           settingsThatDiffer(before->text, now->text, before->where, now->where));
    if (different.empty())
        return {};
    std::vector<std::string> settings;
    for (const SettingDiff& setting : different)
        settings.push_back(fmt::format("{} is {} in A and {} in B", setting.name, setting.a, setting.b));
    return fail(
        Error { Code::Unsupported,
                fmt::format("{}: {} is not part of what is published, so that a step cannot change it (A is the "
                            "state before, B the one to publish)",
                            fmt::join(settings, "; "), AdapterConfigName),
                origin.empty() ? to.place().where : origin, std::nullopt,
                "Publish adapters with these settings into a run of their own" });
}

} // namespace deltascope
