#include "format/dcp/pickle.h"

#include "deltascope/engine/tensor.h"

namespace deltascope {

std::optional<std::int64_t> Pickle::integer(Value value) const noexcept
{
    const Node& node = m_nodes[value];
    return node.kind == PickleKind::Integer ? std::optional(static_cast<std::int64_t>(node.b)) : std::nullopt;
}

std::optional<std::string_view> Pickle::text(Value value) const noexcept
{
    const Node& node = m_nodes[value];
    if (node.kind != PickleKind::Text)
        return std::nullopt;
    return asText(ByteSpan(m_bytes).subspan(node.b, node.a));
}

std::span<const Pickle::Value> Pickle::items(Value value) const noexcept
{
    const Node& node = m_nodes[value];
    switch (node.kind) {
    case PickleKind::Tuple:
        return std::span(m_tupleItems).subspan(node.b, node.a);
    case PickleKind::List:
    case PickleKind::Dict:
    case PickleKind::Set:
        return m_containers[node.b];
    default:
        return {};
    }
}

const PickleGlobal* Pickle::global(Value value) const noexcept
{
    const Node& node = m_nodes[value];
    return node.kind == PickleKind::Global || node.kind == PickleKind::Record ? &pickleGlobal(node.global) : nullptr;
}

bool Pickle::isRecord(Value value, GlobalKind kind) const noexcept
{
    return m_nodes[value].kind == PickleKind::Record && pickleGlobal(m_nodes[value].global).kind == kind;
}

std::span<const Pickle::Value> Pickle::arguments(Value record) const noexcept
{
    const Node& node = m_nodes[record];
    return node.kind == PickleKind::Record ? items(node.a) : std::span<const Value>();
}

Pickle::Value Pickle::state(Value record) const noexcept
{
    const Node& node = m_nodes[record];
    return node.kind == PickleKind::Record ? static_cast<Value>(node.b) : 0;
}

std::optional<Pickle::Value> Pickle::attribute(Value record, std::string_view name) const noexcept
{
    const Value attributes = state(record);
    const std::span<const Value> pairs = items(attributes);
    if (kind(attributes) != PickleKind::Dict || pairs.size() > 2 * MaxAttributes)
        return std::nullopt;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        if (text(pairs[i]) == name)
            return pairs[i + 1];
    }
    return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> Pickle::sizes(Value value) const
{
    if (isRecord(value, GlobalKind::Size)) {
        if (arguments(value).size() != 1)
            return std::nullopt;
        value = arguments(value).front();
    }
    const std::span<const Value> numbers = items(value);
    if ((kind(value) != PickleKind::Tuple && kind(value) != PickleKind::List) || numbers.size() > MaxTensorRank)
        return std::nullopt;
    std::vector<std::uint64_t> out;
    for (const Value number : numbers) {
        const std::optional<std::int64_t> size = integer(number);
        if (!size || *size < 0)
            return std::nullopt;
        out.push_back(static_cast<std::uint64_t>(*size));
    }
    return out;
}

std::optional<Pickle::Value> Pickle::persistentId(Value value) const noexcept
{
    const Node& node = m_nodes[value];
    return node.kind == PickleKind::Persistent ? std::optional(node.a) : std::nullopt;
}

} // namespace deltascope
