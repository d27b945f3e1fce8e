#include "leaf_file.h"

#include "../../hash/hashers.h"
#include "deltascope/engine/hash_tree.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace deltascope {

namespace {

constexpr std::string_view LeafFileMagic = "DSLEAF1\n";
constexpr std::size_t LeafFileHeaderBytes = 24;
constexpr std::size_t LeafFileDigestBytes = sizeof(Digest128);
/// Small enough to be still in the processor's cache when it is written. Kernels with large folios also take much
/// longer for one write of 1 MiB: it gets memory that nobody has used yet.
constexpr std::size_t PieceBytes = std::size_t { 128 } << 10;

static_assert(LeafFileHeaderBytes + LeafFileDigestBytes == LeafFileFrameBytes);

} // namespace

Result<void> writeLeafFile(std::string_view object, std::uint64_t leaf, ByteSpan payload,
                           const std::function<Result<void>(ByteSpan)>& take)
{
    std::vector<std::byte> head(LeafFileHeaderBytes + object.size());
    std::memcpy(head.data(), LeafFileMagic.data(), LeafFileMagic.size());
    storeLe<std::uint32_t>(head, 8, static_cast<std::uint32_t>(object.size()));
    storeLe<std::uint32_t>(head, 12, static_cast<std::uint32_t>(payload.size()));
    storeLe<std::uint64_t>(head, 16, leaf);
    std::memcpy(head.data() + LeafFileHeaderBytes, object.data(), object.size());
    Xxh3Hasher hasher;
    hasher.update(head);
    DS_CHECK(take(head));
    for (std::size_t at = 0; at < payload.size(); at += PieceBytes) {
        const ByteSpan piece = payload.subspan(at, std::min(PieceBytes, payload.size() - at));
        hasher.update(piece);
        DS_CHECK(take(piece));
    }
    return take(hasher.digest());
}

std::optional<ByteSpan> payloadOf(ByteSpan file, std::string_view object, std::uint64_t leaf,
                                  std::uint64_t payloadBytes)
{
    if (file.size() != LeafFileFrameBytes + object.size() + payloadBytes
        || asText(file.first(LeafFileMagic.size())) != LeafFileMagic || loadLe<std::uint32_t>(file, 8) != object.size()
        || loadLe<std::uint32_t>(file, 12) != payloadBytes || loadLe<std::uint64_t>(file, 16) != leaf
        || asText(file.subspan(LeafFileHeaderBytes, object.size())) != object)
        return std::nullopt;
    const Digest128 digest = xxh3(file.first(file.size() - LeafFileDigestBytes));
    if (!std::equal(digest.begin(), digest.end(), file.end() - LeafFileDigestBytes))
        return std::nullopt;
    return file.subspan(LeafFileHeaderBytes + object.size(), payloadBytes);
}

std::string leafFilePath(std::string_view object, std::uint64_t leaf)
{
    std::vector<std::byte> name(8 + object.size());
    storeLe<std::uint64_t>(name, 0, leaf);
    const auto text = asBytes(object);
    std::copy(text.begin(), text.end(), name.begin() + 8);
    const Digest128 digest = xxh3(name);
    std::string path = toHex(digest);
    path.insert(2, 1, '/');
    return path;
}

} // namespace deltascope
