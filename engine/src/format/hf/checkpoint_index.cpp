#include "format/hf/checkpoint_index.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/in_order.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"
#include "format/common/shard_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>

namespace deltascope {

namespace {

/// Whether a data file may be one of a model: neither an adapter, which says so itself, nor the state of an optimizer.
bool mayHoldModel(std::string_view file)
{
    return isDataFile(file) && !file.starts_with('.') && !file.starts_with("adapter_") && !file.starts_with("optimizer")
        && !file.starts_with("scheduler") && !file.starts_with("random_states");
}

Error secondModel(const VersionObjects& version, std::string key, std::string text)
{
    return Error { Code::TwoModels, std::move(text), std::move(key), version.step, {} };
}

/// What to say of a file of tensors beside an index that does not name it, where its name is not that of a shard.
Error besideIndex(const VersionObjects& version, const ObjectInfo& object)
{
    const std::string_view file = splitKey(object.key).file;
    if (file == CheckpointFileName)
        return secondModel(
            version, object.key,
            fmt::format("the folder holds two models: {} and the files of the index. Deltascope reads the "
                        "files of the index, as vLLM and SGLang do; transformers reads {}",
                        file, file));
    return secondModel(
        version, object.key,
        fmt::format("the index does not name {}, which holds tensors. Deltascope does not read it, nor do "
                    "transformers and vLLM; a reader that takes every file of the folder does",
                    file));
}

/// What to say of the other files of tensors in a folder without an index.
std::vector<Error> besideSingleFile(const VersionObjects& version, std::string_view folder)
{
    std::vector<Error> notes;
    for (const ObjectInfo& object : version.objects) {
        const SplitKey key = splitKey(object.key);
        if (key.folder == folder && key.file != CheckpointFileName && mayHoldModel(key.file))
            notes.push_back(secondModel(
                version, object.key,
                fmt::format(
                    "{} lies beside {} in a folder without an index. Deltascope reads {} alone, as transformers "
                    "does; vLLM and SGLang read every file of tensors in the folder",
                    key.file, CheckpointFileName, CheckpointFileName)));
    }
    return notes;
}

Result<VersionIndex> readSingleFile(const ObjectStore& store, const VersionObjects& version, std::string_view folder,
                                    std::uint32_t object, TaskContext& task)
{
    DS_TRY(SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[object], task));
    VersionIndex index = fullIndexOf(std::move(header), object);
    std::vector<Error> beside = besideSingleFile(version, folder);
    std::move(beside.begin(), beside.end(), std::back_inserter(index.notes));
    return index;
}

/// Tensors of one file that the index does not name.
struct Unlisted {
    std::string key;
    std::string first;
    std::size_t tensors = 0;
};

Error unlistedTensors(const VersionObjects& version, const Unlisted& unlisted)
{
    const bool one = unlisted.tensors == 1;
    return Error { Code::Unlisted,
                   fmt::format(
                       "the file holds {} tensor{} that the index does not name, {}{}: {} read, as transformers "
                       "and vLLM read whole files",
                       unlisted.tensors, one ? "" : "s", quoteName(unlisted.first), one ? "" : " first",
                       one ? "it is" : "they are"),
                   unlisted.key,
                   version.step,
                   {} };
}

/// The files of shards, where there is no index.
Error missingShards(const CountedShards& shards, std::string_view folder)
{
    const std::size_t missing = shards.missing.size();
    return Error { Code::Unfinished,
                   fmt::format("{} of its {} shards {} missing, and so is {}: {}", missing, shards.count,
                               missing == 1 ? "is" : "are", CheckpointIndexName, fmt::join(shards.missing, ", ")),
                   joinKey(folder, shards.missing.front()),
                   {},
                   "Wait if it is still being written, or copy what is missing from where it was saved." };
}

Result<VersionIndex> readShardsWithoutIndex(const ObjectStore& store, const VersionObjects& version,
                                            std::string_view folder, const CountedShards& shards, TaskContext& task)
{
    VersionIndex out;
    out.full = true;
    for (const std::string& file : shards.files) {
        DS_CHECK(task.checkpoint());
        const std::optional<std::uint32_t> object = objectIndex(version, joinKey(folder, file));
        DS_TRY(SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[*object], task));
        addFullTensors(header.takeTensors(), *object, out.tensors);
    }
    sortByName(out.tensors);
    if (const TensorEntry* const twice = firstDuplicate(out.tensors))
        return fail(Code::DuplicateName, fmt::format("{} is in two files of one checkpoint", quoteName(twice->name())),
                    std::string(folder));
    out.notes.push_back(Error {
        Code::Unlisted,
        fmt::format("{} is missing; all {} shards are there, and they are read", CheckpointIndexName, shards.count),
        joinKey(folder, CheckpointIndexName), version.step,
        "Write the index before other programs load the folder: materialize writes one." });
    return out;
}

Error withoutIndex(const VersionObjects& version, std::string_view folder, bool besideSingle)
{
    const auto shards = std::count_if(version.objects.begin(), version.objects.end(),
                                      [](const ObjectInfo& object) { return isShardName(splitKey(object.key).file); });
    if (besideSingle)
        return Error { Code::Unfinished,
                       fmt::format("{} is missing: {} and {} shard{} lie side by side, and nothing tells which of them "
                                   "is the model",
                                   CheckpointIndexName, CheckpointFileName, shards, shards == 1 ? "" : "s"),
                       joinKey(folder, CheckpointIndexName),
                       {},
                       "Wait if it is still being written, or move away what does not belong to it." };
    return Error { Code::Unfinished,
                   fmt::format("{} is missing, and the names of the {} shard{} that are there do not tell how many "
                               "there are",
                               CheckpointIndexName, shards, shards == 1 ? "" : "s"),
                   joinKey(folder, CheckpointIndexName),
                   {},
                   "Wait if it is still being written, or copy the index from where it was saved." };
}

Error missingFiles(std::string_view folder, const std::vector<std::string_view>& files, std::size_t all)
{
    if (files.size() == 1)
        return missingFile(folder, files.front());
    return Error { Code::Unfinished,
                   fmt::format("incomplete: {} of the {} files that the index names do not exist: {}", files.size(),
                               all, fmt::join(files, ", ")),
                   joinKey(folder, files.front()),
                   {},
                   {} };
}

} // namespace

Error missingFile(std::string_view folder, std::string_view file)
{
    return Error { Code::Unfinished,
                   fmt::format("incomplete: the index names {}, which does not exist", file),
                   joinKey(folder, file),
                   {},
                   {} };
}

Error unmappedFile(const ObjectStore& store, const ObjectInfo& object, const IndexJson& index, TaskContext& task)
{
    if (const Result<SafetensorsHeader> header = SafetensorsHeader::read(store, object, task)) {
        for (const StoredTensor& stored : header->tensors()) {
            if (index.weightMap.find(stored.info.name) != index.weightMap.end())
                continue;
            return Error { Code::MissingTensor,
                           fmt::format("the file holds {}, which the index does not name: it is not read, and what is "
                                       "rebuilt lacks it",
                                       quoteName(stored.info.name)),
                           object.key,
                           {},
                           {} };
        }
    }
    return Error { Code::Stray, "the index does not name this data file; it is not read", object.key, {}, {} };
}

bool isShardName(std::string_view file) noexcept
{
    constexpr std::string_view Start = "model-";
    constexpr std::string_view End = ".safetensors";
    if (file.size() <= Start.size() + End.size() || file.substr(0, Start.size()) != Start
        || file.substr(file.size() - End.size()) != End)
        return false;
    const char first = file[Start.size()];
    return first >= '0' && first <= '9';
}

Result<VersionIndex> readShardedIndex(const ObjectStore& store, const VersionObjects& version, std::string_view folder,
                                      const IndexJson& index, TaskContext& task,
                                      const std::function<void(const SafetensorsHeader&)>& seen)
{
    const std::set<std::string_view> files(index.files.begin(), index.files.end());

    std::vector<std::string_view> missing;
    std::copy_if(files.begin(), files.end(), std::back_inserter(missing),
                 [&](std::string_view file) { return !objectIndex(version, joinKey(folder, file)); });
    if (!missing.empty())
        return fail(missingFiles(folder, missing, files.size()));

    VersionIndex out;
    out.full = true;
    std::vector<std::string> strays; ///< tensors in another file than the map says
    for (const std::string_view file : files) {
        DS_CHECK(task.checkpoint());
        const std::string key = joinKey(folder, file);
        const std::optional<std::uint32_t> object = objectIndex(version, key);
        DS_TRY(const SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[*object], task));
        if (seen)
            seen(header);
        InOrder names(index.weightMap);
        Unlisted unlisted { key, {}, 0 };
        for (const StoredTensor& stored : header.tensors()) {
            const auto* const mapped = names.find(stored.info.name);
            if (!mapped && unlisted.tensors++ == 0)
                unlisted.first = stored.info.name;
            if (!mapped || index.files[mapped->second] == file)
                out.tensors.push_back(fullTensorEntry(stored, *object));
            else
                strays.push_back(stored.info.name);
        }
        if (unlisted.tensors > 0)
            out.notes.push_back(unlistedTensors(version, unlisted));
    }
    for (const ObjectInfo& object : version.objects) {
        const SplitKey key = splitKey(object.key);
        if (key.folder != folder || files.contains(key.file))
            continue;
        if (isShardName(key.file))
            out.notes.push_back(atStep(unmappedFile(store, object, index, task), version.step));
        else if (mayHoldModel(key.file))
            out.notes.push_back(besideIndex(version, object));
    }
    sortByName(out.tensors);
    for (const auto& [name, file] : index.weightMap) {
        if (!out.find(name)) {
            return fail(Code::Malformed,
                        fmt::format("the index says that it holds {}, but it does not", quoteName(name)),
                        joinKey(folder, index.files[file]));
        }
    }
    if (const TensorEntry* const twice = firstDuplicate(out.tensors))
        strays.push_back(twice->name());
    if (!strays.empty()) {
        return fail(Code::DuplicateName, fmt::format("{} is in two files of one checkpoint", quoteName(strays.front())),
                    joinKey(folder, CheckpointIndexName));
    }
    return out;
}

Result<VersionIndex> readCheckpointIndex(const ObjectStore& store, const VersionObjects& version,
                                         std::string_view folder, TaskContext& task)
{
    const std::optional<std::uint32_t> indexObject = objectIndex(version, joinKey(folder, CheckpointIndexName));
    if (indexObject) {
        DS_TRY(const IndexJson index, readIndexJson(store, version.objects[*indexObject], task));
        if (index.isDelta()) {
            return fail(Code::Unsupported, "the folder holds a delta, not a checkpoint",
                        version.objects[*indexObject].key, "open the folder above it, which holds the chain");
        }
        return readShardedIndex(store, version, folder, index, task);
    }
    const bool hasShards = std::any_of(version.objects.begin(), version.objects.end(),
                                       [](const ObjectInfo& object) { return isShardName(splitKey(object.key).file); });
    const std::optional<std::uint32_t> single = objectIndex(version, joinKey(folder, CheckpointFileName));
    if (single && !hasShards)
        return readSingleFile(store, version, folder, *single, task);
    if (const std::optional<CountedShards> shards = countShards(version, folder); shards && !single) {
        if (!shards->missing.empty())
            return fail(missingShards(*shards, folder));
        return readShardsWithoutIndex(store, version, folder, *shards, task);
    }
    return fail(withoutIndex(version, folder, single.has_value()));
}

} // namespace deltascope
