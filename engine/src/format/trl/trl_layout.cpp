#include "format/trl/trl_layout.h"

#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/common/pair_stream.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace deltascope {

namespace {

constexpr std::size_t MaxProbedHeaders = 8;
constexpr std::string_view FileStart = "step_";
constexpr std::string_view FileEnd = ".safetensors";
/// Stands for "nothing changed" in a file that must hold a tensor.
constexpr std::string_view EmptyDelta = "__empty_delta__";

/// "root/anchors/step_000010.safetensors"
struct StepFile {
    std::string_view root;
    bool inAnchors = false;
    std::int64_t step = 0;
};

std::optional<StepFile> parseKey(const TrlDialect& dialect, std::string_view key)
{
    if (beside::holds(key))
        return std::nullopt;
    const SplitKey file = splitKey(key);
    const SplitKey folder = splitKey(file.folder);
    if (folder.file != dialect.folders[0] && folder.file != dialect.folders[1])
        return std::nullopt;
    if (file.file.size() < FileStart.size() + FileEnd.size() || file.file.substr(0, FileStart.size()) != FileStart
        || file.file.substr(file.file.size() - FileEnd.size()) != FileEnd)
        return std::nullopt;
    const std::string_view digits =
        file.file.substr(FileStart.size(), file.file.size() - FileStart.size() - FileEnd.size());
    const std::optional<std::int64_t> step = parseNumber(digits);
    if (!step || !isPadded(digits, 6))
        return std::nullopt;
    return StepFile { folder.folder, folder.file == dialect.folders[0], *step };
}

/// The folder that holds the folders of steps; nothing if there is none.
std::optional<std::string_view> rootOf(const TrlDialect& dialect, const std::vector<ObjectInfo>& listing)
{
    std::optional<std::string_view> root;
    for (const ObjectInfo& object : listing) {
        const std::optional<StepFile> file = parseKey(dialect, object.key);
        if (file && (!root || isBetterRoot(file->root, *root)))
            root = file->root;
    }
    return root;
}

bool isOfAnyDialect(const SafetensorsHeader& header)
{
    constexpr std::array Dialects { &TrlV10, &TrlV11, &TrlV12, &TrlV2 };
    return std::any_of(Dialects.begin(), Dialects.end(),
                       [&](const TrlDialect* dialect) { return dialect->wrote(header); });
}

/// Whether nothing but the names of the tensors says what a file is.
bool isStripped(const TrlDialect& dialect, const SafetensorsHeader& header)
{
    return header.metadata().empty()
        || (header.metadata().size() == 1 && header.meta("format") == "pt" && !dialect.wrote(header));
}

bool endsWith(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Of a stripped file: sparse if every tensor is half of a pair.
bool looksFull(const TrlDialect& dialect, const SafetensorsHeader& header)
{
    return !std::all_of(header.tensors().begin(), header.tensors().end(), [&](const StoredTensor& stored) {
        return endsWith(stored.info.name, dialect.indexEnd) || endsWith(stored.info.name, dialect.valueEnd);
    });
}

/// Positions in the form that the file's encoding word promises; without a word, as their type tells.
Result<PositionForm> positionForm(std::string_view encoding, const StoredTensor& positions, const std::string& key)
{
    const Dtype dtype = positions.info.dtype;
    const bool any = encoding.empty();
    if ((any || encoding == "raw") && dtype == Dtype::I32)
        return PositionForm::I32;
    if ((any || encoding == "gap_delta") && dtype == Dtype::U16)
        return PositionForm::Gap16;
    if ((any || encoding == "gap_delta") && dtype == Dtype::U32)
        return PositionForm::Gap32;
    if ((any || encoding == "nvcomp_cascaded") && dtype == Dtype::U8)
        return PositionForm::Nvcomp;
    if (any || encoding == "raw" || encoding == "gap_delta" || encoding == "nvcomp_cascaded") {
        return fail(Code::Malformed,
                    fmt::format("{} has element type {}, which encoding {} never uses", quoteName(positions.info.name),
                                word(dtype), encoding),
                    key);
    }
    return PositionForm::Unknown;
}

Result<TensorEntry> pairEntry(std::string_view name, const StoredTensor& values, const StoredTensor& positions,
                              std::string_view encoding, const std::string& key)
{
    if (values.info.shape.size() != 1 || positions.info.shape.size() != 1)
        return fail(Code::Malformed, fmt::format("positions and values of {} are no plain lists", quoteName(name)),
                    key);
    DS_TRY(const PositionForm form, positionForm(encoding, positions, key));
    const bool counted = form != PositionForm::Nvcomp && form != PositionForm::Unknown;
    if (counted && values.info.elements() != positions.info.elements()) {
        return fail(Code::Malformed,
                    fmt::format("{} has {} positions but {} values", quoteName(name), positions.info.elements(),
                                values.info.elements()),
                    key);
    }
    TensorEntry entry;
    entry.setName(std::string(name));
    entry.setStoredElements(values.info.elements());
    entry.extents = { Extent { 0, positions.begin, positions.bytes }, Extent { 0, values.begin, values.bytes } };
    entry.encoding = PairEncoding { form, values.info.dtype }.packed();
    return entry;
}

bool isEmptyDelta(const SafetensorsHeader& header)
{
    return header.tensors().size() == 1 && header.tensors().front().info.name == EmptyDelta;
}

Result<void> readPairs(const TrlDialect& dialect, const SafetensorsHeader& header, const std::string& key,
                       VersionIndex& out)
{
    if (isEmptyDelta(header))
        return {};
    for (const StoredTensor& stored : header.tensors()) {
        const std::string_view full = stored.info.name;
        const bool isValue = endsWith(full, dialect.valueEnd);
        if (!isValue && !endsWith(full, dialect.indexEnd))
            return fail(Code::Malformed,
                        fmt::format("holds {}, which is neither positions nor values", quoteName(full)), key);
        const std::string_view name =
            full.substr(0, full.size() - (isValue ? dialect.valueEnd : dialect.indexEnd).size());
        const StoredTensor* partner =
            header.find(std::string(name).append(isValue ? dialect.indexEnd : dialect.valueEnd));
        if (!partner)
            return fail(Code::Malformed, fmt::format("holds {} without its partner", quoteName(full)), key);
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
    check("num_changed_params", out.tensors.size(), "the file holds");
    check("num_params", out.tensors.size(), "the file holds");
    check("total_changed_elements", out.storedElements(), "the file holds");
}

/// The state's digest and the version before, which only the first dialect records.
Result<void> readRecords(const SafetensorsHeader& header, const std::string& key, VersionIndex& out)
{
    out.declaredBase = parseNumber(header.meta("prev_model_version"));
    const std::string_view digest = header.meta("checksum_sha256");
    if (digest.empty())
        return {};
    if (digest.size() != 64 || !isLowerHex(digest))
        return fail(Code::Malformed, fmt::format("has no proper checksum_sha256: {}", quoteName(digest)), key);
    out.stateDigest = StateDigest { std::string(digest), { StateDigestForm::Sha256OfData } };
    return {};
}

/// An anchor and a delta with one number: no writer publishes both, so one of them may be of another run. Times do not
/// tell which. The delta comes first, and the anchor is another way to its step.
VersionObjects existingTwice(VersionObjects first, VersionObjects second, bool secondIsAnchor)
{
    VersionObjects delta = secondIsAnchor ? std::move(first) : std::move(second);
    VersionObjects anchor = secondIsAnchor ? std::move(second) : std::move(first);
    delta.notes.push_back(
        Error { Code::Fork,
                fmt::format("step {} exists twice: {} stands beside {}", delta.step, anchor.name, delta.name),
                anchor.name,
                delta.step,
                {} });
    delta.otherForms.push_back(std::move(anchor));
    return delta;
}

} // namespace

Result<bool> TrlLayout::recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                   TaskContext& task) const
{
    const std::optional<std::string_view> root = rootOf(m_dialect, listing);
    if (!root)
        return false;
    std::size_t probed = 0;
    bool unfinished = false;
    for (const ObjectInfo& object : listing) {
        const std::optional<StepFile> file = parseKey(m_dialect, object.key);
        if (!file || file->root != *root)
            continue;
        if (++probed > MaxProbedHeaders)
            break;
        DS_CHECK(task.checkpoint());
        const Result<SafetensorsHeader> header = SafetensorsHeader::read(store, object, task);
        if (header && isOfAnyDialect(*header))
            return m_dialect.wrote(*header);
        if (header)
            continue; // one damaged file does not hide the others
        if (!concernsOneObject(header.error().code))
            return fail(header.error());
        unfinished |= header.error().code == Code::Truncated || header.error().code == Code::Unfinished;
    }
    // A run whose first objects are still on their way: the names are all there is, and they are those of the newest
    // writers.
    return unfinished && probed <= MaxProbedHeaders && &m_dialect == &TrlV2;
}

std::vector<VersionObjects> TrlLayout::group(const std::vector<ObjectInfo>& listing) const
{
    const std::optional<std::string_view> root = rootOf(m_dialect, listing);
    std::map<std::int64_t, VersionObjects> versions;
    for (const ObjectInfo& object : listing) {
        const std::optional<StepFile> file = parseKey(m_dialect, object.key);
        if (!file || file->root != *root)
            continue;
        VersionObjects own;
        own.step = file->step;
        own.name = object.key;
        own.objects = { object };
        const auto [there, isFirst] = versions.try_emplace(file->step, own);
        if (!isFirst)
            there->second = existingTwice(std::move(there->second), std::move(own), file->inAnchors);
    }
    std::vector<VersionObjects> out;
    for (auto& [step, version] : versions)
        out.push_back(std::move(version));
    return out;
}

Result<VersionIndex> TrlLayout::index(const ObjectStore& store, const VersionObjects& version, TaskContext& task) const
{
    DS_CHECK(task.checkpoint());
    const std::string& key = version.objects.at(0).key;
    DS_TRY(SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[0], task));
    const bool stripped = isStripped(m_dialect, header);
    if (!stripped && !m_dialect.wrote(header))
        return fail(Code::Unsupported, fmt::format("is no file of layout {}: its metadata are others", word()), key);
    VersionIndex out;
    for (const auto& [name, value] : header.metadata()) {
        if (isOwnFact(name))
            out.facts.emplace(name, value);
    }
    const std::optional<bool> full = stripped ? looksFull(m_dialect, header) : m_dialect.saysFull(header);
    if (!full) {
        return fail(Code::Malformed,
                    fmt::format("does not say whether it is sparse (sparse = {})", quoteName(header.meta("sparse"))),
                    key);
    }
    out.full = *full;
    if (out.full) {
        addFullTensors(header.takeTensors(), 0, out.tensors);
    } else {
        out.encoding = std::string(header.meta("encoding"));
        if (out.encoding.empty() && &m_dialect != &TrlV2)
            out.encoding = "raw"; // the first generation knows no other
        DS_CHECK(readPairs(m_dialect, header, key, out));
    }
    DS_CHECK(readRecords(header, key, out));
    const auto own = header.metadata().find("model_version");
    if (own != header.metadata().end() && parseNumber(own->second) != version.step)
        return fail(misplaced("model_version " + quoteName(own->second), version.step, key));
    if (out.stateDigest.hex.empty() && &m_dialect == &TrlV10)
        out.notes.push_back(Error {
            Code::Claim, "records no checksum_sha256, as every file of its writer does", key, version.step, {} });
    if (m_dialect.countsFilesOnly && !out.declaredBase && version.step > 0)
        out.declaredBase = version.step - 1;
    sortByName(out.tensors);
    checkClaims(header, version, out);
    return out;
}

Result<std::unique_ptr<PatchStream>> TrlLayout::open(const ObjectStore& store, const VersionObjects& version,
                                                     const VersionIndex& index, const TensorEntry& entry,
                                                     const TensorInfo& target, const StreamOptions& options) const
{
    if (index.full)
        return openFullTensor(store, version, entry, target, options);
    if (PairEncoding::unpack(entry.encoding).form == PositionForm::Unknown)
        return fail(Code::Unsupported, fmt::format("unsupported encoding {}", quoteName(index.encoding)),
                    version.objects.at(0).key);
    const auto input = [&](const Extent& extent) {
        return BufferedExtent(store, version.objects.at(extent.object).key, extent.begin, extent.bytes,
                              options.bufferBytes, *options.task);
    };
    return openPair(entry, target, PairRule::Assign, input(entry.extents.at(0)), input(entry.extents.at(1)));
}

} // namespace deltascope
