#include "format/foreign_publications.h"

#include "format/common/object_names.h"
#include "format/common/strict_json.h"

#include <algorithm>
#include <string_view>

namespace deltascope {

namespace {

constexpr std::size_t MostRead = 4; ///< small files

const ObjectInfo* findKey(const std::vector<const ObjectInfo*>& objects, std::string_view key)
{
    const auto found =
        std::find_if(objects.begin(), objects.end(), [&](const ObjectInfo* object) { return object->key == key; });
    return found == objects.end() ? nullptr : *found;
}

/// Manifests of the versions of Miles' gpu-delta: "READY.json" stands beside each (radixark/miles,
/// miles/utils/gpu_delta/publication.py at 261c5366).
bool isGpuDelta(const nlohmann::json& manifest)
{
    const char* const texts[] = { "codec", "stream_id", "publication_id" };
    return std::all_of(std::begin(texts), std::end(texts),
                       [&](const char* key) { return !memberText(manifest, key).empty(); })
        && memberNumber(manifest, "target_version") && memberNumber(manifest, "frame_bytes");
}

/// The ledger of a publisher of the hot-load contract (modal-projects/stitch): versions by their opaque names.
bool isHotLoadLedger(const nlohmann::json& ledger)
{
    const nlohmann::json& entries = member(ledger, "entries");
    return entries.is_object() && !entries.empty()
        && std::all_of(entries.begin(), entries.end(),
                       [](const nlohmann::json& entry) { return memberNumber(entry, "version").has_value(); });
}

/// Null for an object that is no such text.
Result<nlohmann::json> textOf(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    Result<nlohmann::json> text = readStrictJson(store, object, "it", task);
    if (text || !concernsOneObject(text.error().code))
        return text;
    return nlohmann::json();
}

}

Result<std::string> foreignPublication(const ObjectStore& store, const std::vector<const ObjectInfo*>& objects,
                                       TaskContext& task)
{
    std::size_t read = 0;
    for (const ObjectInfo* const object : objects) {
        const SplitKey key = splitKey(object->key);
        const bool isLedger = key.file == "identities.json";
        const ObjectInfo* const manifest =
            key.file == "READY.json" ? findKey(objects, joinKey(key.folder, "manifest.json")) : nullptr;
        if (!isLedger && !manifest)
            continue;
        if (++read > MostRead)
            break;
        DS_TRY(const nlohmann::json text, textOf(store, isLedger ? *object : *manifest, task));
        if (manifest && isGpuDelta(text))
            return std::string("Miles' gpu-delta, whose frames are made for decoders on a GPU");
        if (isLedger && isHotLoadLedger(text))
            return std::string(
                "snapshots of the hot-load contract (Fireworks, CoreWeave, stitch), where the request to "
                "load a delta names its codec, and no file does");
    }
    return std::string();
}

} // namespace deltascope
