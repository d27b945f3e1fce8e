#include "deltascope/engine/act_plan.h"

#include "deltascope/engine/hash_tree.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// A text with its length in front, so that no two lists of texts look the same.
void add(std::string& text, std::string_view part)
{
    fmt::format_to(std::back_inserter(text), "{}:{}\n", part.size(), part);
}

void add(std::string& text, std::string_view what, std::vector<PlannedObject> objects)
{
    std::sort(objects.begin(), objects.end());
    add(text, fmt::format("{} {}", what, objects.size()));
    for (const PlannedObject& object : objects) {
        add(text, object.store);
        add(text, object.key);
        add(text, object.identity);
        add(text, std::to_string(object.bytes));
    }
}

void add(std::string& text, std::string_view what, const std::vector<PlannedEffect>& effects)
{
    add(text, fmt::format("{} {}", what, effects.size()));
    for (const PlannedEffect& effect : effects) {
        add(text, effect.fact);
        add(text, effect.value);
    }
}

} // namespace

std::string ActPlan::hash() const
{
    std::string text;
    add(text, "deltascope act plan 1");
    add(text, kind);
    add(text, fmt::format("arguments {}", arguments.size()));
    for (const auto& [name, value] : arguments) {
        add(text, name);
        add(text, value);
    }
    add(text, "reads", reads);
    add(text, "writes", writes);
    add(text, "deletes", deletes);
    add(text, "beside", beside);
    add(text, "effects", effects);
    add(text, undo);
    return toHex(sha256(asBytes(text)));
}

std::uint64_t ActPlan::readBytes() const noexcept
{
    std::uint64_t bytes = 0;
    for (const PlannedObject& object : reads)
        bytes += object.bytes;
    return bytes;
}

namespace {

const char* const StaleText = "what is there now is not what the plan was made for: something was published, removed "
                              "or overwritten since";

} // namespace

Result<void> expectPlanned(const ActPlan& plan, const std::string& hash, const std::string& source,
                           std::optional<std::int64_t> step)
{
    if (plan.hash() == hash)
        return {};
    return fail(Error { Code::Exists, StaleText, source, step, "Look at the plan again, and repeat this." });
}

bool isOfStalePlan(const Error& error) { return error.code == Code::Exists && error.text == StaleText; }

} // namespace deltascope
