#include "format/common/found_folders.h"

#include "format/common/checkpoint_folders.h"
#include "format/common/checkpoint_names.h"
#include "format/common/object_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

namespace deltascope {

namespace {

constexpr std::size_t MostNamed = 5;

/// Files of a folder, relative to it.
struct SeenFolder {
    std::vector<std::string_view> files;
    std::vector<std::string_view> unfinished; ///< those in hidden folders and in folders that are called unfinished
    std::int64_t changedUs = 0;
    std::string state;
};

bool endsWithAny(std::string_view text, std::initializer_list<std::string_view> ends)
{
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

bool isAdapter(std::string_view file) { return file.starts_with("adapter_model"); }
bool isDistributed(std::string_view file) { return file == ".metadata" || file.ends_with(".distcp"); }
bool isTensors(std::string_view file) { return file.ends_with(".safetensors"); }
/// What trainers keep beside weights is not meant.
bool isPickledWeights(std::string_view file)
{
    constexpr std::string_view Beside[] = {
        "optim",         "scheduler", "lr_scheduler", "scaler",      "rng_state",
        "training_args", "trainer",   "data",         "extra_state", "random_states"
    };
    return endsWithAny(file, { ".bin", ".pt", ".pth", ".ckpt" })
        && std::none_of(std::begin(Beside), std::end(Beside),
                        [&](std::string_view start) { return file.starts_with(start); });
}

bool isWeights(std::string_view file)
{
    return isAdapter(file) || isDistributed(file) || isTensors(file) || isPickledWeights(file);
}

template <class Test> std::string_view firstFile(const SeenFolder& folder, Test test)
{
    for (const std::string_view path : folder.files) {
        if (test(splitKey(path).file))
            return path;
    }
    return {};
}

/// Fills in `why` and `remedy`; false if there is nothing to say about the folder.
bool judge(const SeenFolder& folder, FoundFolder& out)
{
    if (const std::string_view file = firstFile(folder, isAdapter); !file.empty()) {
        out.why = fmt::format("holds a PEFT adapter ({}), not a complete checkpoint", file);
        out.remedy = "merge the adapter into its base model (merge_and_unload, then save_pretrained) and publish that";
        return true;
    }
    if (const std::string_view file = firstFile(folder, isDistributed); !file.empty()) {
        out.why = fmt::format("holds a distributed checkpoint of PyTorch ({})", file);
        out.remedy = "deltascope materialize writes it as safetensors files; publish those";
        return true;
    }
    if (const std::string_view file = firstFile(folder, isTensors); !file.empty()) {
        out.why = out.number >= 0 ? fmt::format("holds {}, which is no checkpoint of this form", file)
                                  : fmt::format("holds weights ({}), but its name tells no place in the order", file);
        return true;
    }
    if (const std::string_view file = firstFile(folder, isPickledWeights); !file.empty()) {
        out.why = fmt::format("holds pickled weights ({}), which are never loaded", file);
        out.remedy = "save it as safetensors (save_pretrained with safe_serialization=True)";
        return true;
    }
    out.isEmpty = true;
    const auto unfinished = std::find_if(folder.unfinished.begin(), folder.unfinished.end(),
                                         [](std::string_view path) { return isWeights(splitKey(path).file); });
    if (unfinished == folder.unfinished.end()) {
        out.why = "holds no weights";
        return out.number >= 0;
    }
    out.why = fmt::format("holds no weights but those of an unfinished save ({})", *unfinished);
    out.remedy = "wait until the save has ended; rename the folder if it is whole";
    return true;
}

/// "exports/global_step_10" of "exports/global_step_10/policy/model.safetensors".
std::string_view folderToName(std::string_view key)
{
    const std::string_view folder = splitKey(key).folder;
    if (const std::string_view unfinished = unfinishedStepOf(folder); !unfinished.empty())
        return unfinished;
    std::string_view step = stepFolderOf(folder);
    while (!step.empty()) { // "checkpoint-7/global_step7" and "step_10/iter_0000000" are one step
        const std::string_view outer = stepFolderOf(splitKey(step).folder);
        const std::optional<std::int64_t> number = stepInName(splitKey(step).file);
        if (outer.empty() || (number != 0 && number != stepInName(splitKey(outer).file)))
            return step;
        step = outer;
    }
    return folder.empty() ? std::string_view(".") : folder.substr(0, folder.find('/'));
}

}

std::vector<FoundFolder> foundFolders(const std::vector<ObjectInfo>& listing)
{
    std::map<std::string, SeenFolder, std::less<>> seen;
    for (const ObjectInfo& object : listing) {
        const std::string_view name = folderToName(object.key);
        if (name != "." && name.starts_with('.'))
            continue;
        SeenFolder& folder = seen[std::string(name)];
        const std::string_view file = std::string_view(object.key).substr(name == "." ? 0 : name.size() + 1);
        const std::vector<std::string_view> inside = componentsOf(splitKey(file).folder);
        const bool isUnfinished = (name != "." && isUnfinishedName(splitKey(name).file))
            || std::any_of(inside.begin(), inside.end(), isUnfinishedName);
        (isUnfinished ? folder.unfinished : folder.files).push_back(file);
        folder.changedUs = std::max(folder.changedUs, object.modifiedUs);
        folder.state += fmt::format("{} {}\n", object.key, object.identity);
    }
    std::vector<FoundFolder> found;
    for (const auto& [name, folder] : seen) {
        FoundFolder out { name, stepInName(splitKey(name).file).value_or(-1), {}, {}, folder.changedUs, folder.state,
                          false };
        if (judge(folder, out))
            found.push_back(std::move(out));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const FoundFolder& a, const FoundFolder& b) { return a.number < b.number; });
    return found;
}

std::string describeFound(const std::vector<FoundFolder>& folders)
{
    std::vector<std::pair<std::string_view, std::vector<std::string>>> reasons; // the newest first
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
        const auto known = std::find_if(reasons.begin(), reasons.end(),
                                        [&](const auto& reason) { return reason.first == folder->why; });
        auto& names = known == reasons.end() ? reasons.emplace_back(folder->why, std::vector<std::string>()).second
                                             : known->second;
        names.push_back(folder->name == "." ? "the folder itself" : folder->name);
    }
    std::string text;
    for (const auto& [why, names] : reasons)
        text +=
            fmt::format("{}{}{} {}", text.empty() ? "" : "; ", namesText(names), names.size() > 1 ? ": each" : "", why);
    return text;
}

std::string namesText(const std::vector<std::string>& names)
{
    const std::size_t shown = std::min(names.size(), MostNamed);
    std::string text =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    return names.size() > shown ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

} // namespace deltascope
