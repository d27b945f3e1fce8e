// The stack machine behind Pickle::parse(). Opcodes: Lib/pickletools.py of CPython 3.11.

#include "format/common/quote_name.h"
#include "format/dcp/pickle.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr Pickle::Value None = 0;
constexpr Pickle::Value False = 1;
constexpr Pickle::Value True = 2;
constexpr Pickle::Value FirstInteger = 3;
constexpr unsigned SharedIntegers = 256;
constexpr Pickle::Value EmptyTuple = FirstInteger + SharedIntegers;

constexpr unsigned OldestProtocol = 2;
constexpr unsigned NewestProtocol = 5;

} // namespace

class PickleMachine {
public:
    explicit PickleMachine(std::vector<std::byte> bytes)
        : m_bytes(std::move(bytes))
    {
        m_out.m_nodes.resize(EmptyTuple + 1);
        m_out.m_nodes[False] = { PickleKind::Bool, 0, 0, 0 };
        m_out.m_nodes[True] = { PickleKind::Bool, 0, 0, 1 };
        for (unsigned i = 0; i < SharedIntegers; ++i)
            m_out.m_nodes[FirstInteger + i] = { PickleKind::Integer, 0, 0, i };
        m_out.m_nodes[EmptyTuple] = { PickleKind::Tuple, 0, 0, 0 };
    }

    Result<Pickle> run()
    {
        DS_CHECK(checkStart());
        while (!m_stopped) {
            m_opAt = m_at;
            DS_TRY(const std::uint8_t opcode, number<std::uint8_t>());
            DS_CHECK(step(opcode));
        }
        if (m_at != m_bytes.size())
            return malformed(fmt::format("ends {} bytes before its object does", m_bytes.size() - m_at));
        m_out.m_bytes = std::move(m_bytes);
        return std::move(m_out);
    }

private:
    using Value = Pickle::Value;
    using Node = Pickle::Node;

    tl::unexpected<Error> refuse(Code code, const std::string& what) const
    {
        return fail(code, fmt::format("the pickle {} (byte {})", what, m_opAt));
    }
    tl::unexpected<Error> hostile(const std::string& what) const { return refuse(Code::Hostile, what); }
    tl::unexpected<Error> malformed(const std::string& what) const { return refuse(Code::Malformed, what); }

    Result<void> checkStart()
    {
        if (m_bytes.size() > Pickle::MaxBytes)
            return hostile(fmt::format("has {} bytes, more than the {} allowed", m_bytes.size(), Pickle::MaxBytes));
        DS_TRY(const std::uint8_t opcode, number<std::uint8_t>());
        if (opcode != 0x80)
            return refuse(Code::Unsupported, "does not start with a protocol number, as those of PyTorch do");
        DS_TRY(const std::uint8_t protocol, number<std::uint8_t>());
        if (protocol < OldestProtocol || protocol > NewestProtocol)
            return refuse(Code::Unsupported,
                          fmt::format("has protocol {}; {} to {} are read", protocol, OldestProtocol, NewestProtocol));
        return {};
    }

    Result<void> step(std::uint8_t opcode)
    {
        switch (opcode) {
        case '.': // STOP
            return stop();
        case 0x95: // FRAME
            return frame();
        case '(': // MARK
            return mark();
        case 'N': // NONE
            return push(None);
        case 0x88: // NEWTRUE
            return push(True);
        case 0x89: // NEWFALSE
            return push(False);
        case 'K': // BININT1
            return integer<std::uint8_t>();
        case 'M': // BININT2
            return integer<std::uint16_t>();
        case 'J': // BININT
            return integer<std::int32_t>();
        case 0x8A: // LONG1
            return longInteger<std::uint8_t>();
        case 0x8B: // LONG4
            return longInteger<std::uint32_t>();
        case 'G': // BINFLOAT
            return real();
        case 0x8C: // SHORT_BINUNICODE
            return blob<std::uint8_t>(PickleKind::Text);
        case 'X': // BINUNICODE
            return blob<std::uint32_t>(PickleKind::Text);
        case 0x8D: // BINUNICODE8
            return blob<std::uint64_t>(PickleKind::Text);
        case 'C': // SHORT_BINBYTES
            return blob<std::uint8_t>(PickleKind::Bytes);
        case 'B': // BINBYTES
            return blob<std::uint32_t>(PickleKind::Bytes);
        case 0x8E: // BINBYTES8
        case 0x96: // BYTEARRAY8
            return blob<std::uint64_t>(PickleKind::Bytes);
        case 'q': // BINPUT
            return put<std::uint8_t>();
        case 'r': // LONG_BINPUT
            return put<std::uint32_t>();
        case 0x94: // MEMOIZE
            return putAt(m_memo.size());
        case 'h': // BINGET
            return get<std::uint8_t>();
        case 'j': // LONG_BINGET
            return get<std::uint32_t>();
        default:
            return stepOnContainers(opcode);
        }
    }

    Result<void> stepOnContainers(std::uint8_t opcode)
    {
        switch (opcode) {
        case ')': // EMPTY_TUPLE
            return push(EmptyTuple);
        case 0x85: // TUPLE1
        case 0x86: // TUPLE2
        case 0x87: // TUPLE3
            return tupleOf(opcode - 0x84U);
        case 't': // TUPLE
            return tuple();
        case ']': // EMPTY_LIST
            return container(PickleKind::List);
        case '}': // EMPTY_DICT
            return container(PickleKind::Dict);
        case 0x8F: // EMPTY_SET
            return container(PickleKind::Set);
        case 'a': // APPEND
            return extendBy(PickleKind::List, 1);
        case 'e': // APPENDS
            return extend(PickleKind::List);
        case 's': // SETITEM
            return extendBy(PickleKind::Dict, 2);
        case 'u': // SETITEMS
            return extend(PickleKind::Dict);
        case 0x90: // ADDITEMS
            return extend(PickleKind::Set);
        case 0x91: // FROZENSET
            return frozenSet();
        case 'c': // GLOBAL
            return globalFromLines();
        case 0x93: // STACK_GLOBAL
            return globalFromStack();
        case 'R': // REDUCE
        case 0x81: // NEWOBJ
            return record();
        case 'b': // BUILD
            return build();
        case 'Q': // BINPERSID
            return persistent();
        default:
            return refuse(Code::Unsupported,
                          fmt::format("uses opcode 0x{:02x}, which no checkpoint of PyTorch needs", opcode));
        }
    }

    // --- input ---

    Result<ByteSpan> take(std::uint64_t bytes)
    {
        if (bytes > m_bytes.size() - m_at)
            return refuse(Code::Truncated, "ends in the middle");
        const ByteSpan taken = ByteSpan(m_bytes).subspan(m_at, bytes);
        m_at += bytes;
        return taken;
    }

    template <class Number> Result<Number> number()
    {
        DS_TRY(const ByteSpan bytes, take(sizeof(Number)));
        return loadLe<Number>(bytes);
    }

    Result<std::string_view> line()
    {
        const std::string_view rest = asText(ByteSpan(m_bytes).subspan(m_at));
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos)
            return refuse(Code::Truncated, "ends in the middle of a name");
        m_at += end + 1;
        return rest.substr(0, end);
    }

    // --- stack ---

    std::size_t floor() const noexcept { return m_marks.empty() ? 0 : m_marks.back(); }

    Result<void> push(Value value)
    {
        m_stack.push_back(value);
        return {};
    }

    Result<void> pushNode(Node node)
    {
        if (m_out.m_nodes.size() >= Pickle::MaxValues)
            return hostile(fmt::format("holds more than {} values", Pickle::MaxValues));
        m_out.m_nodes.push_back(node);
        return push(static_cast<Value>(m_out.m_nodes.size() - 1));
    }

    Result<Value> pop()
    {
        if (m_stack.size() <= floor())
            return malformed("takes more from its stack than it put there");
        const Value value = m_stack.back();
        m_stack.pop_back();
        return value;
    }

    Result<void> mark()
    {
        if (m_marks.size() == Pickle::MaxMarks)
            return hostile(fmt::format("is nested deeper than {} levels", Pickle::MaxMarks));
        m_marks.push_back(m_stack.size());
        return {};
    }

    /// Where the values behind the last mark begin; the mark is gone then.
    Result<std::size_t> takeMark()
    {
        if (m_marks.empty())
            return malformed("closes what it did not open");
        const std::size_t begin = m_marks.back();
        m_marks.pop_back();
        return begin;
    }

    Result<void> stop()
    {
        DS_TRY(m_out.m_top, pop());
        if (!m_stack.empty() || !m_marks.empty())
            return malformed("stops with more than one value");
        m_stopped = true;
        return {};
    }

    Result<void> frame()
    {
        DS_TRY(const std::uint64_t bytes, number<std::uint64_t>());
        if (bytes > m_bytes.size() - m_at)
            return refuse(Code::Truncated, "ends in the middle of a frame");
        return {};
    }

    // --- memo ---

    template <class Number> Result<void> put()
    {
        DS_TRY(const Number index, number<Number>());
        return putAt(index);
    }

    Result<void> putAt(std::size_t index)
    {
        if (m_stack.size() <= floor())
            return malformed("notes a value where there is none");
        if (index > m_memo.size())
            return malformed("numbers its values with holes");
        if (index == m_memo.size())
            m_memo.push_back(None);
        m_memo[index] = m_stack.back();
        return {};
    }

    template <class Number> Result<void> get()
    {
        DS_TRY(const Number index, number<Number>());
        if (index >= m_memo.size())
            return malformed("refers to a value that it has not noted");
        return push(m_memo[index]);
    }

    // --- values ---

    template <class Number> Result<void> integer()
    {
        DS_TRY(const Number value, number<Number>());
        return pushInteger(value);
    }

    Result<void> pushInteger(std::int64_t value)
    {
        if (value >= 0 && value < SharedIntegers)
            return push(FirstInteger + static_cast<Value>(value));
        return pushNode({ PickleKind::Integer, 0, 0, static_cast<std::uint64_t>(value) });
    }

    template <class Length> Result<void> longInteger()
    {
        DS_TRY(const Length length, number<Length>());
        if (length > sizeof(std::int64_t))
            return refuse(Code::Unsupported, "holds a number of more than 64 bits");
        DS_TRY(const ByteSpan bytes, take(length));
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
        const bool negative = !bytes.empty() && (bytes.back() & std::byte { 0x80 }) != std::byte { 0 };
        if (negative && length < sizeof value)
            value |= ~std::uint64_t { 0 } << (8 * length);
        return pushInteger(static_cast<std::int64_t>(value));
    }

    Result<void> real()
    {
        DS_CHECK(take(sizeof(double)));
        return pushNode({ PickleKind::Float, 0, 0, 0 });
    }

    template <class Length> Result<void> blob(PickleKind kind)
    {
        DS_TRY(const Length length, number<Length>());
        const std::size_t begin = m_at;
        DS_TRY(const ByteSpan bytes, take(length));
        return pushNode({ kind, 0, static_cast<std::uint32_t>(bytes.size()), begin });
    }

    // --- containers ---

    Result<void> tupleFrom(std::size_t begin)
    {
        const Node node { PickleKind::Tuple, 0, static_cast<std::uint32_t>(m_stack.size() - begin),
                          m_out.m_tupleItems.size() };
        m_out.m_tupleItems.insert(m_out.m_tupleItems.end(), m_stack.begin() + static_cast<std::ptrdiff_t>(begin),
                                  m_stack.end());
        m_stack.resize(begin);
        return pushNode(node);
    }

    Result<void> tupleOf(std::size_t count)
    {
        if (m_stack.size() - floor() < count)
            return malformed("takes more from its stack than it put there");
        return tupleFrom(m_stack.size() - count);
    }

    Result<void> tuple()
    {
        DS_TRY(const std::size_t begin, takeMark());
        return tupleFrom(begin);
    }

    Result<void> container(PickleKind kind)
    {
        m_out.m_containers.emplace_back();
        return pushNode({ kind, 0, 0, m_out.m_containers.size() - 1 });
    }

    /// Moves the values from `begin` on into the container below them.
    Result<void> extendFrom(PickleKind kind, std::size_t begin)
    {
        if (begin <= floor())
            return malformed("fills a container that is not there");
        const Node& target = m_out.m_nodes[m_stack[begin - 1]];
        if (target.kind != kind)
            return malformed("fills something that is no container of that kind");
        if (kind == PickleKind::Dict && (m_stack.size() - begin) % 2 != 0)
            return malformed("gives a dict a key without a value");
        std::vector<Value>& items = m_out.m_containers[target.b];
        items.insert(items.end(), m_stack.begin() + static_cast<std::ptrdiff_t>(begin), m_stack.end());
        m_stack.resize(begin);
        return {};
    }

    Result<void> extendBy(PickleKind kind, std::size_t count)
    {
        if (m_stack.size() - floor() < count)
            return malformed("takes more from its stack than it put there");
        return extendFrom(kind, m_stack.size() - count);
    }

    Result<void> extend(PickleKind kind)
    {
        DS_TRY(const std::size_t begin, takeMark());
        return extendFrom(kind, begin);
    }

    Result<void> frozenSet()
    {
        DS_TRY(const std::size_t begin, takeMark());
        m_out.m_containers.emplace_back(m_stack.begin() + static_cast<std::ptrdiff_t>(begin), m_stack.end());
        m_stack.resize(begin);
        return pushNode({ PickleKind::Set, 0, 0, m_out.m_containers.size() - 1 });
    }

    // --- globals and records ---

    Result<void> global(std::string_view module, std::string_view name)
    {
        const std::optional<std::uint8_t> index = findPickleGlobal(module, name);
        if (!index)
            return refuse(Code::Unsupported,
                          fmt::format("names the global {}.{}, which is not on the list of what a checkpoint needs; "
                                      "nothing of it was run",
                                      quoteName(module), quoteName(name)));
        return pushNode({ PickleKind::Global, *index, 0, 0 });
    }

    Result<void> globalFromLines()
    {
        DS_TRY(const std::string_view module, line());
        DS_TRY(const std::string_view name, line());
        return global(module, name);
    }

    std::optional<std::string_view> textOf(Value value) const
    {
        const Node& node = m_out.m_nodes[value];
        if (node.kind != PickleKind::Text)
            return std::nullopt;
        return asText(ByteSpan(m_bytes).subspan(node.b, node.a));
    }

    Result<void> globalFromStack()
    {
        DS_TRY(const Value name, pop());
        DS_TRY(const Value module, pop());
        if (!textOf(module) || !textOf(name))
            return malformed("names a global by something else than text");
        return global(*textOf(module), *textOf(name));
    }

    Result<void> record()
    {
        DS_TRY(const Value arguments, pop());
        DS_TRY(const Value callee, pop());
        const Node& node = m_out.m_nodes[callee];
        const bool isCallable = node.kind == PickleKind::Global
            && pickleGlobal(node.global).kind != GlobalKind::ElementType
            && pickleGlobal(node.global).kind != GlobalKind::Storage;
        if (!isCallable)
            return malformed("calls something that cannot be called");
        if (m_out.m_nodes[arguments].kind != PickleKind::Tuple)
            return malformed("gives arguments that are no tuple");
        if (pickleGlobal(node.global).kind == GlobalKind::GetAttribute && !isEnumMember(arguments))
            return refuse(Code::Unsupported, "looks up an attribute of something else than an enumeration");
        if (pickleGlobal(node.global).kind == GlobalKind::OrderedDict) {
            if (arguments != EmptyTuple && m_out.m_nodes[arguments].a != 0)
                return refuse(Code::Unsupported, "makes an OrderedDict from arguments");
            return container(PickleKind::Dict);
        }
        return pushNode({ PickleKind::Record, node.global, arguments, None });
    }

    /// (class, name) of the only enumeration on the list.
    bool isEnumMember(Value arguments) const
    {
        const std::span<const Value> parts = m_out.items(arguments);
        return parts.size() == 2 && m_out.m_nodes[parts[0]].kind == PickleKind::Global
            && m_out.global(parts[0])->kind == GlobalKind::MemoryFormat && textOf(parts[1]);
    }

    Result<void> build()
    {
        DS_TRY(const Value state, pop());
        if (m_stack.size() <= floor())
            return malformed("takes more from its stack than it put there");
        Node& target = m_out.m_nodes[m_stack.back()];
        if (target.kind != PickleKind::Record || target.b != None)
            return malformed("gives a state to something that takes none");
        target.b = state;
        return {};
    }

    Result<void> persistent()
    {
        DS_TRY(const Value id, pop());
        return pushNode({ PickleKind::Persistent, 0, id, 0 });
    }

    std::vector<std::byte> m_bytes;
    std::size_t m_at = 0;
    std::size_t m_opAt = 0;
    bool m_stopped = false;
    std::vector<Value> m_stack;
    std::vector<std::size_t> m_marks;
    std::vector<Value> m_memo;
    Pickle m_out;
};

Result<Pickle> Pickle::parse(std::vector<std::byte> bytes) { return PickleMachine(std::move(bytes)).run(); }

} // namespace deltascope
