#include "leaf_file.h"

#include "deltascope/engine/hash_tree.h"

#include <algorithm>
#include <cstring>

namespace deltascope {

namespace {

constexpr std::string_view LeafFileMagic = "DSLEAF1\n";
constexpr std::size_t LeafFileHeaderBytes = 24;
constexpr std::size_t LeafFileDigestBytes = sizeof(Digest128);

static_assert(LeafFileHeaderBytes + LeafFileDigestBytes == LeafFileFrameBytes);

} // namespace

std::vector<std::byte> makeLeafFile(std::string_view object, std::uint64_t leaf, ByteSpan payload)
{
    std::vector<std::byte> file(LeafFileFrameBytes + object.size() + payload.size());
    std::memcpy(file.data(), LeafFileMagic.data(), LeafFileMagic.size());
    storeLe<std::uint32_t>(file, 8, static_cast<std::uint32_t>(object.size()));
    storeLe<std::uint32_t>(file, 12, static_cast<std::uint32_t>(payload.size()));
    storeLe<std::uint64_t>(file, 16, leaf);
    const auto name = asBytes(object);
    const auto behindName = std::copy(name.begin(), name.end(), file.begin() + LeafFileHeaderBytes);
    const auto behindPayload = std::copy(payload.begin(), payload.end(), behindName);
    const Digest128 digest = xxh3(ByteSpan(file).first(file.size() - LeafFileDigestBytes));
    std::copy(digest.begin(), digest.end(), behindPayload);
    return file;
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
