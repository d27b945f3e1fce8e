#include "hash/hashers.h"

#include <array>
#include <fmt/format.h>

namespace deltascope {
namespace {

/// The 16 bytes of the worked example: bf16 words of `layer.weight` after its delta (docs/formats/trl-v2.md).
constexpr std::array<unsigned char, 16> Short { 0x80, 0x3F, 0x01, 0xC0, 0x00, 0x3F, 0x00, 0x00,
                                                0x81, 0x3E, 0x40, 0x40, 0x00, 0xBE, 0xC9, 0x42 };
/// State 1 of the slime example, for which slime's own tools gave blake3 and adler32 (docs/formats/slime-v2.md).
constexpr std::array<unsigned char, 16> ShortSlime { 0x80, 0x3F, 0x01, 0x40, 0x40, 0x40, 0x80, 0x40,
                                                     0xA0, 0x40, 0xC0, 0x40, 0xE1, 0x40, 0x00, 0x41 };
/// Byte i of the long message is i mod 251, as in the official BLAKE3 vectors. Long ones take the vector code.
constexpr std::size_t LongBytes = 102'400;
constexpr unsigned LongModulus = 251;

struct Vector {
    std::string_view algorithm;
    std::unique_ptr<StreamingDigest> (*make)();
    ByteSpan message;
    std::string_view hex;
};

std::unique_ptr<StreamingDigest> makeAdler32() { return makeDigest(DigestAlgorithm::Adler32); }

std::vector<std::byte> longMessage()
{
    std::vector<std::byte> message(LongBytes);
    for (std::size_t i = 0; i < message.size(); ++i)
        message[i] = std::byte(i % LongModulus);
    return message;
}

} // namespace

Result<void> hashSelfTest()
{
    if (!Sha256Hasher::available())
        return fail(Code::Internal, "the OpenSSL library of this machine offers no SHA-256");
    const ByteSpan brief = std::as_bytes(std::span(Short));
    const ByteSpan slime = std::as_bytes(std::span(ShortSlime));
    const std::vector<std::byte> extended = longMessage();
    const std::array<Vector, 8> vectors { {
        { "XXH3-128", makeXxh3, brief, "35301f3daa6550e30d64b4fa5eda4348" },
        { "XXH3-128", makeXxh3, extended, "ecd387d36185351b1428e17f1cac2837" },
        { "SHA-256", makeSha256, brief, "e65668727583afc2fba635562e18d32133aa00d4f5e02431e3b3229a3ac55e44" },
        { "SHA-256", makeSha256, extended, "74588b7f0bcc354ac14d9cf199fa3a20c05f0c7293b9075b2f2e146e718de800" },
        { "BLAKE3", makeBlake3, slime, "f4944bba0089e086daedf16c96d53018a573b99774a33da7f478508b1525c73b" },
        { "BLAKE3", makeBlake3, extended, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085" },
        { "Adler-32", makeAdler32, slime, "2d140583" },
        { "Adler-32", makeAdler32, extended, "fdfe57a2" },
    } };
    for (const Vector& vector : vectors) {
        const std::unique_ptr<StreamingDigest> digest = vector.make();
        // In two pieces of odd sizes, so that buffering is tested too.
        const std::size_t half = vector.message.size() / 3;
        digest->update(vector.message.first(half));
        digest->update(vector.message.subspan(half));
        if (const std::string hex = digest->hex(); hex != vector.hex)
            return fail(Code::Internal,
                        fmt::format("this machine computes a wrong {} over {} known bytes: {} instead of {}",
                                    vector.algorithm, vector.message.size(), hex, vector.hex));
    }
    if (toHex(xxh3(extended)) != vectors[1].hex || toHex(sha256(extended)) != vectors[3].hex)
        return fail(Code::Internal, "this machine computes different hashes at once than in pieces");
    return {};
}

} // namespace deltascope
