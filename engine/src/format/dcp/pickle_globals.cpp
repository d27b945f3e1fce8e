#include "format/dcp/pickle_globals.h"

#include <iterator>

namespace deltascope {

namespace {

constexpr std::string_view Torch = "torch";
constexpr std::string_view TorchUtils = "torch._utils";
constexpr std::string_view Checkpoint = "torch.distributed.checkpoint.metadata";
constexpr std::string_view Checkpoint113 = "torch.distributed._shard.checkpoint.metadata"; // PyTorch 1.13
constexpr std::string_view Sharded = "torch.distributed._shard.sharded_tensor.metadata";
constexpr std::string_view Paths = "pathlib";
constexpr std::string_view LocalPaths = "pathlib._local"; // Python 3.13

constexpr PickleGlobal Globals[] = {
    { Checkpoint, "Metadata", GlobalKind::Metadata, {} },
    { Checkpoint, "TensorStorageMetadata", GlobalKind::TensorMetadata, {} },
    { Checkpoint, "BytesStorageMetadata", GlobalKind::BytesMetadata, {} },
    { Checkpoint, "ChunkStorageMetadata", GlobalKind::ChunkMetadata, {} },
    { Checkpoint, "TensorProperties", GlobalKind::Properties, {} },
    { Checkpoint, "_MEM_FORMAT_ENCODING", GlobalKind::MemoryFormat, {} },
    { Checkpoint, "MetadataIndex", GlobalKind::MetadataIndex, {} },
    { Checkpoint, "StorageMeta", GlobalKind::StorageMeta, {} },
    { Checkpoint113, "Metadata", GlobalKind::Metadata, {} },
    { Checkpoint113, "TensorStorageMetadata", GlobalKind::TensorMetadata, {} },
    { Checkpoint113, "BytesStorageMetadata", GlobalKind::BytesMetadata, {} },
    { Checkpoint113, "ChunkStorageMetadata", GlobalKind::ChunkMetadata, {} },
    { Checkpoint113, "MetadataIndex", GlobalKind::MetadataIndex, {} },
    { Sharded, "TensorProperties", GlobalKind::Properties, {} },
    { Sharded, "MEM_FORMAT_ENCODING", GlobalKind::MemoryFormat, {} },
    { "torch.distributed.checkpoint.filesystem", "_StorageInfo", GlobalKind::StorageInfo, {} },
    { "torch.distributed._shard.checkpoint.filesystem", "_StorageInfo", GlobalKind::StorageInfo, {} },
    { Torch, "Size", GlobalKind::Size, {} },
    { "torch.serialization", "_get_layout", GlobalKind::MemoryLayout, {} },
    { "collections", "OrderedDict", GlobalKind::OrderedDict, {} },
    { "builtins", "getattr", GlobalKind::GetAttribute, {} },
    { "__builtin__", "getattr", GlobalKind::GetAttribute, {} }, // protocol 2
    { Paths, "PosixPath", GlobalKind::Path, {} },
    { Paths, "PurePosixPath", GlobalKind::Path, {} },
    { Paths, "WindowsPath", GlobalKind::Path, {} },
    { Paths, "PureWindowsPath", GlobalKind::Path, {} },
    { LocalPaths, "PosixPath", GlobalKind::Path, {} },
    { LocalPaths, "PurePosixPath", GlobalKind::Path, {} },
    { LocalPaths, "WindowsPath", GlobalKind::Path, {} },
    { LocalPaths, "PureWindowsPath", GlobalKind::Path, {} },
    { TorchUtils, "_rebuild_tensor_v2", GlobalKind::RebuildTensor, {} },
    { TorchUtils, "_rebuild_tensor_v3", GlobalKind::RebuildTensorWithDtype, {} },
    { TorchUtils, "_rebuild_parameter", GlobalKind::RebuildParameter, {} },

    { Torch, "bool", GlobalKind::ElementType, Dtype::Bool },
    { Torch, "uint8", GlobalKind::ElementType, Dtype::U8 },
    { Torch, "int8", GlobalKind::ElementType, Dtype::I8 },
    { Torch, "uint16", GlobalKind::ElementType, Dtype::U16 },
    { Torch, "int16", GlobalKind::ElementType, Dtype::I16 },
    { Torch, "uint32", GlobalKind::ElementType, Dtype::U32 },
    { Torch, "int32", GlobalKind::ElementType, Dtype::I32 },
    { Torch, "uint64", GlobalKind::ElementType, Dtype::U64 },
    { Torch, "int64", GlobalKind::ElementType, Dtype::I64 },
    { Torch, "float16", GlobalKind::ElementType, Dtype::F16 },
    { Torch, "bfloat16", GlobalKind::ElementType, Dtype::BF16 },
    { Torch, "float32", GlobalKind::ElementType, Dtype::F32 },
    { Torch, "float64", GlobalKind::ElementType, Dtype::F64 },
    { Torch, "complex64", GlobalKind::ElementType, Dtype::C64 },
    { Torch, "float8_e4m3fn", GlobalKind::ElementType, Dtype::F8E4M3 },
    { Torch, "float8_e5m2", GlobalKind::ElementType, Dtype::F8E5M2 },
    { Torch, "float8_e4m3fnuz", GlobalKind::ElementType, Dtype::F8E4M3Fnuz },
    { Torch, "float8_e5m2fnuz", GlobalKind::ElementType, Dtype::F8E5M2Fnuz },
    { Torch, "float8_e8m0fnu", GlobalKind::ElementType, Dtype::F8E8M0 },
    { Torch, "float4_e2m1fn_x2", GlobalKind::ElementType, {} },
    { Torch, "complex32", GlobalKind::ElementType, {} },
    { Torch, "complex128", GlobalKind::ElementType, {} },
    { Torch, "quint8", GlobalKind::ElementType, {} },
    { Torch, "qint8", GlobalKind::ElementType, {} },
    { Torch, "qint32", GlobalKind::ElementType, {} },

    { Torch, "BoolStorage", GlobalKind::Storage, Dtype::Bool },
    { Torch, "ByteStorage", GlobalKind::Storage, Dtype::U8 },
    { Torch, "CharStorage", GlobalKind::Storage, Dtype::I8 },
    { Torch, "ShortStorage", GlobalKind::Storage, Dtype::I16 },
    { Torch, "IntStorage", GlobalKind::Storage, Dtype::I32 },
    { Torch, "LongStorage", GlobalKind::Storage, Dtype::I64 },
    { Torch, "HalfStorage", GlobalKind::Storage, Dtype::F16 },
    { Torch, "BFloat16Storage", GlobalKind::Storage, Dtype::BF16 },
    { Torch, "FloatStorage", GlobalKind::Storage, Dtype::F32 },
    { Torch, "DoubleStorage", GlobalKind::Storage, Dtype::F64 },
    { Torch, "ComplexFloatStorage", GlobalKind::Storage, Dtype::C64 },
    { Torch, "UntypedStorage", GlobalKind::Storage, {} },
    { "torch.storage", "UntypedStorage", GlobalKind::Storage, {} },
};
static_assert(std::size(Globals) < 256);

} // namespace

std::optional<std::uint8_t> findPickleGlobal(std::string_view module, std::string_view name) noexcept
{
    for (std::size_t i = 0; i < std::size(Globals); ++i) {
        if (Globals[i].name == name && Globals[i].module == module)
            return static_cast<std::uint8_t>(i);
    }
    return std::nullopt;
}

const PickleGlobal& pickleGlobal(std::uint8_t index) noexcept { return Globals[index]; }

} // namespace deltascope
