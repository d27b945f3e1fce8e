#include "adapter_settings.h"

#include "format/common/object_names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace deltascope {

namespace {

using nlohmann::json;

/// How it was trained, by what, and where the base lay: the same tensors do the same whatever these say.
constexpr std::array<std::string_view, 15> OfTraining = {
    "auto_mapping",   "base_model_name_or_path", "corda_config",  "ensure_weight_tying",
    "eva_config",     "inference_mode",          "loftq_config",  "lora_dropout",
    "lora_ga_config", "megatron_config",         "megatron_core", "peft_version",
    "revision",       "runtime_config",          "task_type",
};

/// These begin with other weights of the base, also where an adapter is loaded; all others only say how A and B began.
bool movesTheBase(const json& initialization)
{
    if (!initialization.is_string())
        return false;
    const auto& word = initialization.get_ref<const std::string&>();
    constexpr std::array<std::string_view, 4> Words = { "pissa", "olora", "corda", "loftq" };
    return std::any_of(Words.begin(), Words.end(), [&](std::string_view start) { return word.starts_with(start); });
}

bool isOff(const json& value)
{
    return value.is_null() || value == json(false) || (value.is_structured() && value.empty());
}

/// A value as it counts: lists of names and numbers are sets.
json meaningOf(const std::string& name, const json& value)
{
    if (isOff(value) || (name == "bias" && value == json("none"))
        || (name == "init_lora_weights" && !movesTheBase(value)))
        return nullptr;
    const bool isSet = value.is_array()
        && std::none_of(value.begin(), value.end(), [](const json& entry) { return entry.is_structured(); });
    if (!isSet)
        return value;
    const std::set<json> entries(value.begin(), value.end());
    return json(std::vector<json>(entries.begin(), entries.end()));
}

Result<json> parse(std::string_view text, std::string_view where)
{
    json config = json::parse(text, nullptr, false);
    if (!config.is_object())
        return fail(Code::Malformed, "the config of the adapter is no JSON object", std::string(where));
    return config;
}

json valueOf(const json& config, const std::string& name)
{
    const auto at = config.find(name);
    return at == config.end() ? json() : *at;
}

/// As a person reads it: sets in order.
std::string textOf(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}

Result<std::vector<SettingDiff>> settingsThatDiffer(std::string_view a, std::string_view b, std::string_view whereA,
                                                    std::string_view whereB)
{
    DS_TRY(const json left, parse(a, whereA));
    DS_TRY(const json right, parse(b, whereB));
    std::set<std::string> names;
    for (const json* config : { &left, &right }) {
        for (const auto& [name, value] : config->items())
            names.insert(name);
    }
    std::vector<SettingDiff> different;
    for (const std::string& name : names) {
        if (std::find(OfTraining.begin(), OfTraining.end(), name) != OfTraining.end())
            continue;
        const json inA = valueOf(left, name);
        const json inB = valueOf(right, name);
        if (meaningOf(name, inA) != meaningOf(name, inB))
            different.push_back({ name, textOf(inA), textOf(inB) });
    }
    return different;
}

bool holdsAdapter(const State& state)
{
    constexpr std::string_view Part = ".lora_"; // lora_A, lora_B, lora_embedding_A
    bool any = false;
    for (const TensorInfo& tensor : state.tensors()) {
        const std::size_t at = tensor.name.find(Part);
        if (tensor.name.find(".base_layer.") != std::string::npos
            || (at != std::string::npos && state.find(tensor.name.substr(0, at) + ".weight")))
            return false;
        any = any || at != std::string::npos;
    }
    return any || state.place().isAdapter;
}

Result<AdapterComparison> compareAdapters(const State& a, const State& b, TaskContext& task)
{
    DS_TRY(const std::optional<AdapterConfig> left, a.adapterConfig(task));
    DS_TRY(const std::optional<AdapterConfig> right, b.adapterConfig(task));
    AdapterComparison compared;
    if (left && right) {
        DS_TRY(compared.settings, settingsThatDiffer(left->text, right->text, left->where, right->where));
        return compared;
    }
    const bool isLeft = left || holdsAdapter(a);
    const bool isRight = right || holdsAdapter(b);
    if (isLeft && isRight)
        compared.note = fmt::format("A and B are adapters (PEFT), and the settings of {} known (no {}): equal tensors "
                                    "may do something else",
                                    left        ? "B are not"
                                        : right ? "A are not"
                                                : "neither are",
                                    AdapterConfigName);
    else if ((isLeft || isRight) && !a.tensors().empty() && !b.tensors().empty())
        compared.note = oneAdapterText(a, b, isLeft)
            + ": compare the model with one that the adapter was merged into (merge_and_unload), or two adapters";
    return compared;
}

std::string oneAdapterText(const State& a, const State& b, bool isA)
{
    return fmt::format("{} is an adapter (PEFT, {}) and {} is a model", isA ? "A" : "B", (isA ? a : b).place().where,
                       isA ? "B" : "A");
}

} // namespace deltascope
