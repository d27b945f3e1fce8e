#include "format/grail/grail_layout.h"

#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/hash_tree.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/common/packed_header.h"
#include "format/common/pair_stream.h"
#include "format/common/quote_name.h"
#include "format/common/read_chunks.h"
#include "format/common/step_folders.h"
#include "format/common/strict_json.h"
#include "format/grail/grail_metadata.h"
#include "format/grail/grail_old_payload.h"
#include "format/grail/grail_payload.h"
#include "format/hf/checkpoint_index.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace deltascope {

namespace {

constexpr std::string_view FolderStart = "checkpoint-";
constexpr std::string_view ReadyStart = "READY-";
constexpr std::string_view DeltaFolder = "DELTA";
constexpr std::string_view FullFolder = "FULL";
constexpr std::string_view PayloadName = "delta_sparse.bin.zst";
constexpr std::string_view DeltaMetadataName = "delta_metadata.json";

struct GrailDetail final : LayoutDetail {
    std::shared_ptr<UnpackedObject> packed; ///< the payload; null for plain safetensors and full versions
    std::vector<GrailMetadata::File> files;
    bool isOld = false; ///< a payload of pairs
};

/// "root/checkpoint-2700/DELTA/metadata.json"
struct WindowKey {
    std::string_view root;
    std::string_view folder; ///< of the window, with the root
    std::string_view inside; ///< "DELTA", "FULL", or empty for objects of the window itself
    std::string_view file;
    std::int64_t window = 0;
};

std::optional<WindowKey> parseKey(std::string_view key)
{
    if (beside::holds(key))
        return std::nullopt;
    const SplitKey file = splitKey(key);
    SplitKey folder = splitKey(file.folder);
    std::string_view inside;
    std::string_view windowFolder = file.folder;
    if (folder.file == DeltaFolder || folder.file == FullFolder) {
        inside = folder.file;
        windowFolder = folder.folder;
        folder = splitKey(folder.folder);
    }
    if (!folder.file.starts_with(FolderStart))
        return std::nullopt;
    const std::optional<std::int64_t> window = parseNumber(folder.file.substr(FolderStart.size()));
    if (!window)
        return std::nullopt;
    return WindowKey { folder.folder, windowFolder, inside, file.file, *window };
}

bool isReadyMarker(const WindowKey& key) { return key.inside.empty() && key.file.starts_with(ReadyStart); }

/// Whether an object tells a window of grail from a trainer's checkpoint-N.
bool isTelling(const WindowKey& key)
{
    return isReadyMarker(key) || (key.inside != FullFolder && isOldGrailPayload(key.file))
        || (key.inside == DeltaFolder && key.file == PayloadName);
}

std::optional<std::string_view> rootOf(const std::vector<ObjectInfo>& listing)
{
    std::optional<std::string_view> root;
    for (const ObjectInfo& object : listing) {
        const std::optional<WindowKey> key = parseKey(object.key);
        if (key && isTelling(*key) && (!root || isBetterRoot(key->root, *root)))
            root = key->root;
    }
    return root;
}

struct Window {
    std::int64_t number = 0;
    std::vector<ObjectInfo> markers;
    std::vector<ObjectInfo> delta;
    std::vector<ObjectInfo> full;
};

VersionObjects formOf(std::int64_t window, std::string name, std::vector<ObjectInfo> objects,
                      const std::vector<ObjectInfo>& markers)
{
    VersionObjects form;
    form.step = window;
    form.name = std::move(name);
    form.objects = std::move(objects);
    form.objects.insert(form.objects.end(), markers.begin(), markers.end());
    sortByKey(form.objects);
    return form;
}

bool isReady(const VersionObjects& version)
{
    return std::any_of(version.objects.begin(), version.objects.end(), [](const ObjectInfo& object) {
        const std::optional<WindowKey> key = parseKey(object.key);
        return key && isReadyMarker(*key);
    });
}

Result<VersionIndex> readFull(const ObjectStore& store, const VersionObjects& version, TaskContext& task)
{
    DS_TRY(GrailMetadata metadata, readGrailMetadata(store, version, version.name, task));
    DS_TRY(VersionIndex out, readCheckpointIndex(store, version, version.name, task));
    out.stateDigest = std::move(metadata.weights);
    auto detail = std::make_shared<GrailDetail>();
    detail->files = std::move(metadata.files);
    out.hasChecksums = !detail->files.empty();
    out.detail = std::move(detail);
    return out;
}

/// The object of the payload, and whether it is one of pairs.
struct PayloadObject {
    std::uint32_t object = 0;
    bool isOld = false;
};

Result<PayloadObject> findPayload(const VersionObjects& version)
{
    if (const auto object = objectIndex(version, joinKey(version.name, PayloadName)))
        return PayloadObject { *object, false };
    for (std::uint32_t i = 0; i < version.objects.size(); ++i) {
        if (isOldGrailPayload(splitKey(version.objects[i].key).file))
            return PayloadObject { i, true };
    }
    return fail(missingFile(version.name, PayloadName));
}

void noteClaims(const nlohmann::json& metadata, const VersionObjects& version, VersionIndex& out)
{
    const std::optional<std::uint64_t> stored = memberNumber(metadata, "nonzero_params");
    if (stored && *stored != out.storedElements())
        out.notes.push_back(
            Error { Code::Claim,
                    fmt::format("nonzero_params says {}, but the payload holds {}", *stored, out.storedElements()),
                    joinKey(version.name, DeltaMetadataName),
                    version.step,
                    {} });
}

Result<VersionIndex> readDelta(const ObjectStore& store, const VersionObjects& version, TaskContext& task)
{
    DS_CHECK(task.checkpoint());
    VersionIndex out;
    auto detail = std::make_shared<GrailDetail>();
    DS_TRY(GrailMetadata metadata, readGrailMetadata(store, version, version.name, task));
    DS_TRY(const PayloadObject payload, findPayload(version));
    detail->isOld = payload.isOld;
    out.declaredBase = metadata.previous;
    if (payload.isOld) {
        DS_CHECK(readOldGrailPayload(store, version, payload.object, detail->packed, out, task));
    } else {
        DS_TRY(detail->packed, UnpackedObject::open(store, version.objects[payload.object], task));
        DS_TRY(out.tensors, readGrailPayload(*detail->packed, payload.object, task));
        out.encoding = "sparse_codec";
    }
    out.packed = detail->packed != nullptr;
    if (const auto object = objectIndex(version, joinKey(version.name, DeltaMetadataName))) {
        DS_TRY(const nlohmann::json extra,
               readStrictJson(store, version.objects[*object], "the delta's metadata", task));
        noteClaims(extra, version, out);
        if (!payload.isOld && !memberText(extra, "format").empty())
            out.encoding = memberText(extra, "format");
    }
    if (!out.declaredBase || *out.declaredBase >= version.step)
        return fail(Code::Malformed, "does not name an older window that it builds on",
                    joinKey(version.name, GrailMetadata::FileName));
    out.stateDigest = std::move(metadata.weights);
    detail->files = std::move(metadata.files);
    out.hasChecksums = !detail->files.empty();
    out.detail = std::move(detail);
    sortByName(out.tensors);
    if (const TensorEntry* twice = firstDuplicate(out.tensors))
        return fail(Code::DuplicateName, fmt::format("the payload has {} twice", quoteName(twice->name())),
                    version.name);
    return out;
}

Result<std::string> sha256Of(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    const std::unique_ptr<StreamingDigest> digest = makeSha256();
    DS_CHECK(readChunks(store, object.key, 0, object.sizeBytes, task, [&](ByteSpan chunk) { digest->update(chunk); }));
    return digest->hex();
}

}

Result<bool> GrailLayout::recognizes(const ObjectStore&, const std::vector<ObjectInfo>& listing, TaskContext&) const
{
    return rootOf(listing).has_value();
}

std::vector<VersionObjects> GrailLayout::group(const std::vector<ObjectInfo>& listing) const
{
    const std::optional<std::string_view> root = rootOf(listing);
    std::map<std::string_view, Window> windows; // by folder
    for (const ObjectInfo& object : listing) {
        const std::optional<WindowKey> key = parseKey(object.key);
        if (!key || key->root != root)
            continue;
        Window& window = windows[key->folder];
        window.number = key->window;
        if (isReadyMarker(*key))
            window.markers.push_back(object);
        else
            (key->inside == FullFolder ? window.full : window.delta).push_back(object);
    }
    std::vector<VersionObjects> out;
    for (auto& [folder, window] : windows) {
        const bool inFolder = std::any_of(window.delta.begin(), window.delta.end(), [](const ObjectInfo& object) {
            return parseKey(object.key)->inside == DeltaFolder;
        });
        VersionObjects full = formOf(window.number, joinKey(folder, FullFolder), window.full, window.markers);
        if (window.delta.empty()) {
            out.push_back(std::move(full));
            continue;
        }
        VersionObjects delta = formOf(window.number, inFolder ? joinKey(folder, DeltaFolder) : std::string(folder),
                                      std::move(window.delta), window.markers);
        if (!window.full.empty())
            delta.otherForms.push_back(std::move(full));
        out.push_back(std::move(delta));
    }
    return onePerStep(std::move(out));
}

Result<VersionIndex> GrailLayout::index(const ObjectStore& store, const VersionObjects& version,
                                        TaskContext& task) const
{
    if (!isReady(version))
        return fail(Code::Unfinished, "has no READY marker: publication not finished", version.name);
    return splitKey(version.name).file == FullFolder ? readFull(store, version, task) : readDelta(store, version, task);
}

Result<std::unique_ptr<PatchStream>> GrailLayout::open(const ObjectStore& store, const VersionObjects& version,
                                                       const VersionIndex& index, const TensorEntry& entry,
                                                       const TensorInfo& target, const StreamOptions& options) const
{
    if (index.full)
        return openFullTensor(store, version, entry, target, options);
    const auto& detail = static_cast<const GrailDetail&>(*index.detail);
    if (detail.packed)
        DS_CHECK(detail.packed->unpack(options.scratchFolder, *options.task));
    if (detail.isOld)
        return openOldGrailEntry(store, version, detail.packed, index, entry, target, options);
    return openGrailEntry(detail.packed, entry, target, options);
}

Result<void> GrailLayout::checkPayload(const ObjectStore& store, const VersionObjects& version,
                                       const VersionIndex& index, TaskContext& task) const
{
    for (const GrailMetadata::File& file : static_cast<const GrailDetail&>(*index.detail).files) {
        const ObjectInfo& object = version.objects.at(file.object);
        DS_TRY(const std::string actual, sha256Of(store, object, task));
        if (actual != file.sha256)
            return fail(Code::Digest,
                        fmt::format("its bytes have SHA-256 {}, the file_manifest records {}", actual, file.sha256),
                        object.key);
    }
    return {};
}

std::uint64_t GrailLayout::checkedBytes(const VersionObjects& version, const VersionIndex& index) const
{
    std::uint64_t bytes = 0;
    for (const GrailMetadata::File& file : static_cast<const GrailDetail&>(*index.detail).files)
        bytes += version.objects.at(file.object).sizeBytes;
    return bytes;
}

} // namespace deltascope
