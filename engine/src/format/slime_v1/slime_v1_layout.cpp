#include "format/slime_v1/slime_v1_layout.h"

#include "format/common/numbered_folders.h"
#include "format/common/object_names.h"
#include "format/common/pair_stream.h"
#include "format/common/quote_name.h"
#include "format/slime_v1/slime_v1_flush.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace deltascope {

namespace {

constexpr NumberedFolders Folders { "weight_v", 6 };

/// Files of a version, in the order of its objects.
struct SlimeV1Detail final : LayoutDetail {
    std::vector<SlimeFlush> flushes;
};

/// "rank0003_flush000012.safetensors"
struct FlushName {
    std::int64_t rank = 0;
    std::int64_t flush = 0;
};

std::optional<FlushName> parseFlushName(std::string_view file)
{
    constexpr std::string_view Start = "rank";
    constexpr std::string_view Middle = "_flush";
    constexpr std::string_view End = ".safetensors";
    const std::size_t middle = file.find(Middle);
    if (!file.starts_with(Start) || !file.ends_with(End) || middle == std::string_view::npos)
        return std::nullopt;
    const std::string_view rank = file.substr(Start.size(), middle - Start.size());
    const std::string_view flush =
        file.substr(middle + Middle.size(), file.size() - middle - Middle.size() - End.size());
    const auto rankNumber = parseNumber(rank);
    const auto flushNumber = parseNumber(flush);
    if (!rankNumber || !flushNumber || !isPadded(rank, 4) || !isPadded(flush, 6))
        return std::nullopt;
    return FlushName { *rankNumber, *flushNumber };
}

bool isFlush(const ObjectInfo& object) { return parseFlushName(splitKey(object.key).file).has_value(); }

/// Nothing says how many files a version has, but the numbers of each rank leave no hole.
Result<void> checkNumbers(const VersionObjects& version)
{
    std::map<std::int64_t, std::set<std::int64_t>> ranks;
    for (const ObjectInfo& object : version.objects) {
        const std::optional<FlushName> name = parseFlushName(splitKey(object.key).file);
        ranks[name->rank].insert(name->flush);
    }
    for (const auto& [rank, flushes] : ranks) {
        std::int64_t expected = 0;
        for (const std::int64_t flush : flushes) {
            if (flush != expected++)
                return fail(Code::Unfinished,
                            fmt::format("incomplete: rank {} has flush file {} but not {}", rank, *flushes.rbegin(),
                                        expected - 1),
                            version.name);
        }
    }
    return {};
}

}

Result<bool> SlimeV1Layout::recognizes(const ObjectStore&, const std::vector<ObjectInfo>& listing, TaskContext&) const
{
    return !group(listing).empty();
}

std::vector<VersionObjects> SlimeV1Layout::group(const std::vector<ObjectInfo>& listing) const
{
    std::vector<ObjectInfo> flushes;
    for (const ObjectInfo& object : listing) {
        if (isFlush(object))
            flushes.push_back(object);
    }
    return Folders.group(flushes);
}

std::string SlimeV1Layout::emptyFolderOf(const VersionObjects& neighbor, std::int64_t step) const
{
    const SplitKey name = splitKey(neighbor.name);
    return fmt::format("{}{}{}{:0{}}", name.folder, name.folder.empty() ? "" : "/", Folders.start, step,
                       Folders.minDigits);
}

Result<VersionIndex> SlimeV1Layout::index(const ObjectStore& store, const VersionObjects& version,
                                          TaskContext& task) const
{
    DS_CHECK(checkNumbers(version));
    VersionIndex out;
    auto detail = std::make_shared<SlimeV1Detail>();
    for (std::uint32_t i = 0; i < version.objects.size(); ++i) {
        DS_CHECK(task.checkpoint());
        DS_TRY(SlimeFlush flush, readSlimeFlush(store, version.objects[i], i, task));
        if (!out.encoding.empty() && out.encoding != flush.encoding)
            return fail(
                Code::Malformed,
                fmt::format("has encoding {}, another file of the version has {}", flush.encoding, out.encoding),
                version.objects[i].key);
        out.encoding = flush.encoding;
        out.packed = out.packed || flush.packed;
        if (!flush.version.empty() && flush.version != std::to_string(version.step))
            return fail(misplaced("version " + quoteName(flush.version), version.step, version.objects[i].key));
        if (!flush.isTiled)
            out.notes.push_back(
                Error { Code::Claim,
                        "its list of tensors does not share out its positions and values one behind the "
                        "other: some belong to no tensor, or to two",
                        version.objects[i].key,
                        version.step,
                        {} });
        out.hasChecksums = (i == 0 || out.hasChecksums) && !flush.checksum.empty();
        std::move(flush.entries.begin(), flush.entries.end(), std::back_inserter(out.tensors));
        flush.entries.clear();
        detail->flushes.push_back(std::move(flush));
    }
    sortByName(out.tensors);
    if (const TensorEntry* twice = firstDuplicate(out.tensors))
        return fail(Code::DuplicateName,
                    fmt::format("{} is in two flush files of one version", quoteName(twice->name())), version.name);
    out.detail = std::move(detail);
    return out;
}

Result<std::unique_ptr<PatchStream>> SlimeV1Layout::open(const ObjectStore& store, const VersionObjects& version,
                                                         const VersionIndex& index, const TensorEntry& entry,
                                                         const TensorInfo& target, const StreamOptions& options) const
{
    const std::uint32_t object = entry.extents.at(0).object;
    const SlimeFlush& flush = static_cast<const SlimeV1Detail&>(*index.detail).flushes.at(object);
    std::shared_ptr<const ByteRange> source;
    if (flush.packed) {
        DS_CHECK(flush.packed->unpack(options.scratchFolder, *options.task));
        source = flush.packed;
    } else {
        source = std::make_shared<ObjectRange>(store, version.objects.at(object).key, *options.task);
    }
    const auto input = [&](const Extent& extent) {
        return BufferedExtent(source, extent.begin, extent.bytes, options.bufferBytes);
    };
    // The values of a file that also holds a wider type were widened to it.
    const bool widened = PairEncoding::unpack(entry.encoding).values != target.dtype;
    return openPair(entry, target, widened ? PairRule::AssignNarrowed : PairRule::Assign, input(entry.extents.at(0)),
                    input(entry.extents.at(1)));
}

Result<void> SlimeV1Layout::checkPayload(const ObjectStore& store, const VersionObjects& version,
                                         const VersionIndex& index, TaskContext& task) const
{
    const auto& flushes = static_cast<const SlimeV1Detail&>(*index.detail).flushes;
    for (std::size_t i = 0; i < flushes.size(); ++i)
        DS_CHECK(checkSlimeFlush(store, version.objects[i], flushes[i], task));
    return {};
}

std::uint64_t SlimeV1Layout::checkedBytes(const VersionObjects& version, const VersionIndex& index) const
{
    const auto& flushes = static_cast<const SlimeV1Detail&>(*index.detail).flushes;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < flushes.size(); ++i)
        bytes += flushes[i].checksum.empty() ? 0 : version.objects[i].sizeBytes;
    return bytes;
}

} // namespace deltascope
