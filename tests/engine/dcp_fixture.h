#pragma once

#include "format/dcp/dcp_layout.h"

#include "layout_fixture.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Writes pickles, archives and checkpoints as torch.distributed.checkpoint does (docs/formats/dcp.md), and wrong ones.

namespace deltascope::layout_test {

using Sizes = std::vector<std::uint64_t>;

template <class Number> std::string littleEndian(Number value)
{
    std::string bytes(sizeof value, '\0');
    storeLe<Number>(writable(bytes), 0, value);
    return bytes;
}

// --- pickles: pieces of opcodes ---

namespace pickled {

inline std::string text(std::string_view value)
{
    return "X" + littleEndian(static_cast<std::uint32_t>(value.size())) + std::string(value);
}
inline std::string number(std::int64_t value)
{
    if (value >= 0 && value < 256)
        return "K" + littleEndian(static_cast<std::uint8_t>(value));
    return "\x8a\x08" + littleEndian(value);
}
inline std::string global(std::string_view module, std::string_view name)
{
    return fmt::format("c{}\n{}\n", module, name);
}
inline std::string joined(const std::vector<std::string>& parts)
{
    std::string all;
    for (const std::string& part : parts)
        all += part;
    return all;
}
inline std::string tuple(const std::vector<std::string>& parts) { return "(" + joined(parts) + "t"; }
inline std::string list(const std::vector<std::string>& parts) { return "](" + joined(parts) + "e"; }
/// Key, value, key, value, …
inline std::string dict(const std::vector<std::string>& parts) { return "}(" + joined(parts) + "u"; }
inline std::string call(const std::string& callee, const std::vector<std::string>& arguments)
{
    return callee + tuple(arguments) + "R";
}
inline std::string object(const std::string& type, const std::string& state) { return type + ")\x81" + state + "b"; }
inline std::string whole(const std::string& body, int protocol = 2)
{
    return std::string("\x80") + static_cast<char>(protocol) + body + ".";
}
inline std::string numbers(const Sizes& values)
{
    std::vector<std::string> parts;
    for (const std::uint64_t value : values)
        parts.push_back(number(static_cast<std::int64_t>(value)));
    return tuple(parts);
}
inline std::string size(const Sizes& values) { return call(global("torch", "Size"), { numbers(values) }); }
inline std::string torchMetadata(std::string_view name)
{
    return global("torch.distributed.checkpoint.metadata", name);
}

} // namespace pickled

// --- archives ---

struct ArchiveRecord {
    std::string name;
    std::string data;
};

/// A ZIP archive like that of torch.save: nothing compressed, sizes behind the data, contents aligned to 64 bytes.
inline std::string torchArchive(const std::vector<ArchiveRecord>& records, bool zip64 = false)
{
    const auto u16 = [](std::size_t value) { return littleEndian(static_cast<std::uint16_t>(value)); };
    const auto u32 = [](std::size_t value) { return littleEndian(static_cast<std::uint32_t>(value)); };
    const auto u64 = [](std::size_t value) { return littleEndian(static_cast<std::uint64_t>(value)); };
    std::string out;
    std::string directory;
    for (const ArchiveRecord& record : records) {
        const std::string name = "archive/" + record.name;
        const std::size_t header = out.size();
        const std::size_t padding = 63 - (header + 30 + name.size() + 4 + 63) % 64;
        out += "PK\x03\x04" + u16(0) + u16(0x808) + std::string(18, '\0') + u16(name.size()) + u16(4 + padding) + name
            + "FB" + u16(padding) + std::string(padding, 'Z') + record.data;
        out += "PK\x07\x08" + std::string(4, '\0') + u32(record.data.size()) + u32(record.data.size());
        const std::string wide =
            zip64 ? u16(1) + u16(24) + u64(record.data.size()) + u64(record.data.size()) + u64(header) : std::string();
        const std::size_t full = 0xFFFFFFFF;
        directory += "PK\x01\x02" + u32(0) + u16(0x808) + u16(0) + std::string(8, '\0')
            + u32(zip64 ? full : record.data.size()) + u32(zip64 ? full : record.data.size()) + u16(name.size())
            + u16(wide.size()) + u16(0) + std::string(8, '\0') + u32(zip64 ? full : header) + name + wide;
    }
    const std::size_t begin = out.size();
    out += directory;
    if (zip64) {
        const std::size_t end = out.size();
        out += "PK\x06\x06" + u64(44) + u16(0x31e) + u16(45) + u32(0) + u32(0) + u64(records.size())
            + u64(records.size()) + u64(directory.size()) + u64(begin);
        out += "PK\x06\x07" + u32(0) + u64(end) + u32(1);
    }
    out += "PK\x05\x06" + u32(0) + u16(zip64 ? 0xFFFF : records.size()) + u16(zip64 ? 0xFFFF : records.size())
        + u32(zip64 ? 0xFFFFFFFF : directory.size()) + u32(zip64 ? 0xFFFFFFFF : begin) + u16(0);
    return out;
}

// --- items ---

struct TorchType {
    Dtype dtype = Dtype::BF16;
    std::string_view word = "bfloat16";
    std::string_view storage = "BFloat16Storage"; ///< empty: bytes, with the type as an argument
};
inline constexpr TorchType TorchBF16 { Dtype::BF16, "bfloat16", "BFloat16Storage" };
inline constexpr TorchType TorchF32 { Dtype::F32, "float32", "FloatStorage" };
inline constexpr TorchType TorchU8 { Dtype::U8, "uint8", "ByteStorage" };
inline constexpr TorchType TorchI64 { Dtype::I64, "int64", "LongStorage" };
inline constexpr TorchType TorchF8 { Dtype::F8E4M3, "float8_e4m3fn", {} };
inline constexpr TorchType TorchC64 { Dtype::C64, "complex64", "ComplexFloatStorage" };

inline Sizes rowMajor(const Sizes& sizes)
{
    Sizes strides(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;)
        strides[i - 1] = strides[i] * sizes[i];
    return strides;
}

/// A view on a storage.
struct View {
    Sizes sizes;
    Sizes strides; ///< empty: row-major
    std::uint64_t offset = 0;
    std::string storage;
};

inline std::string tensorPickle(const TorchType& type, const View& view)
{
    using namespace pickled;
    const std::size_t elementBytes = bitsOf(type.dtype) / 8;
    const bool typed = !type.storage.empty();
    const std::string id = tuple(
        { text("storage"), typed ? global("torch", type.storage) : global("torch.storage", "UntypedStorage"), text("0"),
          text("cpu"), number(static_cast<std::int64_t>(view.storage.size() / (typed ? elementBytes : 1))) });
    std::vector<std::string> arguments = { id + "Q",
                                           number(static_cast<std::int64_t>(view.offset)),
                                           numbers(view.sizes),
                                           numbers(view.strides.empty() ? rowMajor(view.sizes) : view.strides),
                                           "\x89",
                                           call(global("collections", "OrderedDict"), {}) };
    if (!typed)
        arguments.push_back(global("torch", type.word));
    return whole(call(global("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3"), arguments));
}

inline std::string tensorItem(const TorchType& type, const View& view, bool zip64 = false)
{
    return torchArchive({ { "data.pkl", tensorPickle(type, view) },
                          { ".format_version", "1" },
                          { "byteorder", "little" },
                          { "data/0", view.storage },
                          { "version", "3\n" } },
                        zip64);
}

// --- checkpoints ---

struct ChunkSpec {
    Sizes offsets;
    Sizes sizes;
    std::string item;
    std::string file = "__0_0.distcp";
};

struct TensorSpec {
    std::string name;
    TorchType type = TorchBF16;
    Sizes shape;
    std::vector<ChunkSpec> chunks;
};

/// A tensor in one chunk.
inline TensorSpec wholeTensor(const std::string& name, const Sizes& shape, const std::string& data,
                              const TorchType& type = TorchBF16)
{
    return { name, type, shape, { { Sizes(shape.size()), shape, tensorItem(type, { shape, {}, 0, data }) } } };
}

inline std::string tensorMetadata(const TensorSpec& tensor)
{
    using namespace pickled;
    const std::string properties = torchMetadata("TensorProperties") + ")\x81"
        + tuple({ global("torch", tensor.type.word),
                  call(global("torch.serialization", "_get_layout"), { text("torch.strided") }), "\x89",
                  call(torchMetadata("_MEM_FORMAT_ENCODING"), { number(0) }), "\x89" })
        + "b";
    std::vector<std::string> chunks;
    for (const ChunkSpec& chunk : tensor.chunks)
        chunks.push_back(object(torchMetadata("ChunkStorageMetadata"),
                                dict({ text("offsets"), size(chunk.offsets), text("sizes"), size(chunk.sizes) })));
    return object(
        torchMetadata("TensorStorageMetadata"),
        dict({ text("properties"), properties, text("size"), size(tensor.shape), text("chunks"), list(chunks) }));
}

inline std::string metadataIndex(const std::string& name, const Sizes& offsets)
{
    using namespace pickled;
    return object(torchMetadata("MetadataIndex"),
                  dict({ text("fqn"), text(name), text("index"), number(0), text("offset"), size(offsets) }));
}

inline std::string storageInfo(const std::string& file, std::uint64_t offset, std::uint64_t length,
                               const std::string& more = {})
{
    using namespace pickled;
    return object(global("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
                  dict({ text("relative_path"), text(file), text("offset"), number(static_cast<std::int64_t>(offset)),
                         text("length"), number(static_cast<std::int64_t>(length)), more }));
}

inline std::string metadataFile(const std::vector<std::string>& tensors, const std::vector<std::string>& storage)
{
    using namespace pickled;
    return whole(object(torchMetadata("Metadata"),
                        dict({ text("state_dict_metadata"), dict(tensors), text("planner_data"), "N",
                               text("storage_data"), dict(storage) })));
}

/// The files of one checkpoint by name.
inline std::map<std::string, std::string> checkpointFiles(const std::vector<TensorSpec>& tensors)
{
    std::map<std::string, std::string> files;
    std::vector<std::string> described;
    std::vector<std::string> stored;
    for (const TensorSpec& tensor : tensors) {
        described.insert(described.end(), { pickled::text(tensor.name), tensorMetadata(tensor) });
        for (const ChunkSpec& chunk : tensor.chunks) {
            std::string& file = files[chunk.file];
            stored.insert(
                stored.end(),
                { metadataIndex(tensor.name, chunk.offsets), storageInfo(chunk.file, file.size(), chunk.item.size()) });
            file += chunk.item;
        }
    }
    files[".metadata"] = metadataFile(described, stored);
    return files;
}

inline void putCheckpoint(Source& source, const std::vector<TensorSpec>& tensors, const std::string& folder = {})
{
    for (const auto& [name, bytes] : checkpointFiles(tensors))
        source.put(folder + name, bytes);
}

/// The bytes of the only tensor of a checkpoint, read in blocks.
inline std::string bytesOf(Source& source, const TensorInfo& target, std::uint64_t blockBytes = 0,
                           StreamOptions options = {})
{
    std::string state(target.bytes(), '\0');
    const auto counts = applyOnly(DcpLayout(), source, target, state, blockBytes, options);
    EXPECT_TRUE(counts) << counts.error().text;
    return state;
}

} // namespace deltascope::layout_test
