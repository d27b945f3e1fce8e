#include "leaf_file.h"

#include "../../hash/hashers.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace deltascope {

namespace {

constexpr std::string_view LeafFileMagic = "DSLEAF1\n";
constexpr std::size_t HeadBytesBesideName = 24;
constexpr std::size_t DigestBytes = sizeof(Digest128);
/// Small enough to be still in the processor's cache when it is written. Kernels with large folios also take much
/// longer for one write of 1 MiB: it gets memory that nobody has used yet.
constexpr std::size_t PieceBytes = std::size_t { 128 } << 10;

Xxh3Hasher leafHasher(ByteSpan head, std::uint64_t leaf)
{
    std::array<std::byte, sizeof leaf> number = {};
    storeLe<std::uint64_t>(number, 0, leaf);
    Xxh3Hasher hasher;
    hasher.update(head);
    hasher.update(number);
    return hasher;
}

} // namespace

LeafFileShape leafFileShape(std::uint64_t fileBytes, std::string_view object) noexcept
{
    const std::uint64_t headBytes = HeadBytesBesideName + object.size();
    if (fileBytes <= headBytes)
        return {};
    constexpr std::uint64_t WholeLeaf = CacheLeafBytes + DigestBytes;
    const std::uint64_t leaves = (fileBytes - headBytes + WholeLeaf - 1) / WholeLeaf;
    const std::uint64_t besidePayload = headBytes + leaves * DigestBytes;
    return fileBytes > besidePayload ? LeafFileShape { leaves, fileBytes - besidePayload } : LeafFileShape();
}

std::uint64_t leafFileBytes(std::string_view object, std::uint64_t payloadBytes) noexcept
{
    return HeadBytesBesideName + object.size() + payloadBytes + leavesOfSize(payloadBytes) * DigestBytes;
}

std::vector<std::byte> leafFileHead(std::string_view object, std::uint64_t firstLeaf, std::uint64_t payloadBytes)
{
    std::vector<std::byte> head(HeadBytesBesideName + object.size());
    std::memcpy(head.data(), LeafFileMagic.data(), LeafFileMagic.size());
    storeLe<std::uint32_t>(head, 8, static_cast<std::uint32_t>(object.size()));
    storeLe<std::uint32_t>(head, 12, static_cast<std::uint32_t>(payloadBytes));
    storeLe<std::uint64_t>(head, 16, firstLeaf);
    std::memcpy(head.data() + HeadBytesBesideName, object.data(), object.size());
    return head;
}

Digest128 leafDigest(ByteSpan head, std::uint64_t leaf, ByteSpan payload)
{
    Xxh3Hasher hasher = leafHasher(head, leaf);
    hasher.update(payload);
    return hasher.digest();
}

Result<void> writeLeafFile(std::string_view object, const LeafRange& leaves, ByteSpan payload,
                           const std::function<Result<void>(ByteSpan)>& take)
{
    const std::vector<std::byte> head = leafFileHead(object, leaves.first, payload.size());
    DS_CHECK(take(head));
    std::vector<Digest128> digests;
    for (std::uint64_t leaf = leaves.first; leaf < leaves.end(); ++leaf) {
        const std::uint64_t begin = (leaf - leaves.first) * CacheLeafBytes;
        const ByteSpan bytes = payload.subspan(begin, std::min(CacheLeafBytes, payload.size() - begin));
        Xxh3Hasher hasher = leafHasher(head, leaf);
        for (std::size_t at = 0; at < bytes.size(); at += PieceBytes) {
            const ByteSpan piece = bytes.subspan(at, std::min(PieceBytes, bytes.size() - at));
            hasher.update(piece);
            DS_CHECK(take(piece));
        }
        digests.push_back(hasher.digest());
    }
    return take(std::as_bytes(std::span(digests)));
}

std::string leafFilePath(std::string_view object, std::uint64_t firstLeaf)
{
    std::vector<std::byte> name(8 + object.size());
    storeLe<std::uint64_t>(name, 0, firstLeaf);
    const auto text = asBytes(object);
    std::copy(text.begin(), text.end(), name.begin() + 8);
    const Digest128 digest = xxh3(name);
    std::string path = toHex(digest);
    path.insert(2, 1, '/');
    return path;
}

} // namespace deltascope
