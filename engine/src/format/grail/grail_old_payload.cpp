#include "format/grail/grail_old_payload.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/packed_header.h"
#include "format/common/pair_stream.h"
#include "format/common/quote_name.h"
#include "format/common/strict_json.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::string_view IndexEnd = ".indices";
constexpr std::string_view ValueEnd = ".values";

}

bool isOldGrailPayload(std::string_view file) noexcept
{
    return file == "delta_sparse.safetensors" || file == "delta_sparse.safetensors.zst";
}

Result<void> readOldGrailPayload(const ObjectStore& store, const VersionObjects& version, std::uint32_t object,
                                 std::shared_ptr<UnpackedObject>& packed, VersionIndex& out, TaskContext& task)
{
    const ObjectInfo& info = version.objects[object];
    DS_TRY(const bool isPacked, UnpackedObject::isFrame(store, info, task));
    if (isPacked) {
        DS_TRY(packed, UnpackedObject::open(store, info, task));
    }
    DS_TRY(const SafetensorsHeader header,
           isPacked ? readPackedHeader(*packed, task) : SafetensorsHeader::read(store, info, task));
    out.encoding = "sparse_safetensors";
    for (const StoredTensor& values : header.tensors()) {
        const std::string_view full = values.info.name;
        if (full.ends_with(IndexEnd)
            && header.find(std::string(full.substr(0, full.size() - IndexEnd.size())) + ".values"))
            continue;
        const std::string name(full.substr(0, full.size() - std::min(full.size(), ValueEnd.size())));
        const StoredTensor* positions = header.find(name + std::string(IndexEnd));
        if (!full.ends_with(ValueEnd) || !positions || positions->info.dtype != Dtype::I32
            || positions->info.shape.size() != 1 || values.info.shape.size() != 1
            || positions->info.elements() != values.info.elements())
            return fail(Code::Malformed,
                        fmt::format("holds {}, which is no pair of positions and values", quoteName(full)), info.key);
        TensorEntry entry;
        entry.setName(name);
        entry.setStoredElements(values.info.elements());
        entry.encoding = PairEncoding { PositionForm::I32, values.info.dtype }.packed();
        entry.extents = { Extent { object, positions->begin, positions->bytes },
                          Extent { object, values.begin, values.bytes } };
        out.lossy = out.lossy || values.info.dtype == Dtype::F32;
        out.tensors.push_back(std::move(entry));
    }
    return {};
}

Result<std::unique_ptr<PatchStream>> openOldGrailEntry(const ObjectStore& store, const VersionObjects& version,
                                                       const std::shared_ptr<const UnpackedObject>& packed,
                                                       const VersionIndex& index, const TensorEntry& entry,
                                                       const TensorInfo& target, const StreamOptions& options)
{
    const std::string& key = version.objects.at(entry.extents.at(0).object).key;
    const bool stored32 = PairEncoding::unpack(entry.encoding).values == Dtype::F32;
    if (index.lossy && stored32 && target.dtype == Dtype::F32)
        return fail(Code::Unsupported,
                    fmt::format("{} is F32 and gets F32: differences or new values, nothing in the files tells",
                                quoteName(entry.name())),
                    key);
    const std::shared_ptr<const ByteRange> source =
        packed ? std::shared_ptr<const ByteRange>(packed) : std::make_shared<ObjectRange>(store, key, *options.task);
    const auto input = [&](const Extent& extent) {
        return BufferedExtent(source, extent.begin, extent.bytes, options.bufferBytes);
    };
    const PairRule rule = stored32 ? PairRule::Add : PairRule::Assign;
    return openPair(entry, target, rule, input(entry.extents.at(0)), input(entry.extents.at(1)));
}

} // namespace deltascope
