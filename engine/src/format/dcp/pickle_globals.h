#pragma once

#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace deltascope {

/// What a global of a pickle stands for. None of it is ever called.
enum class GlobalKind : std::uint8_t {
    Metadata,
    TensorMetadata,
    BytesMetadata,
    ChunkMetadata,
    Properties,
    MemoryFormat,
    MetadataIndex,
    StorageInfo,
    StorageMeta,
    Size,
    MemoryLayout,
    OrderedDict,
    GetAttribute, ///< how early releases of Python 3.11 name a member of an enumeration
    Path,
    RebuildTensor, ///< storage classes carry the element type
    RebuildTensorWithDtype, ///< storages are bytes, the element type is an argument
    RebuildParameter,
    ElementType,
    Storage,
};

struct PickleGlobal {
    std::string_view module;
    std::string_view name;
    GlobalKind kind;
    /// Of an ElementType or a Storage; empty where safetensors has no such type, and for a Storage of plain bytes.
    std::optional<Dtype> dtype;
};

/// The white list of docs/formats/dcp.md, section 5: an index for pickleGlobal(), or nothing.
std::optional<std::uint8_t> findPickleGlobal(std::string_view module, std::string_view name) noexcept;
const PickleGlobal& pickleGlobal(std::uint8_t index) noexcept;

} // namespace deltascope
