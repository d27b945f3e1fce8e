#include "hash/hashers.h"

#define XXH_STATIC_LINKING_ONLY // the size of a state
#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h> // XXH3 by the widest vectors that the processor has
#endif

#include <cassert>
#include <cstdlib>
#include <new>
#include <openssl/evp.h>
#include <zlib.h>

namespace deltascope {
namespace {

Digest128 canonical(XXH128_hash_t hash) noexcept
{
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, hash);
    Digest128 out;
    static_assert(sizeof bytes.digest == sizeof out);
    std::memcpy(out.data(), bytes.digest, out.size());
    return out;
}

/// Fetched once: a fetch takes locks and costs more than a small digest. Never released; OpenSSL cleans up at exit.
const EVP_MD* sha256Algorithm() noexcept
{
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return algorithm;
}

void require(int openSslResult) noexcept
{
    if (openSslResult != 1)
        std::abort();
}

class Xxh3Digest final : public StreamingDigest {
public:
    void update(ByteSpan bytes) noexcept override { m_hasher.update(bytes); }
    std::string hex() override { return toHex(m_hasher.digest()); }

private:
    Xxh3Hasher m_hasher;
};

class Sha256Digest final : public StreamingDigest {
public:
    void update(ByteSpan bytes) noexcept override { m_hasher.update(bytes); }
    std::string hex() override { return toHex(m_hasher.digest()); }

private:
    Sha256Hasher m_hasher;
};

class Adler32Digest final : public StreamingDigest {
public:
    void update(ByteSpan bytes) noexcept override
    {
        // A null pointer means "give the start value" to zlib.
        if (!bytes.empty())
            m_sum = adler32_z(m_sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    }
    std::string hex() override
    {
        const auto sum = static_cast<std::uint32_t>(m_sum);
        const std::array<std::byte, 4> bigEndian { std::byte(sum >> 24), std::byte(sum >> 16), std::byte(sum >> 8),
                                                   std::byte(sum) };
        return toHex(bigEndian);
    }

private:
    uLong m_sum = 1;
};

} // namespace

struct Xxh3Hasher::State : XXH3_state_t { };

void Xxh3Hasher::Release::operator()(State* state) const noexcept { delete state; }

Xxh3Hasher::Xxh3Hasher()
    : m_state(new State)
{
    reset();
}
Xxh3Hasher::~Xxh3Hasher() = default;
Xxh3Hasher::Xxh3Hasher(Xxh3Hasher&&) noexcept = default;
Xxh3Hasher& Xxh3Hasher::operator=(Xxh3Hasher&&) noexcept = default;

void Xxh3Hasher::reset() noexcept { XXH3_128bits_reset(m_state.get()); }
void Xxh3Hasher::update(ByteSpan bytes) noexcept { XXH3_128bits_update(m_state.get(), bytes.data(), bytes.size()); }
Digest128 Xxh3Hasher::digest() const noexcept { return canonical(XXH3_128bits_digest(m_state.get())); }

/// Keeps OpenSSL out of hashers.h.
struct Sha256Hasher::State {
    EVP_MD_CTX* context = nullptr;
};

void Sha256Hasher::Release::operator()(State* state) const noexcept
{
    EVP_MD_CTX_free(state->context);
    delete state;
}

Sha256Hasher::Sha256Hasher()
    : m_state(new State)
{
    m_state->context = EVP_MD_CTX_new();
    if (!m_state->context)
        throw std::bad_alloc();
    reset();
}
Sha256Hasher::~Sha256Hasher() = default;
Sha256Hasher::Sha256Hasher(Sha256Hasher&&) noexcept = default;
Sha256Hasher& Sha256Hasher::operator=(Sha256Hasher&&) noexcept = default;

bool Sha256Hasher::available() noexcept { return sha256Algorithm() != nullptr; }
void Sha256Hasher::reset() noexcept { require(EVP_DigestInit_ex2(m_state->context, sha256Algorithm(), nullptr)); }
void Sha256Hasher::update(ByteSpan bytes) noexcept
{
    require(EVP_DigestUpdate(m_state->context, bytes.data(), bytes.size()));
}
Digest256 Sha256Hasher::digest() noexcept
{
    Digest256 out;
    require(EVP_DigestFinal_ex(m_state->context, reinterpret_cast<unsigned char*>(out.data()), nullptr));
    return out;
}

Digest128 xxh3(ByteSpan bytes) noexcept { return canonical(XXH3_128bits(bytes.data(), bytes.size())); }

Digest256 sha256(ByteSpan bytes) noexcept
{
    Sha256Hasher hasher;
    hasher.update(bytes);
    return hasher.digest();
}

std::unique_ptr<StreamingDigest> makeXxh3() { return std::make_unique<Xxh3Digest>(); }
std::unique_ptr<StreamingDigest> makeSha256() { return std::make_unique<Sha256Digest>(); }

std::unique_ptr<StreamingDigest> makeDigest(DigestAlgorithm algorithm)
{
    switch (algorithm) {
    case DigestAlgorithm::Xxh3_128:
        return makeXxh3();
    case DigestAlgorithm::Blake3:
        return makeBlake3();
    case DigestAlgorithm::Adler32:
        return std::make_unique<Adler32Digest>();
    case DigestAlgorithm::Sha256:
        return makeSha256();
    case DigestAlgorithm::None:
        break;
    }
    assert(false && "there is no digest without an algorithm");
    return nullptr;
}

} // namespace deltascope
