#include "hash/hashers.h"

#include <algorithm>
#include <cassert>
#include <concepts>

namespace deltascope {
namespace {

// Prefix bytes keep the levels of the tree apart, as in RFC 6962. On disk: never renumber.
constexpr std::byte LeafPrefix { 0x00 };
constexpr std::byte TensorPrefix { 0x01 };
constexpr std::byte CheckpointPrefix { 0x02 };
constexpr std::uint8_t LeafBytesLog2 = 20;
static_assert(LeafBytes == std::uint64_t(1) << LeafBytesLog2);

template <std::integral Integer> void append(std::string& out, Integer value)
{
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

ByteSpan asOneByte(const std::byte& byte) noexcept { return { &byte, 1 }; }

template <class Digest> ByteSpan allBytes(const std::vector<Digest>& digests) noexcept
{
    return std::as_bytes(std::span(digests));
}

} // namespace

struct LeafHasher::State {
    explicit State(Strength strength)
    {
        if (strength == Strength::FastAndStrong)
            strongLeaf.emplace();
    }

    void begin()
    {
        fastLeaf.reset();
        if (!strongLeaf)
            return;
        strongLeaf->reset();
        strongLeaf->update(asOneByte(LeafPrefix));
    }

    void end()
    {
        fast.push_back(fastLeaf.digest());
        if (strongLeaf)
            strong.push_back(strongLeaf->digest());
        filled = 0;
    }

    Xxh3Hasher fastLeaf;
    std::optional<Sha256Hasher> strongLeaf;
    std::uint64_t filled = 0; ///< bytes in the leaf that is being hashed
    std::vector<Digest128> fast;
    std::vector<Digest256> strong;
};

LeafHasher::LeafHasher(Strength strength)
    : m_state(std::make_unique<State>(strength))
{
}
LeafHasher::~LeafHasher() = default;
LeafHasher::LeafHasher(LeafHasher&&) noexcept = default;
LeafHasher& LeafHasher::operator=(LeafHasher&&) noexcept = default;

void LeafHasher::update(ByteSpan bytes)
{
    State& state = *m_state;
    while (!bytes.empty()) {
        if (state.filled == 0)
            state.begin();
        const ByteSpan piece = bytes.first(std::min<std::uint64_t>(bytes.size(), LeafBytes - state.filled));
        state.fastLeaf.update(piece);
        if (state.strongLeaf)
            state.strongLeaf->update(piece);
        state.filled += piece.size();
        if (state.filled == LeafBytes)
            state.end();
        bytes = bytes.subspan(piece.size());
    }
}

void LeafHasher::finish()
{
    if (m_state->filled > 0)
        m_state->end();
}

const std::vector<Digest128>& LeafHasher::fast() const noexcept { return m_state->fast; }
const std::vector<Digest256>& LeafHasher::strong() const noexcept { return m_state->strong; }

TensorNode tensorNode(const TensorInfo& tensor, const std::vector<Digest128>& fast,
                      const std::vector<Digest256>& strong)
{
    const std::string_view dtype = word(tensor.dtype);
    std::string pre;
    pre += static_cast<char>(TensorPrefix);
    pre += "dsm1.tensor";
    append(pre, static_cast<std::uint32_t>(tensor.name.size()));
    pre += tensor.name;
    append(pre, static_cast<std::uint8_t>(dtype.size()));
    pre += dtype;
    append(pre, static_cast<std::uint8_t>(tensor.shape.size()));
    for (const std::uint64_t dimension : tensor.shape)
        append(pre, dimension);
    append(pre, tensor.bytes());
    append(pre, LeafBytesLog2);
    append(pre, static_cast<std::uint64_t>(fast.size()));

    TensorNode node;
    Xxh3Hasher fastNode;
    fastNode.update(asBytes(pre));
    fastNode.update(allBytes(fast));
    node.fast = fastNode.digest();
    // An empty tensor has no leaves of either kind, and still a strong node.
    assert(strong.empty() || strong.size() == fast.size());
    if (strong.size() == fast.size()) {
        Sha256Hasher strongNode;
        strongNode.update(asBytes(pre));
        strongNode.update(allBytes(strong));
        node.strong = strongNode.digest();
    }
    return node;
}

CheckpointRoot checkpointRoot(const std::vector<TensorNode>& nodes, bool strong)
{
    std::string pre;
    pre += static_cast<char>(CheckpointPrefix);
    pre += "dsm1.ckpt";
    append(pre, static_cast<std::uint64_t>(nodes.size()));

    CheckpointRoot root;
    root.hasStrong = strong;
    Xxh3Hasher fastRoot;
    fastRoot.update(asBytes(pre));
    for (const TensorNode& node : nodes)
        fastRoot.update(node.fast);
    root.fast = fastRoot.digest();
    if (strong) {
        Sha256Hasher strongRoot;
        strongRoot.update(asBytes(pre));
        for (const TensorNode& node : nodes)
            strongRoot.update(node.strong);
        root.strong = strongRoot.digest();
    }
    return root;
}

} // namespace deltascope
