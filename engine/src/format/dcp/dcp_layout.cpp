#include "format/dcp/dcp_layout.h"

#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/common/step_folders.h"
#include "format/dcp/chunk_stream.h"
#include "format/dcp/distcp_items.h"
#include "format/dcp/sharded_safetensors.h"
#include "format/dcp/sharding_info.h"
#include "format/hf/hf_layout.h"

#include <algorithm>
#include <map>

namespace deltascope {

namespace {

constexpr std::size_t MaxProbedFiles = 8;

bool endsWith(std::string_view text, std::string_view end) noexcept
{
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool isDistcp(std::string_view file) noexcept { return endsWith(file, ".distcp"); }

bool hasDistcp(const VersionObjects& version)
{
    return std::any_of(version.objects.begin(), version.objects.end(),
                       [](const ObjectInfo& object) { return isDistcp(splitKey(object.key).file); });
}

/// Data files without the file that is written last, or beside a file that says so.
std::optional<Error> unfinishedError(const VersionObjects& version)
{
    if (std::optional<Error> marked = markedUnfinished(version))
        return marked;
    if (hasDistcp(version) && !objectIndex(version, joinKey(folderOf(version), MetadataFileName)))
        return atStep(missingMetadata(version.name), version.step);
    return std::nullopt;
}

/// Leaves out what is unfinished and notes it at the newest version. Where nothing else is there, it stays.
std::vector<VersionObjects> withoutUnfinished(std::vector<VersionObjects> versions)
{
    const auto cut = std::stable_partition(versions.begin(), versions.end(),
                                           [](const VersionObjects& version) { return !unfinishedError(version); });
    if (cut == versions.begin())
        return versions;
    const auto newest = std::max_element(
        versions.begin(), cut, [](const VersionObjects& a, const VersionObjects& b) { return a.step < b.step; });
    for (auto unfinished = cut; unfinished != versions.end(); ++unfinished)
        newest->notes.push_back(*unfinishedError(*unfinished));
    versions.erase(cut, versions.end());
    return versions;
}

/// Whether trainers wrote each step as plain files, too, which other programs load: "actor/huggingface" beside
/// "actor/dist_ckpt".
bool liesBesidePlain(const std::vector<VersionObjects>& versions, const std::vector<VersionObjects>& plain)
{
    return !plain.empty() && std::all_of(versions.begin(), versions.end(), [&](const VersionObjects& version) {
        return std::any_of(plain.begin(), plain.end(), [&](const VersionObjects& other) {
            return other.step == version.step && other.name != version.name;
        });
    });
}

struct DcpDetail final : LayoutDetail {
    std::map<std::string, PlacedTensor, std::less<>> tensors; ///< those that do not lie in one extent as they are
    std::vector<StoredChecksum> stored;
};

VersionIndex indexOf(std::vector<PlacedTensor> tensors)
{
    auto detail = std::make_shared<DcpDetail>();
    VersionIndex out;
    out.full = true;
    for (PlacedTensor& tensor : tensors) {
        TensorEntry entry(tensor.info);
        entry.setStoredElements(tensor.info.elements());
        for (const PlacedChunk& chunk : tensor.chunks) {
            entry.extents.push_back(chunk.extent);
            if (chunk.stored.isRecorded())
                detail->stored.push_back(chunk.stored);
        }
        if (tensor.chunks.empty()) // no elements
            entry.extents.push_back({});
        if (!tensor.isPlain())
            detail->tensors.try_emplace(entry.name(), std::move(tensor));
        out.tensors.push_back(std::move(entry));
    }
    out.detail = std::move(detail);
    return out;
}

const std::vector<StoredChecksum>& storedOf(const VersionIndex& index)
{
    return static_cast<const DcpDetail&>(*index.detail).stored;
}

} // namespace

std::vector<VersionObjects> DcpLayout::group(const std::vector<ObjectInfo>& listing) const
{
    struct Folder {
        std::vector<ObjectInfo> objects;
        bool hasData = false;
    };
    std::map<std::string, Folder, std::less<>> folders;
    for (const ObjectInfo& object : listing) {
        const SplitKey key = splitKey(object.key);
        if (beside::holds(object.key) || endsWith(key.file, ".tmp"))
            continue;
        Folder& folder = folders[std::string(key.folder)];
        folder.hasData |= isDistcp(key.file) || isShardedFileName(key.file);
        folder.objects.push_back(object);
    }
    std::vector<std::string_view> checkpoints;
    for (const auto& [name, folder] : folders) {
        if (folder.hasData)
            checkpoints.push_back(name);
    }
    return onePerStep(withoutUnfinished(
        folderVersions(listing, chooseCheckpoints(checkpoints, m_searchDepth),
                       [&](const std::string& name) { return std::move(folders.find(name)->second.objects); })));
}

Result<bool> DcpLayout::recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                   TaskContext& task) const
{
    const std::vector<VersionObjects> versions = group(listing);
    if (versions.empty() || liesBesidePlain(versions, HfLayout(m_searchDepth).group(listing)))
        return false;
    if (std::any_of(versions.begin(), versions.end(), hasDistcp))
        return true;
    std::size_t probed = 0;
    for (const VersionObjects& version : versions) {
        for (const ObjectInfo& object : version.objects) {
            if (!isShardedFileName(splitKey(object.key).file) || ++probed > MaxProbedFiles)
                continue;
            DS_CHECK(task.checkpoint());
            const Result<SafetensorsHeader> header = SafetensorsHeader::read(store, object, task);
            if (header)
                return header->metadata().find(ShardingInfoKey) != header->metadata().end();
            if (!concernsOneObject(header.error().code))
                return fail(header.error());
        }
    }
    return true; // by its names; the files will be reported as broken
}

bool DcpLayout::indexReads(std::string_view key) const noexcept { return !isDistcp(key); }

Result<VersionIndex> DcpLayout::index(const ObjectStore& store, const VersionObjects& version, TaskContext& task) const
{
    if (std::optional<Error> marked = markedUnfinished(version))
        return fail(std::move(*marked));
    if (hasDistcp(version)) {
        DS_TRY(std::vector<PlacedTensor> tensors, readDistcpItems(store, version, folderOf(version), task));
        return indexOf(std::move(tensors));
    }
    DS_TRY(std::vector<PlacedTensor> tensors, readShardedSafetensors(store, version, task));
    return indexOf(std::move(tensors));
}

Result<void> DcpLayout::checkPayload(const ObjectStore& store, const VersionObjects& version, const VersionIndex& index,
                                     TaskContext& task) const
{
    return checkStored(store, version, storedOf(index), task);
}

std::uint64_t DcpLayout::checkedBytes(const VersionObjects&, const VersionIndex& index) const
{
    std::uint64_t bytes = 0;
    for (const StoredChecksum& recorded : storedOf(index))
        bytes += recorded.storage.bytes;
    return bytes;
}

Result<std::unique_ptr<PatchStream>> DcpLayout::open(const ObjectStore& store, const VersionObjects& version,
                                                     const VersionIndex& index, const TensorEntry& entry,
                                                     const TensorInfo& target, const StreamOptions& options) const
{
    const auto* detail = dynamic_cast<const DcpDetail*>(index.detail.get());
    if (!detail)
        return fail(Code::Internal, "the index was made by another layout", version.name);
    const auto chunks = detail->tensors.find(entry.name());
    if (chunks == detail->tensors.end())
        return openFullTensor(store, version, entry, target, options);
    DS_CHECK(checkTarget(entry, target, version.objects.at(entry.extents.front().object).key));
    return openChunks(store, version, chunks->second, options);
}

} // namespace deltascope
