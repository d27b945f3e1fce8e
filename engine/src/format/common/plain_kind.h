#pragma once

#include "deltascope/engine/object_store.h"

#include <optional>
#include <string>

namespace deltascope {

/// What a reader expects an object to be.
enum class Wanted : std::uint8_t { Tensors, Json, Pickle, TorchItems, Zstd };

/// What an object plainly is, by its first bytes.
struct PlainKind {
    std::string what; ///< "a Git LFS pointer"
    std::string remedy; ///< how to get the right bytes, one sentence
    std::optional<Wanted> is; ///< what it may be wanted as
};

/// How many bytes of an object plainKindOf() wants to see.
inline constexpr std::uint64_t PlainKindBytes = 1024;

/// Nothing where the bytes are those of no kind that is known here. A safetensors file is none: its first 8 bytes
/// are a length, and no kind begins with a length that a header may have and that a brace follows.
std::optional<PlainKind> plainKindOf(ByteSpan start);

/// `refusal`, or in its place what the object plainly is instead of what its reader wants. Reads the first bytes of the
/// object if `refusal` speaks of its content.
Error orPlainKind(Error refusal, Wanted wanted, const ObjectStore& store, const ObjectInfo& object, TaskContext& task);

} // namespace deltascope
