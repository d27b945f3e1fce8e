#include "secret.h"

#include "deltascope/base/bytes.h"

#include <cstdlib>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <vector>

namespace deltascope::server {

SecretDigest digestOf(std::string_view secret)
{
    SecretDigest digest;
    SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), digest.data());
    return digest;
}

bool sameDigest(const SecretDigest& a, const SecretDigest& b) noexcept
{
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string randomHex(std::size_t bytes)
{
    std::vector<unsigned char> random(bytes);
    // Without random numbers nothing here is safe, and going on would hide it.
    if (RAND_bytes(random.data(), int(random.size())) != 1)
        std::abort();
    return toHex(std::as_bytes(std::span(random)));
}

} // namespace deltascope::server
