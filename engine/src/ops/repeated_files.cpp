#include "repeated_files.h"

#include "format/common/step_folders.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace deltascope {

namespace {

/// The digest of one file in each version, in the order of versions; empty where it is not known.
using FileHistory = std::vector<std::string>;

std::string_view inVersion(const VersionObjects& version, std::string_view key)
{
    return key.starts_with(version.name) ? key.substr(version.name.size()) : key;
}

bool holdsTensors(std::string_view key) { return key.ends_with(".safetensors") || key.ends_with(".distcp"); }

/// Of the files with tensors, by their names within a version.
std::map<std::string, FileHistory, std::less<>> historiesOf(const Run& run,
                                                            const std::map<std::string, Records::KnownObject>& onRecord)
{
    std::map<std::string, FileHistory, std::less<>> files;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        if (folderOf(run.versions[i].objects).empty()) // the final model beside the checkpoints of its run: any of them
            continue;
        for (const ObjectInfo& object : run.versions[i].objects.objects) {
            const auto known = onRecord.find(object.key);
            if (!holdsTensors(object.key) || known == onRecord.end() || known->second.identity != object.identity)
                continue;
            FileHistory& history = files[std::string(inVersion(run.versions[i].objects, object.key))];
            history.resize(run.versions.size());
            history[i] = known->second.xxh3;
        }
    }
    return files;
}

/// The newest version before `at` with the same file.
std::optional<std::size_t> sameBefore(const FileHistory& history, std::size_t at)
{
    for (std::size_t i = at; i-- > 0 && !history[at].empty();) {
        if (history[i] == history[at])
            return i;
    }
    return std::nullopt;
}

/// How often a file moved, and stood still, from one version to the next, but for the last step to `except`.
struct Moves {
    std::size_t moved = 0;
    std::size_t still = 0;
};
Moves movesOf(const FileHistory& history, std::size_t except)
{
    Moves moves;
    for (std::size_t i = 1; i < history.size(); ++i) {
        if (i != except && !history[i].empty() && !history[i - 1].empty())
            ++(history[i] == history[i - 1] ? moves.still : moves.moved);
    }
    return moves;
}

struct Repeat {
    std::string_view file;
    std::size_t of = 0; ///< version
    Moves elsewhere;
};

std::vector<Repeat> repeatsAt(const std::map<std::string, FileHistory, std::less<>>& files, std::size_t at,
                              std::size_t& known)
{
    std::vector<Repeat> repeats;
    for (const auto& [file, history] : files) {
        known += history[at].empty() ? 0 : 1;
        if (const std::optional<std::size_t> same = sameBefore(history, at))
            repeats.push_back({ file, *same, movesOf(history, at) });
    }
    return repeats;
}

void noteRepeats(Run& run, std::size_t at, const std::vector<Repeat>& repeats, std::size_t files)
{
    constexpr std::size_t LeastIntervals = 2;
    VersionObjects& version = run.versions[at].objects;
    const auto stepOf = [&](const Repeat& repeat) { return run.versions[repeat.of].step(); };
    const auto isOfFirst = [&](const Repeat& repeat) { return repeat.of == repeats.front().of; };
    const bool isWhole = repeats.size() == files && std::all_of(repeats.begin(), repeats.end(), isOfFirst);
    if (isWhole) {
        const bool nothingMoved = repeats.front().of + 1 == at; // saved again, or the learning rate is zero
        const bool neverMoves = std::all_of(repeats.begin(), repeats.end(),
                                            [](const Repeat& repeat) { return repeat.elsewhere.moved == 0; });
        if (nothingMoved && neverMoves)
            return;
        version.notes.push_back(
            Error { nothingMoved ? Code::Repeated : Code::Reverted,
                    nothingMoved ? fmt::format("step {} has the files of step {}: nothing moved, or it was saved again",
                                               version.step, stepOf(repeats.front()))
                                 : fmt::format("step {} is the state of step {} again: a roll back or a stale snapshot",
                                               version.step, stepOf(repeats.front())),
                    version.name,
                    version.step,
                    {} });
        return;
    }
    for (const Repeat& repeat : repeats) {
        if (repeat.elsewhere.moved == 0) // frozen
            continue;
        const bool alwaysMoves = repeat.elsewhere.still == 0 && repeat.elsewhere.moved >= LeastIntervals;
        version.notes.push_back(
            Error { alwaysMoves ? Code::Reverted : Code::Repeated,
                    fmt::format("{} of step {} is that of step {}: {}",
                                repeat.file.substr(repeat.file.find_first_not_of('/')), version.step, stepOf(repeat),
                                alwaysMoves ? "its tensors moved in every other step, so it was not saved again"
                                            : "its tensors are frozen, or it was not saved again"),
                    version.name + std::string(repeat.file),
                    version.step,
                    {} });
    }
}

}

void noteRepeatedFiles(Run& run, const std::map<std::string, Records::KnownObject>& onRecord)
{
    if (!run.layout->standAlone())
        return;
    const auto files = historiesOf(run, onRecord);
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        std::erase_if(run.versions[i].objects.notes,
                      [](const Error& note) { return note.code == Code::Reverted || note.code == Code::Repeated; });
        std::size_t known = 0;
        const std::vector<Repeat> repeats = repeatsAt(files, i, known);
        if (!repeats.empty())
            noteRepeats(run, i, repeats, known);
    }
}

} // namespace deltascope
