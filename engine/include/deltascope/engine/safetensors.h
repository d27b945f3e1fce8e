#pragma once

#include "deltascope/engine/object_store.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// Where one tensor lies in a safetensors file. `begin` counts from the start of the file, not of the data section.
struct StoredTensor {
    TensorInfo info;
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
};

struct HeaderContent;

/// A checked header. Format and every rule: docs/formats/safetensors.md (huggingface/safetensors, src/tensor.rs).
class SafetensorsHeader {
public:
    static constexpr std::uint64_t MaxHeaderBytes = 100'000'000;

    /// `json`: the N header bytes. `fileBytes`: size of the whole file, 8 + N + data.
    /// Errors: Malformed (a rule is broken; the text says which), Hostile (a claim that no writer makes by accident),
    /// Truncated (the file is shorter or longer than promised).
    static Result<SafetensorsHeader> parse(ByteSpan json, std::uint64_t fileBytes);

    /// Reads little but the header. Errors: those of parse and of the store, with the key as `where`; Unfinished (its
    /// length is zero: never written), Malformed (it plainly is something else). `object`: key and size as listed.
    static Result<SafetensorsHeader> read(const ObjectStore& store, const ObjectInfo& object, TaskContext& task);

    /// In the order of their data.
    const std::vector<StoredTensor>& tensors() const noexcept { return m_tensors; }
    /// Leaves the header without them.
    std::vector<StoredTensor> takeTensors() noexcept { return std::move(m_tensors); }
    const StoredTensor* find(std::string_view name) const noexcept;
    const std::map<std::string, std::string, std::less<>>& metadata() const noexcept { return m_metadata; }
    /// Value of a metadata key, empty if absent.
    std::string_view meta(std::string_view key) const noexcept;
    std::uint64_t dataBegin() const noexcept { return m_dataBegin; }

private:
    static Result<SafetensorsHeader> check(HeaderContent content, std::uint64_t headerBytes, std::uint64_t fileBytes);
    static Result<SafetensorsHeader> readUnlocated(const ObjectStore& store, const ObjectInfo& object,
                                                   TaskContext& task);

    std::vector<StoredTensor> m_tensors;
    std::vector<std::uint32_t> m_byName; ///< indices into m_tensors, sorted by name
    std::map<std::string, std::string, std::less<>> m_metadata;
    std::uint64_t m_dataBegin = 0;
};

/// The 8 length bytes and the padded JSON of a file that holds `tensors` in this order, densely packed.
std::string writeSafetensorsHeader(const std::vector<TensorInfo>& tensors,
                                   const std::map<std::string, std::string, std::less<>>& metadata);
std::string writeSafetensorsHeaderOf(const std::vector<const TensorInfo*>& tensors,
                                     const std::map<std::string, std::string, std::less<>>& metadata);

} // namespace deltascope
