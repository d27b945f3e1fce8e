#include "publish/unread_folders.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>

namespace deltascope {

namespace {

constexpr std::string_view HowToName =
    "publish takes folders called checkpoint-N that hold model.safetensors, or its shards with their index";
constexpr std::size_t MostNamed = 5;

/// Files of a folder, relative to it, and what they amount to.
struct SeenFolder {
    std::vector<std::string_view> files;
    std::int64_t changedUs = 0;
    std::string state;
};

bool endsWithAny(std::string_view text, std::initializer_list<std::string_view> ends)
{
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

std::string_view fileOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool isAdapter(std::string_view file) { return file.starts_with("adapter_model"); }
bool isDistributed(std::string_view file) { return file == ".metadata" || file.ends_with(".distcp"); }
bool isTensors(std::string_view file) { return file.ends_with(".safetensors"); }
/// What trainers keep beside weights is not meant.
bool isPickledWeights(std::string_view file)
{
    constexpr std::string_view Beside[] = {
        "optimizer", "scheduler", "scaler", "rng_state", "training_args", "trainer"
    };
    return endsWithAny(file, { ".bin", ".pt", ".pth", ".ckpt" })
        && std::none_of(std::begin(Beside), std::end(Beside),
                        [&](std::string_view start) { return file.starts_with(start); });
}

template <class Test> std::string_view firstFile(const SeenFolder& folder, Test test)
{
    for (const std::string_view path : folder.files) {
        if (test(fileOf(path)))
            return path;
    }
    return {};
}

/// Fills in `why` and `remedy`; false if there is nothing to say about the folder.
bool judge(const SeenFolder& folder, UnreadFolder& out)
{
    out.remedy = HowToName;
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
    out.why = "holds no weights";
    out.isEmpty = true;
    return out.number >= 0;
}

std::int64_t checkpointNumberOf(std::string_view name)
{
    for (const std::string_view start : { std::string_view("checkpoint-"), std::string_view("step_") }) {
        if (name.starts_with(start))
            return parseNumber(name.substr(start.size())).value_or(-1);
    }
    return -1;
}

std::string namesText(const std::vector<std::string>& names)
{
    const std::size_t shown = std::min(names.size(), MostNamed);
    std::string text =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    return names.size() > shown ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

/// Names by reason and remedy, in the order in which reasons were met.
struct Reason {
    const UnreadFolder* first;
    std::vector<std::string> names;
};
std::vector<Reason> reasonsOf(const std::vector<UnreadFolder>& folders)
{
    std::vector<Reason> reasons;
    for (const UnreadFolder& folder : folders) {
        const std::string name = folder.name == "." ? "the folder itself" : folder.name;
        const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& reason) {
            return reason.first->why == folder.why && reason.first->remedy == folder.remedy;
        });
        if (known == reasons.end())
            reasons.push_back({ &folder, { name } });
        else
            known->names.push_back(name);
    }
    return reasons;
}

}

std::vector<UnreadFolder> unreadFolders(const std::vector<ObjectInfo>& listing, const Run& understood)
{
    std::set<std::string, std::less<>> read;
    for (const Version& version : understood.versions)
        read.insert(version.objects.name.substr(0, version.objects.name.find('/')));
    std::map<std::string, SeenFolder, std::less<>> seen;
    for (const ObjectInfo& object : listing) {
        const std::string_view key = object.key;
        const std::size_t slash = key.find('/');
        const std::string_view name = slash == std::string_view::npos ? "." : key.substr(0, slash);
        if ((name != "." && name.starts_with('.')) || name.starts_with("tmp-") || read.contains(name))
            continue;
        SeenFolder& folder = seen[std::string(name)];
        folder.files.push_back(key.substr(slash + 1)); // npos + 1 is 0
        folder.changedUs = std::max(folder.changedUs, object.modifiedUs);
        folder.state += fmt::format("{} {}\n", object.key, object.identity);
    }
    std::vector<UnreadFolder> unread;
    for (const auto& [name, folder] : seen) {
        UnreadFolder out { name, checkpointNumberOf(name), {}, {}, folder.changedUs, folder.state, false };
        if (name != "." && judge(folder, out))
            unread.push_back(std::move(out));
    }
    std::stable_sort(unread.begin(), unread.end(),
                     [](const UnreadFolder& a, const UnreadFolder& b) { return a.number < b.number; });
    const auto itself = seen.find(".");
    const bool rootIsRead = read.contains(".");
    if (unread.empty() && read.size() == (rootIsRead ? 1U : 0U) && (rootIsRead || itself != seen.end())) {
        UnreadFolder out { ".", -1, {}, {}, 0, ".", false };
        if (rootIsRead) {
            out.why = "is a checkpoint, and holds none";
            out.remedy = "watch the folder above it, or publish it with --from and --to";
            unread.push_back(std::move(out));
        } else if (out.changedUs = itself->second.changedUs; judge(itself->second, out)) {
            out.state = itself->second.state;
            unread.push_back(std::move(out));
        }
    }
    return unread;
}

std::vector<UnreadReport::News> UnreadReport::take(const std::vector<UnreadFolder>& settled)
{
    std::vector<UnreadFolder> fresh;
    std::map<std::string, std::string> states;
    m_waits = false;
    for (const UnreadFolder& folder : settled) {
        const auto before = m_states.find(folder.name);
        const bool same = before != m_states.end() && before->second == folder.state;
        const bool told = std::any_of(m_told.begin(), m_told.end(),
                                      [&](const UnreadFolder& known) { return known.name == folder.name; });
        states[folder.name] = folder.state;
        if (same && !told)
            fresh.push_back(folder);
        m_waits = m_waits || (!same && !told);
    }
    m_states = std::move(states);
    std::vector<News> news;
    for (Reason& reason : reasonsOf(fresh))
        news.push_back({ std::move(reason.names),
                         fmt::format("not published, it {}; {}", reason.first->why, reason.first->remedy) });
    m_told.insert(m_told.end(), fresh.begin(), fresh.end());
    return news;
}

std::vector<std::string> UnreadReport::namesOfCheckpoints() const
{
    std::vector<std::string> names;
    for (const UnreadFolder& folder : m_told) {
        if (folder.number >= 0)
            names.push_back(folder.name);
    }
    return names;
}

Result<void> UnreadReport::outcome(const std::string& where, bool nothingElse) const
{
    std::vector<UnreadFolder> failed = m_told;
    if (!nothingElse)
        std::erase_if(failed, [](const UnreadFolder& folder) { return folder.number < 0; });
    if (failed.empty())
        return {};
    std::string text;
    for (const Reason& reason : reasonsOf(failed))
        text += fmt::format("{}{} {} not published: {} {}", text.empty() ? "" : "; ", namesText(reason.names),
                            reason.names.size() == 1 ? "is" : "are", reason.names.size() == 1 ? "it" : "each",
                            reason.first->why);
    return fail(Code::Layout, std::move(text), where, failed.front().remedy);
}

} // namespace deltascope
