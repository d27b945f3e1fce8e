#include "format/common/unpacked_object.h"

#include "format/common/object_names.h"
#include "format/common/plain_kind.h"
#include "format/common/zstd_stream.h"

#include <algorithm>
#include <zstd.h>

namespace deltascope {

namespace {

constexpr std::uint64_t LargestFrameHeader = 18; // RFC 8878, 3.1.1.1
constexpr std::uint64_t PieceBytes = 256U << 10;

Result<std::vector<std::byte>> firstBytes(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    std::vector<std::byte> bytes(std::min(object.sizeBytes, LargestFrameHeader));
    DS_CHECK(store.read(object.key, 0, bytes, task));
    return bytes;
}

ZstdStream streamOf(const ObjectStore& store, const std::string& key, std::uint64_t bytes, TaskContext& task)
{
    return ZstdStream(BufferedExtent(store, key, 0, bytes, PieceBytes, task), std::string(splitKey(key).file));
}

}

Result<bool> UnpackedObject::isFrame(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    DS_TRY(const std::vector<std::byte> bytes, firstBytes(store, object, task));
    return bytes.size() >= 4 && loadLe<std::uint32_t>(bytes) == ZSTD_MAGICNUMBER;
}

Result<std::shared_ptr<UnpackedObject>> UnpackedObject::open(const ObjectStore& store, const ObjectInfo& object,
                                                             TaskContext& task)
{
    DS_TRY(const std::vector<std::byte> bytes, firstBytes(store, object, task));
    const unsigned long long content = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (content == ZSTD_CONTENTSIZE_ERROR)
        return fail(orPlainKind({ Code::Malformed, "is no zstd frame", object.key, {}, {} }, Wanted::Zstd, store,
                                object, task));
    if (content == ZSTD_CONTENTSIZE_UNKNOWN)
        return fail(Code::Unsupported, "is a zstd frame that does not say how large its content is", object.key);
    return std::shared_ptr<UnpackedObject>(new UnpackedObject(store, object, content));
}

Result<std::vector<std::byte>> UnpackedObject::front(std::uint64_t bytes, TaskContext& task) const
{
    std::vector<std::byte> out;
    ZstdStream stream = streamOf(*m_store, m_key, m_packedBytes, task);
    while (out.size() < bytes) { // grows with what really comes, whatever the frame claims
        const std::size_t at = out.size();
        out.resize(at + std::min<std::uint64_t>(PieceBytes, bytes - at));
        DS_CHECK(stream.read(MutableByteSpan(out).subspan(at)));
    }
    return out;
}

Result<void> UnpackedObject::unpack(const std::string& scratchFolder, TaskContext& task)
{
    const std::lock_guard lock(m_mutex);
    if (m_content)
        return {};
    DS_TRY(std::shared_ptr<Scratch> content, Scratch::create(scratchFolder));
    ZstdStream stream = streamOf(*m_store, m_key, m_packedBytes, task);
    std::vector<std::byte> piece(std::min(PieceBytes, m_contentBytes));
    for (std::uint64_t at = 0; at < m_contentBytes; at += piece.size()) {
        piece.resize(std::min<std::uint64_t>(PieceBytes, m_contentBytes - at));
        DS_CHECK(stream.read(piece));
        DS_CHECK(content->write(at, piece));
    }
    DS_CHECK(stream.expectEnd());
    m_content = std::move(content);
    return {};
}

Result<void> UnpackedObject::read(std::uint64_t offset, MutableByteSpan out) const
{
    return m_content->read(offset, out);
}

} // namespace deltascope
