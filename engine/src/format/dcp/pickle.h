#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "format/dcp/pickle_globals.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace deltascope {

enum class PickleKind : std::uint8_t {
    None,
    Bool,
    Integer,
    Float,
    Text,
    Bytes,
    Tuple,
    List,
    Dict,
    Set,
    Global,
    Record, ///< what Python would make by calling a global; here its name, arguments and state
    Persistent, ///< a reference that torch.save puts in place of a storage
};

/// A Python pickle of protocol 2 to 5, read as plain data. Nothing is imported or called: a global that is not on the
/// white list is refused, one that is becomes a Record. Values share their parts as the pickle does, so that no input
/// grows in memory beyond a few dozen times its size, and nothing here recurses.
class Pickle {
public:
    static constexpr std::size_t MaxBytes = 128U << 20;
    static constexpr std::size_t MaxValues = 1U << 23;
    static constexpr std::size_t MaxMarks = 64; ///< containers that are open at once
    static constexpr std::size_t MaxAttributes = 64; ///< of a record, as attribute() sees them

    /// Stands for a value of this pickle.
    using Value = std::uint32_t;

    /// Errors: Truncated (it ends in the middle), Unsupported (another protocol, an opcode or a global that no
    /// checkpoint needs), Malformed (it breaks the rules of its opcodes), Hostile (too large, nested too deep).
    static Result<Pickle> parse(std::vector<std::byte> bytes);

    Value top() const noexcept { return m_top; }
    PickleKind kind(Value value) const noexcept { return m_nodes[value].kind; }
    bool isNone(Value value) const noexcept { return kind(value) == PickleKind::None; }
    std::optional<std::int64_t> integer(Value value) const noexcept;
    std::optional<std::string_view> text(Value value) const noexcept; ///< bytes as they are, UTF-8 not checked
    /// What a tuple, list or set holds; of a dict key, value, key, value, … Empty for other kinds.
    std::span<const Value> items(Value value) const noexcept;
    /// The global itself, or the one that a record was made with.
    const PickleGlobal* global(Value value) const noexcept;
    bool isRecord(Value value, GlobalKind kind) const noexcept;
    std::span<const Value> arguments(Value record) const noexcept;
    Value state(Value record) const noexcept; ///< None if there is none
    /// From a record whose state is a dict with text keys.
    std::optional<Value> attribute(Value record, std::string_view name) const noexcept;
    /// A tuple, list or torch.Size of at most MaxTensorRank numbers from 0 on.
    std::optional<std::vector<std::uint64_t>> sizes(Value value) const;
    /// What a Persistent refers to.
    std::optional<Value> persistentId(Value value) const noexcept;

private:
    friend class PickleMachine;

    struct Node {
        PickleKind kind = PickleKind::None;
        std::uint8_t global = 0; ///< Global, Record
        std::uint32_t a = 0; ///< Text, Bytes, Tuple: length; Record: arguments; Persistent: id
        std::uint64_t b = 0; ///< Integer: value; Text, Bytes: place in m_bytes; Tuple: place in m_tupleItems;
                             ///< List, Dict, Set: index into m_containers; Record: state
    };

    std::vector<std::byte> m_bytes;
    std::vector<Node> m_nodes;
    std::vector<Value> m_tupleItems;
    std::vector<std::vector<Value>> m_containers;
    Value m_top = 0;
};

} // namespace deltascope
