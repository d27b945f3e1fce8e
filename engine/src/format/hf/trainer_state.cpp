#include "format/hf/trainer_state.h"

#include "format/common/object_names.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deltascope {

namespace {

constexpr std::string_view TrainerStateName = "trainer_state.json";
constexpr std::uint64_t MaxTrainerStateBytes = 16U << 20; ///< its log grows with the run

std::optional<std::int64_t> globalStepIn(ByteSpan text)
{
    using json = nlohmann::json;
    bool isWanted = false;
    const auto keepGlobalStep = [&](int depth, json::parse_event_t event, json& parsed) {
        if (depth == 1 && event == json::parse_event_t::key)
            isWanted = parsed == "global_step";
        return depth == 0 || isWanted;
    };
    const json state = json::parse(asText(text), keepGlobalStep, false);
    const auto found = state.is_object() ? state.find("global_step") : state.end();
    return found != state.end() && found->is_number_integer() ? std::optional(found->get<std::int64_t>())
                                                              : std::nullopt;
}

}

Result<std::optional<Error>> contradictingTrainerState(const ObjectStore& store, const VersionObjects& version,
                                                       std::string_view folder, TaskContext& task)
{
    const auto at = folder.empty() ? std::nullopt : objectIndex(version, joinKey(folder, TrainerStateName));
    if (!at || version.objects[*at].sizeBytes > MaxTrainerStateBytes)
        return std::optional<Error>();
    const ObjectInfo& object = version.objects[*at];
    std::vector<std::byte> text(object.sizeBytes);
    if (const Result<void> read = store.read(object, 0, text, task); !read) {
        if (concernsOneObject(read.error().code))
            return std::optional<Error>(); // it is no part of the checkpoint
        return fail(read.error());
    }
    const std::optional<std::int64_t> step = globalStepIn(text);
    if (!step || *step == version.step)
        return std::optional<Error>();
    return std::optional(
        Error { Code::Claim,
                fmt::format("{} says that this is global_step {}, and its folder that it is step {}", TrainerStateName,
                            *step, version.step),
                object.key, version.step,
                "Find out which of them is right: the folder was renamed, or holds files of two saves." });
}

} // namespace deltascope
