#include "body_digests.h"

#include "../../hash/crc.h"
#include "../../hash/hashers.h"
#include "encoding.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <openssl/evp.h>

namespace deltascope::s3 {

namespace {

constexpr std::size_t DigestChunkBytes = std::size_t { 256 } << 10;

class Md5Hasher {
public:
    Md5Hasher()
        : m_context(EVP_MD_CTX_new())
    {
        m_works = m_context && EVP_DigestInit_ex(m_context.get(), EVP_md5(), nullptr) == 1;
    }
    void update(ByteSpan bytes)
    {
        m_works = m_works && EVP_DigestUpdate(m_context.get(), bytes.data(), bytes.size()) == 1;
    }
    std::optional<Md5Digest> digest()
    {
        Md5Digest digest {};
        unsigned size = 0;
        if (!m_works
            || EVP_DigestFinal_ex(m_context.get(), reinterpret_cast<unsigned char*>(digest.data()), &size) != 1)
            return std::nullopt;
        return digest;
    }

private:
    struct Free {
        void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
    };
    std::unique_ptr<EVP_MD_CTX, Free> m_context;
    bool m_works = false;
};

} // namespace

std::optional<Md5Digest> md5Of(ByteSpan bytes)
{
    Md5Hasher hasher;
    hasher.update(bytes);
    return hasher.digest();
}

std::string BodyDigests::md5Text() const { return md5 ? base64Of(*md5) : std::string(); }

std::string BodyDigests::crc64Text() const { return s3::crc64Text(crc64); }

Result<std::size_t> PayloadSlice::read(std::uint64_t offset, MutableByteSpan out) const
{
    if (offset >= m_bytes)
        return std::size_t { 0 };
    return m_whole.read(m_offset + offset,
                        out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), m_bytes - offset))));
}

Result<BodyDigests> digestBody(const Payload& body, bool withMd5, std::string_view where, TaskContext& task)
{
    BodyDigests digests;
    digests.sizeBytes = body.sizeBytes();
    Sha256Hasher sha;
    Md5Hasher md5;
    std::vector<std::byte> chunk(
        static_cast<std::size_t>(std::clamp<std::uint64_t>(digests.sizeBytes, 1, DigestChunkBytes)));
    std::uint64_t done = 0;
    while (done < digests.sizeBytes) {
        DS_CHECK(task.checkpoint());
        const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), digests.sizeBytes - done));
        DS_TRY(const std::size_t got, body.read(done, MutableByteSpan(chunk).first(most)));
        if (got == 0)
            return fail(Code::Truncated, fmt::format("the source gave {} bytes instead of {}", done, digests.sizeBytes),
                        std::string(where));
        const ByteSpan bytes = ByteSpan(chunk).first(got);
        sha.update(bytes);
        if (withMd5)
            md5.update(bytes);
        digests.crc64 = crc64Nvme(bytes, digests.crc64);
        done += got;
    }
    digests.sha256 = sha.digest();
    digests.md5 = withMd5 ? md5.digest() : std::nullopt;
    return digests;
}

std::string crc64Text(std::uint64_t crc)
{
    std::array<std::byte, 8> bytes {};
    storeLe(bytes, 0, __builtin_bswap64(crc));
    return base64Of(bytes);
}

std::string multipartEtag(const std::vector<std::optional<Md5Digest>>& parts)
{
    std::vector<std::byte> all;
    for (const std::optional<Md5Digest>& part : parts) {
        if (!part)
            return {};
        all.insert(all.end(), part->begin(), part->end());
    }
    const auto digest = md5Of(all);
    return digest ? fmt::format("{}-{}", toHex(*digest), parts.size()) : std::string();
}

} // namespace deltascope::s3
