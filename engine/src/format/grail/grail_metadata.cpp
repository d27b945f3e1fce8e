#include "format/grail/grail_metadata.h"

#include "format/common/object_names.h"
#include "format/common/quote_name.h"
#include "format/common/strict_json.h"
#include "format/hf/checkpoint_index.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

std::optional<std::int64_t> windowOf(const nlohmann::json& json, const char* key)
{
    const std::optional<std::uint64_t> number = memberNumber(json, key);
    if (!number || *number > INT64_MAX)
        return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

/// Writers changed the digest twice; its length tells the newest, the others have to be tried.
Result<StateDigest> weightsOf(const nlohmann::json& json, const std::string& key)
{
    using Form = StateDigestForm;
    StateDigest digest { memberText(json, "weights_hash"), {} };
    if (digest.hex.empty())
        return digest;
    if (digest.hex.size() == 32)
        digest.forms = { Form::Xxh3OfData };
    else if (digest.hex.size() == 64)
        digest.forms = { Form::Sha256OfNameTypeShapeAndData, Form::Sha256OfNameAndData };
    if (digest.forms.empty() || !isLowerHex(digest.hex))
        return fail(Code::Malformed, fmt::format("has no proper weights_hash: {}", quoteName(digest.hex)), key);
    return digest;
}

}

Result<GrailMetadata> readGrailMetadata(const ObjectStore& store, const VersionObjects& version,
                                        std::string_view folder, TaskContext& task)
{
    const std::string key = joinKey(folder, GrailMetadata::FileName);
    const std::optional<std::uint32_t> object = objectIndex(version, key);
    if (!object)
        return fail(missingFile(folder, GrailMetadata::FileName));
    DS_TRY(const nlohmann::json json, readStrictJson(store, version.objects[*object], "the metadata", task));
    GrailMetadata out;
    if (const auto window = windowOf(json, "window"); window && *window != version.step)
        return fail(misplaced(fmt::format("window {}", *window), version.step, key));
    out.previous = windowOf(json, "prev_window");
    if (!out.previous)
        out.previous = windowOf(json, "base_window"); // the first days
    DS_TRY(out.weights, weightsOf(json, key));
    const nlohmann::json& manifest = member(json, "file_manifest");
    if (!manifest.is_object())
        return fail(Code::Malformed, "has no file_manifest", key);
    for (const auto& [path, digest] : manifest.items()) {
        const std::optional<std::uint32_t> file = objectIndex(version, joinKey(folder, path));
        if (!file)
            return fail(Code::Unfinished,
                        fmt::format("incomplete: the file_manifest names {}, which does not exist", quoteName(path)),
                        std::string(folder));
        const std::string hex = digest.is_string() ? digest.get<std::string>() : std::string();
        if (hex.size() != hexDigits(DigestAlgorithm::Sha256) || !isLowerHex(hex))
            return fail(Code::Malformed, fmt::format("has no proper SHA-256 for {}", quoteName(path)), key);
        out.files.push_back(GrailMetadata::File { *file, hex });
    }
    return out;
}

} // namespace deltascope
