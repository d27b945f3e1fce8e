#include "unread_weights.h"

#include "deltascope/engine/beside_keys.h"
#include "format/common/checkpoint_folders.h"
#include "format/common/checkpoint_names.h"
#include "format/common/found_folders.h"
#include "format/common/object_names.h"
#include "format/hf/checkpoint_index.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace deltascope {

namespace {

enum class Form : std::uint8_t { Model, Adapter, Distributed };

std::string_view wordsFor(Form form)
{
    constexpr std::string_view Words[] = { "a whole model", "an adapter", "a distributed checkpoint" };
    return Words[static_cast<std::size_t>(form)];
}

std::optional<Form> formOf(std::string_view file)
{
    if (file == CheckpointFileName || file == CheckpointIndexName || isShardName(file))
        return Form::Model;
    if (file == "adapter_model.safetensors")
        return Form::Adapter;
    return file.ends_with(".distcp") ? std::optional(Form::Distributed) : std::nullopt;
}

/// Folders that hold weights; one with a model and an adapter in it counts as a model.
using WeightFolders = std::map<std::string_view, Form>;

WeightFolders weightFoldersOf(const std::vector<ObjectInfo>& listing)
{
    WeightFolders folders;
    for (const ObjectInfo& object : listing) {
        const SplitKey key = splitKey(object.key);
        const std::optional<Form> form = beside::holds(object.key) ? std::nullopt : formOf(key.file);
        if (!form)
            continue;
        Form& known = folders.try_emplace(key.folder, *form).first->second;
        known = std::min(known, *form);
    }
    return folders;
}

/// What a run and those beside it make of the folders.
class ReadFolders {
public:
    ReadFolders(const Run& run, const std::vector<CandidateRun>& candidates)
        : m_holdsAdapters(run.layout->holdsAdapters())
    {
        for (const Version& version : run.versions) {
            add(version.objects);
            const std::string_view step = stepFolderOf(version.objects.name, version.step());
            if (step.empty())
                continue;
            m_stepFolders.insert(step);
            m_steps.insert(version.step());
        }
        for (const CandidateRun& candidate : candidates) {
            for (const VersionObjects& version : candidate.versions)
                add(version);
        }
    }

    bool hasSteps() const { return !m_steps.empty(); }

    bool know(std::string_view folder, Form form, const WeightFolders& all) const
    {
        const std::vector<std::string_view> components = componentsOf(folder);
        const bool isKept = (form == Form::Adapter) == m_holdsAdapters;
        if (components.empty() || m_read.contains(folder)
            || std::any_of(components.begin(), components.end(),
                           [](std::string_view part) { return isUnfinishedName(part) || namesOtherModel(part); }))
            return true;
        for (std::string_view above = folder; !above.empty(); above = splitKey(above).folder) {
            if (m_stepFolders.contains(above))
                return isKept;
        }
        const std::string_view step = stepFolderOf(folder);
        if (!step.empty())
            return isKept && m_steps.contains(*stepInName(splitKey(step).file));
        return std::any_of(m_stepFolders.begin(), m_stepFolders.end(), [&](std::string_view each) {
            return all.contains(joinKey(each, folder)); // a part of each model
        });
    }

private:
    void add(const VersionObjects& version)
    {
        m_read.insert(version.name);
        for (const Error& note : version.notes) // they name what they speak of
            m_read.insert(note.where);
        for (const VersionObjects& form : version.otherForms)
            m_read.insert(form.name);
    }

    const bool m_holdsAdapters;
    std::set<std::string_view> m_read;
    std::set<std::string_view> m_stepFolders;
    std::set<std::int64_t> m_steps;
};

}

void noteUnreadWeights(Run& run, const std::vector<CandidateRun>& candidates, const std::vector<ObjectInfo>& listing)
{
    if (!run.layout->standAlone())
        return;
    const ReadFolders read(run, candidates);
    if (!read.hasSteps())
        return;
    const WeightFolders all = weightFoldersOf(listing);
    std::vector<std::string> names;
    std::string_view first;
    for (const auto& [folder, form] : all) {
        if (read.know(folder, form, all))
            continue;
        first = names.empty() ? folder : first;
        names.push_back(fmt::format("{} ({})", folder, wordsFor(form)));
    }
    if (!names.empty())
        run.sourceNotices.push_back(
            Error { Code::Stray,
                    fmt::format("beside the steps of this run lie weights that are not read: {}", namesText(names)),
                    std::string(first),
                    {},
                    fmt::format("Open the folder {} to read {}.", first,
                                names.size() == 1 ? "it" : "the first of them, or another one in the same way") });
}

} // namespace deltascope
