#include "format/trl_v2/trl_v2_layout.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"
#include "format/trl_v2/trl_v2_stream.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace deltascope {

namespace {

constexpr std::size_t MaxProbedHeaders = 8;
constexpr std::string_view FileStart = "step_";
constexpr std::string_view FileEnd = ".safetensors";
constexpr std::string_view IndexEnd = ".idx";
constexpr std::string_view ValueEnd = ".val";

/// "root/anchors/step_000010.safetensors"
struct StepFile {
    std::string_view root;
    bool inAnchors = false;
    std::int64_t step = 0;
};

std::optional<StepFile> parseKey(std::string_view key)
{
    if (isOwnKey(key))
        return std::nullopt;
    const SplitKey file = splitKey(key);
    const SplitKey folder = splitKey(file.folder);
    if (folder.file != "anchors" && folder.file != "deltas")
        return std::nullopt;
    if (file.file.size() < FileStart.size() + FileEnd.size() || file.file.substr(0, FileStart.size()) != FileStart
        || file.file.substr(file.file.size() - FileEnd.size()) != FileEnd)
        return std::nullopt;
    const std::string_view digits =
        file.file.substr(FileStart.size(), file.file.size() - FileStart.size() - FileEnd.size());
    const std::optional<std::int64_t> step = parseNumber(digits);
    if (!step || !isPadded(digits, 6))
        return std::nullopt;
    return StepFile { folder.folder, folder.file == "anchors", *step };
}

/// The folder that holds anchors/ and deltas/; nothing if there is none.
std::optional<std::string_view> rootOf(const std::vector<ObjectInfo>& listing)
{
    std::optional<std::string_view> root;
    for (const ObjectInfo& object : listing) {
        const std::optional<StepFile> file = parseKey(object.key);
        if (file && (!root || isBetterRoot(file->root, *root)))
            root = file->root;
    }
    return root;
}

bool isTrlV2(const SafetensorsHeader& header)
{
    return header.meta("format") == "sparse_weight_patch"
        && header.metadata().find("encoding") != header.metadata().end();
}

Result<bool> isFull(const SafetensorsHeader& header, const std::string& key)
{
    const std::string_view sparse = header.meta("sparse");
    if (sparse == "False" || sparse == "false")
        return true;
    if (sparse == "True" || sparse == "true")
        return false;
    return fail(Code::Hostile, fmt::format("does not say whether it is sparse (sparse = {})", quoteName(sparse)), key);
}

/// Positions in the form that the file's encoding word promises.
Result<TrlIndexForm> indexForm(std::string_view encoding, const StoredTensor& positions, const std::string& key)
{
    const Dtype dtype = positions.info.dtype;
    if (encoding == "raw" && dtype == Dtype::I32)
        return TrlIndexForm::Raw;
    if (encoding == "gap_delta" && dtype == Dtype::U16)
        return TrlIndexForm::Gap16;
    if (encoding == "gap_delta" && dtype == Dtype::U32)
        return TrlIndexForm::Gap32;
    if (encoding == "nvcomp_cascaded" && dtype == Dtype::U8)
        return TrlIndexForm::Nvcomp;
    if (encoding == "raw" || encoding == "gap_delta" || encoding == "nvcomp_cascaded") {
        return fail(Code::Hostile,
                    fmt::format("{} has element type {}, which encoding {} never uses", quoteName(positions.info.name),
                                word(dtype), encoding),
                    key);
    }
    return TrlIndexForm::Unknown;
}

Result<TensorEntry> pairEntry(std::string_view name, const StoredTensor& values, const StoredTensor& positions,
                              std::string_view encoding, const std::string& key)
{
    if (values.info.shape.size() != 1 || positions.info.shape.size() != 1)
        return fail(Code::Hostile, fmt::format("positions and values of {} are no plain lists", quoteName(name)), key);
    DS_TRY(const TrlIndexForm form, indexForm(encoding, positions, key));
    const bool counted = form != TrlIndexForm::Nvcomp && form != TrlIndexForm::Unknown;
    if (counted && values.info.elements() != positions.info.elements()) {
        return fail(Code::Hostile,
                    fmt::format("{} has {} positions but {} values", quoteName(name), positions.info.elements(),
                                values.info.elements()),
                    key);
    }
    TensorEntry entry;
    entry.name = std::string(name);
    entry.storedElements = values.info.elements();
    entry.extents = { Extent { 0, positions.begin, positions.bytes }, Extent { 0, values.begin, values.bytes } };
    entry.encoding = TrlEncoding { form, values.info.dtype }.packed();
    return entry;
}

bool endsWith(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Result<void> readPairs(const SafetensorsHeader& header, const std::string& key, VersionIndex& out)
{
    for (const StoredTensor& stored : header.tensors()) {
        const std::string_view full = stored.info.name;
        const bool isValue = endsWith(full, ValueEnd);
        if (!isValue && !endsWith(full, IndexEnd))
            return fail(Code::Hostile, fmt::format("holds {}, which is neither positions nor values", quoteName(full)),
                        key);
        const std::string_view name = full.substr(0, full.size() - ValueEnd.size());
        const StoredTensor* partner = header.find(std::string(name).append(isValue ? IndexEnd : ValueEnd));
        if (!partner)
            return fail(Code::Hostile, fmt::format("holds {} without its partner", quoteName(full)), key);
        if (!isValue)
            continue;
        DS_TRY(TensorEntry entry, pairEntry(name, stored, *partner, out.encoding, key));
        out.tensors.push_back(std::move(entry));
    }
    return {};
}

/// Notes where the header contradicts the content.
void checkClaims(const SafetensorsHeader& header, const VersionObjects& version, VersionIndex& out)
{
    const std::string& key = version.objects[0].key;
    const auto check = [&](std::string_view name, std::uint64_t truth, std::string_view what) {
        const auto claim = header.metadata().find(name);
        if (claim == header.metadata().end() || claim->second == std::to_string(truth))
            return;
        out.notes.push_back(Error { Code::Claim,
                                    fmt::format("{} says {}, but {} {}", name, quoteName(claim->second), what, truth),
                                    key,
                                    version.step,
                                    {} });
    };
    check("model_version", static_cast<std::uint64_t>(version.step), "the name says");
    check("num_changed_params", out.tensors.size(), "the file holds");
    check("total_changed_elements", out.storedElements(), "the file holds");
}

} // namespace

Result<bool> TrlV2Layout::recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                     TaskContext& task) const
{
    const std::optional<std::string_view> root = rootOf(listing);
    if (!root)
        return false;
    std::size_t probed = 0;
    bool unfinished = false;
    for (const ObjectInfo& object : listing) {
        const std::optional<StepFile> file = parseKey(object.key);
        if (!file || file->root != *root)
            continue;
        if (++probed > MaxProbedHeaders)
            break;
        DS_CHECK(task.checkpoint());
        const Result<SafetensorsHeader> header = SafetensorsHeader::read(store, object);
        if (header)
            return isTrlV2(*header);
        if (!concernsOneObject(header.error().code))
            return fail(header.error());
        unfinished |= header.error().code == Code::Truncated || header.error().code == Code::Unfinished;
    }
    // A run whose first objects are still on their way: the names are all there is, and they are those of this layout's
    // writers.
    return unfinished && probed <= MaxProbedHeaders;
}

std::vector<VersionObjects> TrlV2Layout::group(const std::vector<ObjectInfo>& listing) const
{
    const std::optional<std::string_view> root = rootOf(listing);
    std::map<std::int64_t, VersionObjects> versions;
    for (const ObjectInfo& object : listing) {
        const std::optional<StepFile> file = parseKey(object.key);
        if (!file || file->root != *root)
            continue;
        VersionObjects& version = versions[file->step];
        version.step = file->step;
        if (version.objects.empty()) {
            version.name = object.key;
            version.objects = { object };
            continue;
        }
        // an anchor and a delta with one number come from two runs into one bucket
        ObjectInfo& chosen = version.objects[0];
        const bool replaces =
            object.modifiedUs > chosen.modifiedUs || (object.modifiedUs == chosen.modifiedUs && file->inAnchors);
        const ObjectInfo older = replaces ? std::exchange(chosen, object) : object;
        version.name = chosen.key;
        version.notes.push_back(
            Error { Code::Fork,
                    fmt::format("step {} exists twice; {}, the newer one, is read", file->step, chosen.key),
                    older.key,
                    file->step,
                    {} });
    }
    std::vector<VersionObjects> out;
    for (auto& [step, version] : versions)
        out.push_back(std::move(version));
    return out;
}

Result<VersionIndex> TrlV2Layout::index(const ObjectStore& store, const VersionObjects& version,
                                        TaskContext& task) const
{
    DS_CHECK(task.checkpoint());
    const std::string& key = version.objects.at(0).key;
    DS_TRY(const SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[0]));
    if (!isTrlV2(header))
        return fail(Code::Unsupported,
                    "is no file of TRL's second delta format (no sparse_weight_patch with an encoding)", key);
    VersionIndex out;
    for (const auto& [name, value] : header.metadata()) {
        if (isOwnFact(name))
            out.facts.emplace(name, value);
    }
    DS_TRY(out.full, isFull(header, key));
    if (out.full) {
        for (const StoredTensor& stored : header.tensors())
            out.tensors.push_back(fullTensorEntry(stored, 0));
    } else {
        out.encoding = std::string(header.meta("encoding"));
        DS_CHECK(readPairs(header, key, out));
    }
    std::sort(out.tensors.begin(), out.tensors.end(),
              [](const TensorEntry& a, const TensorEntry& b) { return a.name < b.name; });
    checkClaims(header, version, out);
    return out;
}

Result<std::unique_ptr<PatchStream>> TrlV2Layout::open(const ObjectStore& store, const VersionObjects& version,
                                                       const VersionIndex& index, const TensorEntry& entry,
                                                       const TensorInfo& target, const StreamOptions& options) const
{
    if (index.full)
        return openFullTensor(store, version, entry, target, options);
    const TrlEncoding encoding = TrlEncoding::unpack(entry.encoding);
    const std::string& key = version.objects.at(0).key;
    if (encoding.form == TrlIndexForm::Nvcomp) {
        return fail(
            Code::Unsupported,
            "unsupported encoding nvcomp_cascaded (index stream is an NVIDIA nvCOMP Cascaded bitstream; a build with "
            "nvCOMP and a CUDA device is needed)",
            key);
    }
    if (encoding.form == TrlIndexForm::Unknown)
        return fail(Code::Unsupported, fmt::format("unsupported encoding {}", quoteName(index.encoding)), key);
    if (encoding.values != target.dtype) {
        return fail(Code::BaseMismatch,
                    fmt::format("{} gets values of {} but is {} in the state before", quoteName(entry.name),
                                deltascope::word(encoding.values), describe(target)),
                    key);
    }
    if (bitsOf(target.dtype) % 8 != 0)
        return fail(Code::Unsupported,
                    fmt::format("sparse values of {} are not readable", deltascope::word(target.dtype)), key);
    if (entry.storedElements.value_or(0) > target.elements()) {
        return fail(Code::BaseMismatch,
                    fmt::format("{} gets {} values but is {} in the state before", quoteName(entry.name),
                                *entry.storedElements, describe(target)),
                    key);
    }
    const Extent& positions = entry.extents.at(0);
    const Extent& values = entry.extents.at(1);
    return std::unique_ptr<PatchStream>(std::make_unique<TrlPairStream>(
        encoding.form, BufferedExtent(store, key, positions.begin, positions.bytes, options.bufferBytes),
        BufferedExtent(store, key, values.begin, values.bytes, options.bufferBytes), target));
}

} // namespace deltascope
