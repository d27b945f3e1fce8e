#include "format/dcp/distcp_items.h"

#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/common/plain_kind.h"
#include "format/common/quote_name.h"
#include "format/dcp/dcp_metadata.h"
#include "format/dcp/pickle.h"
#include "format/dcp/tensor_item.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace deltascope {

namespace {

/// A chunk among the tensors of a version.
struct ItemRef {
    std::size_t tensor;
    std::size_t chunk;
};

Result<std::vector<DcpTensor>> readMetadata(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    DS_TRY(std::vector<std::byte> bytes, readWhole(store, object.key, Pickle::MaxBytes, task));
    Result<std::vector<DcpTensor>> tensors = parseDcpMetadata(std::move(bytes));
    if (tensors)
        return tensors;
    if (tensors.error().where.empty())
        tensors.error().where = object.key;
    return fail(orPlainKind(std::move(tensors.error()), Wanted::Pickle, store, object, task));
}

/// In the order of their bytes, so that each file is read from front to back.
std::vector<ItemRef> itemsOf(const std::vector<DcpTensor>& tensors)
{
    std::vector<ItemRef> items;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        for (std::size_t j = 0; j < tensors[i].chunks.size(); ++j)
            items.push_back({ i, j });
    }
    const auto place = [&](const ItemRef& item) {
        const DcpChunk& chunk = tensors[item.tensor].chunks[item.chunk];
        return std::tie(chunk.file, chunk.offset);
    };
    std::sort(items.begin(), items.end(), [&](const ItemRef& a, const ItemRef& b) { return place(a) < place(b); });
    return items;
}

Result<PlacedChunk> readChunk(NearbyReader& reader, std::uint32_t object, const TensorInfo& tensor, DcpChunk chunk)
{
    const ObjectInfo& file = reader.object();
    if (chunk.offset > file.sizeBytes || chunk.bytes > file.sizeBytes - chunk.offset)
        return fail(Code::Truncated,
                    fmt::format("it is {} bytes, .metadata places {} bytes of {} at byte {}: the file is cut short",
                                file.sizeBytes, chunk.bytes, quoteName(tensor.name), chunk.offset),
                    file.key);
    DS_TRY(StoredView view, readTensorItem(reader, chunk.offset, chunk.bytes));
    if (view.dtype != tensor.dtype || view.sizes != chunk.box.sizes) {
        return fail(Code::Malformed,
                    fmt::format("the item of {} holds {}, .metadata says {}", quoteName(tensor.name),
                                describe({ {}, view.dtype, view.sizes }),
                                describe({ {}, tensor.dtype, chunk.box.sizes })),
                    file.key);
    }
    return PlacedChunk {
        std::move(chunk.box),
        std::move(view.strides),
        Extent { object, view.begin, view.bytes },
        StoredChecksum { tensor.name, Extent { object, view.storageBegin, view.storageBytes }, view.crc },
    };
}

} // namespace

Error missingMetadata(std::string_view folder)
{
    return Error { Code::Unfinished,
                   "data files without .metadata: this save has not ended",
                   std::string(folder),
                   {},
                   "Wait for .metadata if it is still being written; else use another version." };
}

Result<std::vector<PlacedTensor>> readDistcpItems(const ObjectStore& store, const VersionObjects& version,
                                                  std::string_view folder, TaskContext& task)
{
    const std::optional<std::uint32_t> metadata = objectIndex(version, joinKey(folder, MetadataFileName));
    if (!metadata)
        return fail(missingMetadata(version.name));
    DS_TRY(std::vector<DcpTensor> tensors, readMetadata(store, version.objects[*metadata], task));

    const std::vector<ItemRef> items = itemsOf(tensors);
    std::vector<PlacedTensor> out(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        out[i].info = tensors[i].info;
        out[i].chunks.resize(tensors[i].chunks.size());
    }
    for (std::size_t i = 0; i < items.size();) {
        const std::string file = tensors[items[i].tensor].chunks[items[i].chunk].file;
        const std::optional<std::uint32_t> object = objectIndex(version, joinKey(folder, file));
        if (!object)
            return fail(Code::Unfinished, fmt::format("incomplete: .metadata names {}, which does not exist", file),
                        joinKey(folder, file));
        NearbyReader reader(store, version.objects[*object], task);
        for (; i < items.size(); ++i) {
            DcpChunk& chunk = tensors[items[i].tensor].chunks[items[i].chunk];
            if (chunk.file != file)
                break;
            DS_CHECK(task.checkpoint());
            PlacedTensor& tensor = out[items[i].tensor];
            Result<PlacedChunk> placed = readChunk(reader, *object, tensor.info, std::move(chunk));
            if (!placed)
                return fail(orPlainKind(std::move(placed.error()), Wanted::TorchItems, store, reader.object(), task));
            tensor.chunks[items[i].chunk] = std::move(*placed);
        }
    }
    return out;
}

} // namespace deltascope
