#include "trainer_history.h"

#include "format/common/object_names.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace deltascope {

namespace {

constexpr std::string_view HistoryFile = "/trainer_state.json";
constexpr std::uint64_t MaxHistoryBytes = 16U << 20; ///< it grows with the run

/// Python writes NaN and Infinity, which are no JSON: they become null.
std::string withoutNan(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        if (inString && letter == '\\' && i + 1 < text.size()) {
            out += letter;
            out += text[++i];
            continue;
        }
        if (letter == '"')
            inString = !inString;
        if (!inString) {
            bool isReplaced = false;
            for (const std::string_view word : { "NaN", "-Infinity", "Infinity" }) {
                if (!isReplaced && text.substr(i, word.size()) == word) {
                    out += "null";
                    i += word.size() - 1;
                    isReplaced = true;
                }
            }
            if (isReplaced)
                continue;
        }
        out += letter;
    }
    return out;
}

TrainerHistory parseHistory(std::string_view text)
{
    TrainerHistory history;
    const nlohmann::json state = nlohmann::json::parse(withoutNan(text), nullptr, false);
    const auto entries = state.is_object() ? state.find("log_history") : state.end();
    if (entries == state.end() || !entries->is_array())
        return history;
    for (const nlohmann::json& entry : *entries) {
        const auto step = entry.is_object() ? entry.find("step") : entry.end();
        if (step != entry.end() && step->is_number_integer())
            history.emplace_back(step->get<std::int64_t>(),
                                 entry.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    return history;
}

/// The file in the folder of the weights, else in one of those above it, but not in the source itself.
const ObjectInfo* findHistory(const std::vector<ObjectInfo>& listing, const VersionObjects& version)
{
    if (version.objects.empty())
        return nullptr;
    std::string_view folder = version.objects.front().key;
    for (std::size_t slash = folder.rfind('/'); slash != std::string_view::npos; slash = folder.rfind('/')) {
        folder = folder.substr(0, slash);
        const std::string key = std::string(folder) + std::string(HistoryFile);
        const auto found =
            std::find_if(listing.begin(), listing.end(), [&](const ObjectInfo& object) { return object.key == key; });
        if (found != listing.end())
            return &*found;
    }
    return nullptr;
}

}

Result<TrainerHistory> trainerHistoryOf(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                        const VersionObjects& version, TaskContext& task)
{
    const ObjectInfo* const object = findHistory(listing, version);
    if (!object || object->sizeBytes > MaxHistoryBytes)
        return TrainerHistory();
    std::vector<std::byte> text(object->sizeBytes);
    if (const Result<void> read = store.read(*object, 0, text, task); !read) {
        if (concernsOneObject(read.error().code))
            return TrainerHistory(); // it is no part of the checkpoint
        return fail(read.error());
    }
    return parseHistory(asText(text));
}

Kinship compareHistories(const TrainerHistory& lower, const TrainerHistory& higher)
{
    if (lower.empty() || higher.empty())
        return Kinship::Unknown;
    if (lower.size() <= higher.size() && std::equal(lower.begin(), lower.end(), higher.begin()))
        return Kinship::OneRun;
    const auto byStep = [](const TrainerHistory& history) {
        std::map<std::int64_t, std::vector<std::string_view>> steps;
        for (const auto& [step, entry] : history)
            steps[step].push_back(entry);
        return steps;
    };
    const auto then = byStep(lower);
    for (const auto& [step, entries] : byStep(higher)) {
        const auto same = then.find(step);
        if (same == then.end())
            continue;
        // An evaluation may be logged behind the save of its step.
        const std::size_t both = std::min(entries.size(), same->second.size());
        if (!std::equal(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(both), same->second.begin()))
            return Kinship::TwoRuns;
    }
    return Kinship::Unknown;
}

} // namespace deltascope
