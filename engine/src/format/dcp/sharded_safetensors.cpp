#include "format/dcp/sharded_safetensors.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"
#include "format/dcp/sharding_info.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

namespace deltascope {

namespace {

struct ShardName {
    std::int64_t file = 0; ///< from 1
    std::int64_t files = 0; ///< of one rank
};

/// Takes `start` and the number behind it from the front of `text`.
bool takeNumbered(std::string_view& text, std::string_view start, std::int64_t& number)
{
    if (text.substr(0, start.size()) != start)
        return false;
    text.remove_prefix(start.size());
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::optional<std::int64_t> parsed = parseNumber(text.substr(0, digits));
    text.remove_prefix(digits);
    number = parsed.value_or(0);
    return parsed.has_value();
}

std::optional<ShardName> parseShardName(std::string_view file)
{
    std::int64_t rank = 0;
    ShardName name;
    const bool fits = takeNumbered(file, "shard-", rank) && takeNumbered(file, "-model-", name.file)
        && takeNumbered(file, "-of-", name.files) && file == ".safetensors";
    return fits ? std::optional(name) : std::nullopt;
}

/// A rank without a tensor in some file writes none, so only a number that no rank has is known to be missing.
Result<void> checkNumbers(const VersionObjects& version)
{
    std::set<std::int64_t> seen;
    std::optional<std::int64_t> files;
    for (const ObjectInfo& object : version.objects) {
        const auto name = parseShardName(splitKey(object.key).file);
        if (!name)
            continue;
        if (files && *files != name->files)
            return fail(
                Code::Malformed,
                fmt::format("its files belong to two checkpoints: \"of {}\" and \"of {}\"", *files, name->files),
                object.key);
        files = name->files;
        seen.insert(name->file);
    }
    if (!files || *seen.begin() != 1 || *seen.rbegin() != *files || static_cast<std::int64_t>(seen.size()) != *files)
        return fail(Code::Unfinished,
                    fmt::format("{} of the {} files of each rank are there", seen.size(), files.value_or(0)),
                    version.name);
    return {};
}

/// Adds the rectangle of one tensor in one file. The size of the tensor is where its rectangles end.
Result<void> addChunk(PlacedTensor& tensor, const StoredTensor& stored, const std::vector<std::uint64_t>& offsets,
                      std::uint32_t object)
{
    const std::string name = quoteName(stored.info.name);
    const std::size_t rank = stored.info.shape.size();
    if (bitsOf(stored.info.dtype) % 8 != 0)
        return fail(Code::Unsupported, fmt::format("tensor {} has elements smaller than a byte", name));
    if (offsets.size() != rank || tensor.info.shape.size() != rank || tensor.info.dtype != stored.info.dtype)
        return fail(Code::Malformed, fmt::format("the chunks of tensor {} do not fit together", name));
    for (std::size_t i = 0; i < rank; ++i) {
        const auto end = checkedAdd(offsets[i], stored.info.shape[i]);
        if (!end)
            return fail(Code::Malformed, fmt::format("a chunk of tensor {} has impossible offsets", name));
        tensor.info.shape[i] = std::max(tensor.info.shape[i], *end);
    }
    PlacedChunk chunk { { offsets, stored.info.shape },
                        denseStrides(stored.info.shape),
                        { object, stored.begin, stored.bytes } };
    if (!chunk.box.isEmpty())
        tensor.chunks.push_back(std::move(chunk));
    return {};
}

using TensorMap = std::map<std::string, PlacedTensor, std::less<>>;

Result<void> addFile(const SafetensorsHeader& header, std::uint32_t object, TensorMap& tensors)
{
    if (header.metadata().find(ShardingInfoKey) == header.metadata().end())
        return fail(Code::Malformed, fmt::format("it has no {} in its metadata", ShardingInfoKey));
    DS_TRY(const SavedOffsets offsets, parseShardingInfo(header.meta(ShardingInfoKey)));
    for (const StoredTensor& stored : header.tensors()) {
        const auto saved = offsets.find(stored.info.name);
        if (saved == offsets.end())
            return fail(Code::Malformed,
                        fmt::format("its {} does not name {}", ShardingInfoKey, quoteName(stored.info.name)));
        const auto [at, isNew] = tensors.try_emplace(stored.info.name);
        if (isNew)
            at->second.info = { stored.info.name, stored.info.dtype,
                                std::vector<std::uint64_t>(stored.info.shape.size()) };
        DS_CHECK(addChunk(at->second, stored, saved->second, object));
    }
    return {};
}

} // namespace

bool isShardedFileName(std::string_view file) noexcept { return parseShardName(file).has_value(); }

Result<std::vector<PlacedTensor>> readShardedSafetensors(const ObjectStore& store, const VersionObjects& version,
                                                         TaskContext& task)
{
    DS_CHECK(checkNumbers(version));
    TensorMap tensors;
    for (std::uint32_t i = 0; i < version.objects.size(); ++i) {
        const ObjectInfo& object = version.objects[i];
        if (!isShardedFileName(splitKey(object.key).file))
            continue;
        DS_CHECK(task.checkpoint());
        DS_TRY(const SafetensorsHeader header, SafetensorsHeader::read(store, object, task));
        if (Result<void> added = addFile(header, i, tensors); !added)
            return fail(added.error().code, added.error().text, object.key);
    }
    std::vector<PlacedTensor> out;
    for (auto& [name, tensor] : tensors) {
        std::vector<ChunkBox> boxes;
        for (const PlacedChunk& chunk : tensor.chunks)
            boxes.push_back(chunk.box);
        if (const auto size = checkedSize(tensor.info); !size)
            return fail(size.error().code, size.error().text, version.name);
        if (const auto tiled = checkTiling(tensor.info, boxes); !tiled)
            return fail(tiled.error().code, tiled.error().text, version.name);
        out.push_back(std::move(tensor));
    }
    return out;
}

} // namespace deltascope
