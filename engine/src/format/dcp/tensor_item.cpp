#include "format/dcp/tensor_item.h"

#include "format/common/quote_name.h"
#include "format/dcp/pickle.h"
#include "format/dcp/zip_directory.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

using Value = Pickle::Value;

constexpr std::uint64_t MaxPickleBytes = 64U << 10;
constexpr std::uint64_t MaxOrderBytes = 64;

/// What data.pkl says of a tensor.
struct PickledTensor {
    std::string storage; ///< key of its record
    std::uint64_t storageElements = 0;
    Dtype dtype = Dtype::BF16;
    std::uint64_t offset = 0; ///< elements
    std::vector<std::uint64_t> sizes;
    std::vector<std::uint64_t> strides;
};

tl::unexpected<Error> noTensor(const std::string& why)
{
    return fail(Code::Malformed, fmt::format("an item that should hold a tensor {}", why));
}

/// ("storage", class, key, location, number of elements); of the classes without a type, number of bytes.
Result<void> readStorage(const Pickle& pickle, Value value, PickledTensor& tensor, std::optional<Dtype> dtype)
{
    const std::optional<Value> id = pickle.persistentId(value);
    const std::span<const Value> parts = id ? pickle.items(*id) : std::span<const Value>();
    const PickleGlobal* type = parts.size() == 5 ? pickle.global(parts[1]) : nullptr;
    if (!type || pickle.text(parts[0]) != "storage" || type->kind != GlobalKind::Storage || !pickle.text(parts[2]))
        return noTensor("refers to no storage");
    const std::optional<std::int64_t> count = pickle.integer(parts[4]);
    if (!count || *count < 0)
        return noTensor("has a storage without a size");
    tensor.storage = *pickle.text(parts[2]);
    tensor.storageElements = static_cast<std::uint64_t>(*count);
    if (type->dtype.has_value() == dtype.has_value())
        return noTensor(fmt::format("has a {} where another storage belongs", type->name));
    tensor.dtype = dtype ? *dtype : *type->dtype;
    if (dtype) {
        if (tensor.storageElements % (bitsOf(*dtype) / 8) != 0)
            return noTensor("has a storage that ends inside an element");
        tensor.storageElements /= bitsOf(*dtype) / 8;
    }
    return {};
}

Result<PickledTensor> readPickledTensor(const Pickle& pickle)
{
    Value value = pickle.top();
    if (pickle.isRecord(value, GlobalKind::RebuildParameter) && !pickle.arguments(value).empty())
        value = pickle.arguments(value).front();
    const bool hasDtype = pickle.isRecord(value, GlobalKind::RebuildTensorWithDtype);
    const std::span<const Value> arguments = pickle.arguments(value);
    // storage, offset, size, stride, requires_grad, backward_hooks[, dtype][, metadata]
    const std::size_t needed = hasDtype ? 7 : 6;
    if ((!hasDtype && !pickle.isRecord(value, GlobalKind::RebuildTensor)) || arguments.size() < needed
        || arguments.size() > needed + 1)
        return noTensor("holds something else");
    if (arguments.size() > needed && !pickle.isNone(arguments[needed]) && !pickle.items(arguments[needed]).empty())
        return fail(Code::Unsupported, "a tensor was saved as a conjugated or negated view");

    PickledTensor tensor;
    std::optional<Dtype> dtype;
    if (hasDtype) {
        const PickleGlobal* type = pickle.global(arguments[6]);
        if (!type || type->kind != GlobalKind::ElementType)
            return noTensor("has no element type");
        if (!type->dtype)
            return fail(
                Code::Unsupported,
                fmt::format("a tensor has the element type torch.{}, which safetensors does not have", type->name));
        dtype = type->dtype;
    }
    DS_CHECK(readStorage(pickle, arguments[0], tensor, dtype));
    const std::optional<std::int64_t> offset = pickle.integer(arguments[1]);
    const auto sizes = pickle.sizes(arguments[2]);
    const auto strides = pickle.sizes(arguments[3]);
    if (!offset || *offset < 0 || !sizes || !strides || sizes->size() != strides->size())
        return noTensor("has no shape");
    tensor.offset = static_cast<std::uint64_t>(*offset);
    tensor.sizes = *sizes;
    tensor.strides = *strides;
    return tensor;
}

/// From the first element to the last one, in elements of the storage; nothing on overflow or without elements.
std::optional<std::uint64_t> reachOf(const PickledTensor& tensor)
{
    std::optional<std::uint64_t> reach = 1;
    for (std::size_t i = 0; i < tensor.sizes.size() && reach; ++i) {
        if (tensor.sizes[i] == 0)
            return std::nullopt;
        const auto step = checkedMul(tensor.sizes[i] - 1, tensor.strides[i]);
        reach = step ? checkedAdd(*reach, *step) : std::nullopt;
    }
    return reach;
}

Result<void> checkByteOrder(NearbyReader& reader, const ZipDirectory& archive)
{
    const ZipRecord* record = archive.find("byteorder"); // PyTorch before 2.1 wrote none
    if (!record)
        return {};
    DS_TRY(const std::vector<std::byte> order, archive.content(reader, *record, MaxOrderBytes));
    if (asText(order) != "little")
        return fail(Code::Unsupported, fmt::format("its byte order is {}", quoteName(asText(order))));
    return {};
}

Result<StoredView> readItem(NearbyReader& reader, std::uint64_t begin, std::uint64_t bytes)
{
    DS_TRY(const ZipDirectory archive, ZipDirectory::read(reader, begin, bytes));
    const ZipRecord* description = archive.find("data.pkl");
    if (!description)
        return noTensor("has no data.pkl");
    DS_TRY(std::vector<std::byte> text, archive.content(reader, *description, MaxPickleBytes));
    DS_TRY(const Pickle pickle, Pickle::parse(std::move(text)));
    DS_TRY(PickledTensor tensor, readPickledTensor(pickle));
    DS_CHECK(checkByteOrder(reader, archive));

    const ZipRecord* data = archive.find("data/" + tensor.storage);
    if (!data)
        return noTensor(fmt::format("has no storage {}", quoteName(tensor.storage)));
    const std::uint64_t elementBytes = bitsOf(tensor.dtype) / 8;
    const auto storageBytes = checkedMul(tensor.storageElements, elementBytes);
    if (!storageBytes || *storageBytes != data->bytes)
        return noTensor(
            fmt::format("has a storage of {} bytes where {} elements were to be", data->bytes, tensor.storageElements));
    const std::optional<std::uint64_t> reach = reachOf(tensor);
    if (!reach || *reach > tensor.storageElements || tensor.offset > tensor.storageElements - *reach)
        return noTensor("reaches beyond its storage");
    DS_TRY(const std::uint64_t dataBegin, archive.contentBegin(reader, *data));
    return StoredView { tensor.dtype,
                        std::move(tensor.sizes),
                        std::move(tensor.strides),
                        dataBegin + tensor.offset * elementBytes,
                        *reach * elementBytes,
                        dataBegin,
                        data->bytes,
                        data->crc };
}

} // namespace

Result<StoredView> readTensorItem(NearbyReader& reader, std::uint64_t begin, std::uint64_t bytes)
{
    Result<StoredView> view = readItem(reader, begin, bytes);
    if (!view && view.error().where.empty()) {
        view.error().where = reader.object().key;
        view.error().text = fmt::format("the item at byte {}: {}", begin, view.error().text);
    }
    return view;
}

} // namespace deltascope
