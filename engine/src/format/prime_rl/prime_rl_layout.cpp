#include "format/prime_rl/prime_rl_layout.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/fold_checksum.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/numbered_folders.h"
#include "format/common/object_names.h"
#include "format/common/pair_stream.h"
#include "format/common/quote_name.h"
#include "format/hf/checkpoint_index.h"
#include "format/prime_rl/sparse_step.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr NumberedFolders Folders { "step_", 1 };
constexpr std::string_view MarkerName = "STABLE";
constexpr std::string_view AdapterName = "adapter_model.safetensors";
constexpr std::uint64_t PieceBytes = 256U << 10;

bool isMarker(std::string_view file)
{
    return file == MarkerName || file == SparseManifestName || file == SparseUpdateManifestName;
}

/// Runs that train an adapter broadcast nothing else.
Result<VersionIndex> readAdapter(const ObjectStore& store, const VersionObjects& version, std::uint32_t object,
                                 TaskContext& task)
{
    DS_TRY(SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[object], task));
    return fullIndexOf(std::move(header), object);
}

std::shared_ptr<const ByteRange> sourceOf(const ObjectStore& store, const VersionObjects& version,
                                          const PrimeRlDetail& detail, std::uint32_t object, TaskContext& task)
{
    if (detail.packed)
        return detail.packed;
    return std::make_shared<ObjectRange>(store, version.objects.at(object).key, task);
}

Result<std::uint64_t> foldExtent(const std::shared_ptr<const ByteRange>& source, const Extent& extent, Dtype dtype,
                                 TaskContext& task)
{
    BufferedExtent input(source, extent.begin, extent.bytes, PieceBytes);
    std::uint64_t sum = 0;
    while (input.left() > 0) {
        DS_CHECK(task.checkpoint());
        DS_TRY(const ByteSpan bytes, input.take(std::min(input.left(), PieceBytes)));
        sum ^= foldTensor(dtype, bytes);
    }
    return sum;
}

}

Result<bool> PrimeRlLayout::recognizes(const ObjectStore&, const std::vector<ObjectInfo>& listing, TaskContext&) const
{
    return std::any_of(listing.begin(), listing.end(), [](const ObjectInfo& object) {
        const std::optional<NumberedFolders::Key> key = Folders.parse(object.key);
        return key && isMarker(key->file);
    });
}

std::vector<VersionObjects> PrimeRlLayout::group(const std::vector<ObjectInfo>& listing) const
{
    return Folders.group(listing);
}

Result<VersionIndex> PrimeRlLayout::index(const ObjectStore& store, const VersionObjects& version,
                                          TaskContext& task) const
{
    const auto has = [&](std::string_view file) { return objectIndex(version, joinKey(version.name, file)); };
    if (!has(MarkerName))
        return fail(
            Code::Unfinished,
            fmt::format("has no {} marker: an unfinished or abandoned broadcast, which is never used", MarkerName),
            version.name);
    if (has(SparseUpdateManifestName))
        return readSparseUpdateManifest(store, version, task);
    if (has(SparseManifestName)) {
        DS_TRY(std::optional<VersionIndex> sparse, readSparseManifest(store, version, task));
        if (sparse)
            return std::move(*sparse);
    }
    const bool hasModel = has(CheckpointFileName) || has(CheckpointIndexName);
    if (const auto adapter = has(AdapterName); adapter && !hasModel)
        return readAdapter(store, version, *adapter, task);
    return readCheckpointIndex(store, version, version.name, task);
}

Result<std::unique_ptr<PatchStream>> PrimeRlLayout::open(const ObjectStore& store, const VersionObjects& version,
                                                         const VersionIndex& index, const TensorEntry& entry,
                                                         const TensorInfo& target, const StreamOptions& options) const
{
    if (index.full)
        return openFullTensor(store, version, entry, target, options);
    const auto& detail = static_cast<const PrimeRlDetail&>(*index.detail);
    if (detail.packed)
        DS_CHECK(detail.packed->unpack(options.scratchFolder, *options.task));
    const auto source = sourceOf(store, version, detail, entry.extents.at(0).object, *options.task);
    const auto input = [&](const Extent& extent) {
        return BufferedExtent(source, extent.begin, extent.bytes, options.bufferBytes);
    };
    return openPair(entry, target, PairRule::Assign, input(entry.extents.at(0)), input(entry.extents.at(1)));
}

Result<void> PrimeRlLayout::checkPayload(const ObjectStore& store, const VersionObjects& version,
                                         const VersionIndex& index, TaskContext& task) const
{
    if (index.full)
        return {};
    const auto& detail = static_cast<const PrimeRlDetail&>(*index.detail);
    if (detail.packed)
        DS_CHECK(detail.packed->unpack({}, task));
    for (const TensorEntry& entry : index.tensors) {
        const auto recorded = detail.checksums.find(entry.name());
        if (recorded == detail.checksums.end() || !recorded->second)
            continue;
        const std::uint32_t object = entry.extents[0].object;
        const auto source = sourceOf(store, version, detail, object, task);
        const PairEncoding encoding = PairEncoding::unpack(entry.encoding);
        const Dtype positionType = encoding.form == PositionForm::I64 ? Dtype::I64 : Dtype::I32;
        DS_TRY(const std::uint64_t positions, foldExtent(source, entry.extents[0], positionType, task));
        DS_TRY(const std::uint64_t values, foldExtent(source, entry.extents[1], encoding.values, task));
        if ((positions ^ values) != *recorded->second)
            return fail(Code::Digest,
                        fmt::format("positions and values of {} have checksum {}, the manifest records {}",
                                    quoteName(entry.name()), positions ^ values, *recorded->second),
                        version.objects[object].key);
    }
    return {};
}

std::uint64_t PrimeRlLayout::checkedBytes(const VersionObjects& version, const VersionIndex& index) const
{
    return index.full ? 0 : version.wireBytes();
}

} // namespace deltascope
