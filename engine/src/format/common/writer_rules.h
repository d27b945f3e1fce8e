#pragma once

#include "deltascope/engine/version_writer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// What every version writer checks before foreign readers would have to.

/// UTF-8 without control characters or bidirectional controls, as docs/formats/safetensors.md 3.2 wants it of names.
bool isWritableText(std::string_view text) noexcept;

/// Errors: Usage (not writable, too long, or a name that the container keeps for itself).
Result<void> checkTensorName(std::string_view name);
/// Usage: a version holds each tensor once.
tl::unexpected<Error> occursTwice(std::string_view name);
/// Errors: Usage (no "ds." key, not writable).
Result<void> checkFact(std::string_view key, std::string_view value);
Result<void> checkFacts(const VersionFactMap& facts);

/// Size of what ElementChanges counts: an element, or a byte for types below that.
std::uint64_t changeUnitBytes(Dtype dtype) noexcept;

/// Follows the blocks of one tensor and finds the caller's mistakes. Errors: Internal.
class BlockCursor {
public:
    explicit BlockCursor(const TensorInfo& tensor);

    /// The next block, of `bytes`. With `changes`: their place, order and number of values are checked too.
    Result<void> take(std::uint64_t bytes, const ElementChanges* changes);
    Result<void> expectEnd() const;
    std::uint64_t at() const noexcept { return m_at; } ///< bytes that were taken

private:
    tl::unexpected<Error> defect(const char* text) const;

    std::string m_name;
    std::uint64_t m_bytes;
    std::uint64_t m_unit;
    std::uint64_t m_at = 0;
};

/// Whether the object holds exactly what `source` gives. Errors: those of the store and the source.
Result<bool> holdsSameBytes(const ObjectStore& store, const ObjectInfo& object, const Payload& source,
                            TaskContext& task);

/// writeSafetensorsHeader for a version. Errors: Unsupported (more header than readers take).
Result<std::string> versionHeader(const std::vector<TensorInfo>& tensors, const VersionFactMap& metadata);

} // namespace deltascope
