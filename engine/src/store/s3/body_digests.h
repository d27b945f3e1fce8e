#pragma once

#include "deltascope/base/payload.h"
#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "deltascope/engine/hash_tree.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::s3 {

using Md5Digest = std::array<std::byte, 16>;

/// MD5, which S3 uses against flipped bits and in ETags, not against an adversary. Nothing where OpenSSL does not offer
/// it (FIPS).
std::optional<Md5Digest> md5Of(ByteSpan bytes);

/// What is sent along with a body, so that the server refuses one that was changed on its way.
struct BodyDigests {
    std::uint64_t sizeBytes = 0;
    Digest256 sha256 {};
    std::optional<Md5Digest> md5; ///< slower than the others together
    std::uint64_t crc64 = 0; ///< CRC-64/NVME

    std::string sha256Text() const { return toHex(sha256); }
    std::string md5Text() const; ///< base64; empty: none
    std::string crc64Text() const; ///< base64
};

/// A stretch of a payload, which must live as long.
class PayloadSlice final : public Payload {
public:
    PayloadSlice(const Payload& whole, std::uint64_t offset, std::uint64_t bytes)
        : m_whole(whole)
        , m_offset(offset)
        , m_bytes(bytes)
    {
    }
    std::uint64_t sizeBytes() const noexcept override { return m_bytes; }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override;

private:
    const Payload& m_whole;
    std::uint64_t m_offset;
    std::uint64_t m_bytes;
};

/// Reads it all once, in pieces. Errors: those of the payload, Truncated (it ends early), Canceled.
Result<BodyDigests> digestBody(const Payload& body, bool withMd5, std::string_view where, TaskContext& task);

/// Base64 of a CRC-64/NVME, its high byte first.
std::string crc64Text(std::uint64_t crc);

/// What AWS, MinIO and others make of the MD5 of all parts (observed, not promised): MD5 over them, and their number.
/// Empty where one has none.
std::string multipartEtag(const std::vector<std::optional<Md5Digest>>& parts);

} // namespace deltascope::s3
