#include "format/dcp/dcp_metadata.h"

#include "format/common/index_json.h"
#include "format/common/quote_name.h"
#include "format/dcp/pickle.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

namespace deltascope {

namespace {

using Value = Pickle::Value;

constexpr std::size_t MaxNameBytes = 1024;
constexpr std::size_t MaxChunks = 1U << 22;
constexpr std::string_view DenseLayout = "torch.strided";

/// Where the chunk of a tensor that begins at some offset lies.
using StorageMap = std::map<std::pair<std::string_view, std::vector<std::uint64_t>>, Value>;

tl::unexpected<Error> refuse(const std::string& what) { return fail(Code::Malformed, what); }

class MetadataReader {
public:
    explicit MetadataReader(const Pickle& pickle)
        : m_pickle(pickle)
    {
    }

    Result<std::vector<DcpTensor>> read()
    {
        const Value top = m_pickle.top();
        const auto tensors = m_pickle.attribute(top, "state_dict_metadata");
        const auto storage = m_pickle.attribute(top, "storage_data");
        if (!m_pickle.isRecord(top, GlobalKind::Metadata) || !isDict(tensors) || !isDict(storage))
            return refuse("it is no Metadata with state_dict_metadata and storage_data");
        DS_CHECK(readStorage(*storage));
        std::vector<DcpTensor> out;
        const std::span<const Value> pairs = m_pickle.items(*tensors);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
            DS_TRY(const std::string_view name, tensorName(pairs[i]));
            if (m_pickle.isRecord(pairs[i + 1], GlobalKind::BytesMetadata))
                continue;
            DS_TRY(DcpTensor tensor, readTensor(name, pairs[i + 1]));
            out.push_back(std::move(tensor));
        }
        std::sort(out.begin(), out.end(),
                  [](const DcpTensor& a, const DcpTensor& b) { return a.info.name < b.info.name; });
        const auto twin = std::adjacent_find(
            out.begin(), out.end(), [](const DcpTensor& a, const DcpTensor& b) { return a.info.name == b.info.name; });
        if (twin != out.end())
            return refuse(fmt::format("it describes tensor {} twice", quoteName(twin->info.name)));
        return out;
    }

private:
    bool isDict(std::optional<Value> value) const { return value && m_pickle.kind(*value) == PickleKind::Dict; }

    std::optional<std::string_view> textAttribute(Value record, std::string_view name) const
    {
        const auto value = m_pickle.attribute(record, name);
        return value ? m_pickle.text(*value) : std::nullopt;
    }

    std::optional<std::uint64_t> sizeAttribute(Value record, std::string_view name) const
    {
        const auto value = m_pickle.attribute(record, name);
        const auto number = value ? m_pickle.integer(*value) : std::nullopt;
        return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
    }

    std::optional<std::vector<std::uint64_t>> sizesAttribute(Value record, std::string_view name) const
    {
        const auto value = m_pickle.attribute(record, name);
        return value ? m_pickle.sizes(*value) : std::nullopt;
    }

    Result<void> readStorage(Value storage)
    {
        const std::span<const Value> pairs = m_pickle.items(storage);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
            const auto name = textAttribute(pairs[i], "fqn");
            const auto offset = m_pickle.attribute(pairs[i], "offset");
            if (!m_pickle.isRecord(pairs[i], GlobalKind::MetadataIndex) || !name)
                return refuse("its storage_data has a key that is no MetadataIndex");
            if (!offset || m_pickle.isNone(*offset)) // an item that is no tensor
                continue;
            auto offsets = m_pickle.sizes(*offset);
            if (!offsets)
                return refuse(fmt::format("a chunk of {} lies at no place", quoteName(*name)));
            if (!m_storage.try_emplace({ *name, std::move(*offsets) }, pairs[i + 1]).second)
                return refuse(fmt::format("it places a chunk of {} twice", quoteName(*name)));
        }
        return {};
    }

    Result<std::string_view> tensorName(Value key) const
    {
        const auto name = m_pickle.text(key);
        if (!name)
            return refuse("it has a tensor whose name is no text");
        if (!isUtf8(*name) || name->size() > MaxNameBytes || *name == "__metadata__")
            return refuse(fmt::format("the name {} cannot stand in a safetensors file", quoteName(*name)));
        return *name;
    }

    Result<Dtype> elementType(const std::string& tensor, Value metadata) const
    {
        const auto properties = m_pickle.attribute(metadata, "properties");
        if (!properties || !m_pickle.isRecord(*properties, GlobalKind::Properties))
            return refuse(fmt::format("tensor {} has no properties", tensor));
        // (dtype, layout, requires_grad, memory format, pinned), since PyTorch 2.15 also the strides
        const std::span<const Value> parts = m_pickle.items(m_pickle.state(*properties));
        const PickleGlobal* type = parts.size() >= 5 ? m_pickle.global(parts[0]) : nullptr;
        if (!type || type->kind != GlobalKind::ElementType)
            return refuse(fmt::format("tensor {} has no element type", tensor));
        if (!type->dtype)
            return fail(Code::Unsupported,
                        fmt::format("tensor {} has the element type torch.{}, which safetensors does not have", tensor,
                                    type->name));
        const std::span<const Value> layout = m_pickle.arguments(parts[1]);
        if (!m_pickle.isRecord(parts[1], GlobalKind::MemoryLayout) || layout.size() != 1
            || m_pickle.text(layout[0]) != DenseLayout)
            return fail(Code::Unsupported, fmt::format("tensor {} is not dense", tensor));
        return *type->dtype;
    }

    Result<DcpTensor> readTensor(std::string_view name, Value metadata)
    {
        const std::string quoted = quoteName(name);
        if (!m_pickle.isRecord(metadata, GlobalKind::TensorMetadata))
            return refuse(fmt::format("{} is neither a tensor nor a bytes item", quoted));
        DcpTensor tensor;
        tensor.info.name = name;
        DS_TRY(tensor.info.dtype, elementType(quoted, metadata));
        const auto shape = sizesAttribute(metadata, "size");
        const auto chunks = m_pickle.attribute(metadata, "chunks");
        if (!shape || !chunks || m_pickle.kind(*chunks) != PickleKind::List)
            return refuse(fmt::format("tensor {} has no size or no chunks", quoted));
        tensor.info.shape = *shape;
        DS_CHECK(checkedSize(tensor.info));

        std::vector<ChunkBox> boxes;
        for (const Value chunk : m_pickle.items(*chunks)) {
            if (++m_chunks > MaxChunks)
                return refuse(fmt::format("it has more than {} chunks", MaxChunks));
            const auto offsets = sizesAttribute(chunk, "offsets");
            const auto sizes = sizesAttribute(chunk, "sizes");
            if (!m_pickle.isRecord(chunk, GlobalKind::ChunkMetadata) || !offsets || !sizes)
                return refuse(fmt::format("a chunk of tensor {} has no place or no size", quoted));
            ChunkBox box { *offsets, *sizes };
            if (box.isEmpty()) // of a rank that has no part of the tensor
                continue;
            boxes.push_back(box);
            DS_TRY(DcpChunk placed, placeChunk(tensor.info.name, std::move(box)));
            tensor.chunks.push_back(std::move(placed));
        }
        DS_CHECK(checkTiling(tensor.info, boxes));
        return tensor;
    }

    Result<DcpChunk> placeChunk(const std::string& name, ChunkBox box) const
    {
        const auto found = m_storage.find({ name, box.offsets });
        if (found == m_storage.end())
            return refuse(fmt::format("a chunk of tensor {} is nowhere stored", quoteName(name)));
        const Value info = found->second;
        const auto file = textAttribute(info, "relative_path");
        const auto offset = sizeAttribute(info, "offset");
        const auto bytes = sizeAttribute(info, "length");
        if (!m_pickle.isRecord(info, GlobalKind::StorageInfo) || !file || !offset || !bytes)
            return refuse(fmt::format("a chunk of tensor {} has no file, offset or length", quoteName(name)));
        if (!isSafeFileName(*file))
            return refuse(fmt::format("the file name {} is not a plain name in its folder", quoteName(*file)));
        const auto transforms = m_pickle.attribute(info, "transform_descriptors");
        if (transforms && !m_pickle.isNone(*transforms)
            && (m_pickle.kind(*transforms) != PickleKind::List || !m_pickle.items(*transforms).empty()))
            return fail(
                Code::Unsupported,
                fmt::format("tensor {} was stored through a transformation (transform_descriptors)", quoteName(name)));
        return DcpChunk { std::move(box), std::string(*file), *offset, *bytes };
    }

    const Pickle& m_pickle;
    StorageMap m_storage;
    std::size_t m_chunks = 0;
};

} // namespace

Result<std::vector<DcpTensor>> parseDcpMetadata(std::vector<std::byte> pickle)
{
    DS_TRY(const Pickle parsed, Pickle::parse(std::move(pickle)));
    return MetadataReader(parsed).read();
}

} // namespace deltascope
