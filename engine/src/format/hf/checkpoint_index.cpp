#include "format/hf/checkpoint_index.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/in_order.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

Result<VersionIndex> readSingleFile(const ObjectStore& store, const VersionObjects& version, std::uint32_t object,
                                    TaskContext& task)
{
    DS_TRY(SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[object], task));
    return fullIndexOf(std::move(header), object);
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

    VersionIndex out;
    out.full = true;
    std::vector<std::string> strays; ///< tensors in another file than the map says
    for (const std::string_view file : files) {
        DS_CHECK(task.checkpoint());
        const std::string key = joinKey(folder, file);
        const std::optional<std::uint32_t> object = objectIndex(version, key);
        if (!object)
            return fail(missingFile(folder, file));
        DS_TRY(const SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[*object], task));
        if (seen)
            seen(header);
        InOrder names(index.weightMap);
        for (const StoredTensor& stored : header.tensors()) {
            const auto* const mapped = names.find(stored.info.name);
            if (!mapped)
                return fail(Code::Hostile,
                            fmt::format("holds {}, which the index does not name", quoteName(stored.info.name)), key);
            if (index.files[mapped->second] == file)
                out.tensors.push_back(fullTensorEntry(stored, *object));
            else
                strays.push_back(stored.info.name);
        }
    }
    for (const ObjectInfo& object : version.objects) {
        const SplitKey key = splitKey(object.key);
        if (key.folder == folder && isShardName(key.file) && !files.contains(key.file))
            out.notes.push_back(atStep(unmappedFile(store, object, index, task), version.step));
    }
    sortByName(out.tensors);
    for (const auto& [name, file] : index.weightMap) {
        if (!out.find(name)) {
            return fail(Code::Hostile, fmt::format("the index says that it holds {}, but it does not", quoteName(name)),
                        joinKey(folder, index.files[file]));
        }
    }
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
        return readSingleFile(store, version, *single, task);
    return fail(Code::Unfinished,
                fmt::format("data files without {}: the checkpoint is not written to its end", CheckpointIndexName),
                std::string(folder));
}

} // namespace deltascope
