#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// model.safetensors.index.json, as Hugging Face checkpoints and the disk deltas of slime have it (docs/formats/hf.md,
/// docs/formats/slime-v2.md).
struct IndexJson {
    static constexpr std::uint64_t MaxBytes = 64U << 20;
    static constexpr int MaxDepth = 4;

    bool hasMetadata = false;
    /// Strings as they are, integers in decimal; nothing for values of other types.
    std::map<std::string, std::optional<std::string>, std::less<>> metadata;
    /// The names of the files that hold tensors, each once. They are checked with isSafeFileName.
    std::vector<std::string> files;
    /// Tensor name to the index of its file in `files`.
    std::map<std::string, std::uint32_t, std::less<>> weightMap;

    bool isDelta() const { return metadata.find("delta_encoding") != metadata.end(); }
    /// A metadata value, empty if absent or of another type.
    std::string_view meta(std::string_view key) const;
    /// A metadata value that is a decimal number, "000007" or 7.
    std::optional<std::int64_t> number(std::string_view key) const;
};

/// Errors: Unfinished (not a whole JSON text: writers are caught in the act), Malformed (not the shape of an index,
/// file names that are not plain), Hostile (duplicate keys, too deep, file names that lead out of the folder). `key`
/// becomes `where`.
Result<IndexJson> parseIndexJson(ByteSpan text, std::string_view key);

/// Errors: those of parseIndexJson and of the store; Malformed, with what it is, for a file that plainly is something
/// else; Hostile above MaxBytes.
Result<IndexJson> readIndexJson(const ObjectStore& store, const ObjectInfo& object, TaskContext& task);

/// A plain name in the same folder: letters, digits, '.', '_', '-', at most 255 of them, neither "." nor "..".
bool isSafeFileName(std::string_view name) noexcept;

} // namespace deltascope
