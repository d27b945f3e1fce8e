#include "publish/unread_folders.h"

#include "format/common/checkpoint_folders.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

constexpr std::string_view HowToName =
    "publish takes folders whose name has a step (checkpoint-N, global_step_N, …) and that hold model.safetensors, or "
    "its shards with their index";

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

std::string checkpointLabel(const Version& version)
{
    const std::string_view folder = stepFolderOf(version.objects.name, version.step());
    return std::string(folder.empty() ? "." : folder);
}

std::vector<UnreadFolder> unreadFolders(const std::vector<ObjectInfo>& listing, const Run& understood)
{
    std::set<std::string, std::less<>> read;
    for (const Version& version : understood.versions) {
        read.insert(checkpointLabel(version));
        if (checkpointLabel(version) == ".")
            read.insert(version.objects.name.substr(0, version.objects.name.find('/')));
    }
    const bool rootIsRead = read.contains(".");
    const auto isRead = [&](const std::string& name) {
        return std::any_of(read.begin(), read.end(), [&](const std::string& label) {
            return label == name || label.starts_with(name + '/') || name.starts_with(label + '/');
        });
    };
    std::vector<UnreadFolder> unread = foundFolders(listing);
    std::erase_if(unread, [&](const UnreadFolder& folder) { return isRead(folder.name); });
    for (UnreadFolder& folder : unread) {
        const bool mayBeRead = folder.number >= 0 && folder.remedy.empty() && !folder.isEmpty;
        if (const Version* const same = mayBeRead ? understood.find(folder.number) : nullptr) {
            folder.why = fmt::format("has the number of {}, which is read", checkpointLabel(*same));
            folder.remedy = "keep one folder for each number";
        }
        folder.remedy = folder.remedy.empty() ? HowToName : folder.remedy;
    }
    const auto itself =
        std::find_if(unread.begin(), unread.end(), [](const UnreadFolder& folder) { return folder.name == "."; });
    const bool isAlone = unread.size() == (itself == unread.end() ? 0U : 1U)
        && std::all_of(understood.versions.begin(), understood.versions.end(),
                       [](const Version& version) { return checkpointLabel(version) == "."; });
    if (itself != unread.end() && !isAlone)
        unread.erase(itself);
    if (rootIsRead && isAlone)
        unread.push_back({ ".", -1, "is a checkpoint, and holds none",
                           "watch the folder above it, or publish it with --from and --to", 0, ".", false });
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
        news.push_back({ std::move(reason.names), "it " + reason.first->why, reason.first->remedy });
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
