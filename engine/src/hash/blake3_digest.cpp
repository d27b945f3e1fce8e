#include "hash/hashers.h"

#include <blake3.h>

namespace deltascope {
namespace {

class Blake3Digest final : public StreamingDigest {
public:
    Blake3Digest() { blake3_hasher_init(&m_hasher); }
    void update(ByteSpan bytes) noexcept override { blake3_hasher_update(&m_hasher, bytes.data(), bytes.size()); }
    std::string hex() override
    {
        std::array<std::byte, BLAKE3_OUT_LEN> out {};
        blake3_hasher_finalize(&m_hasher, reinterpret_cast<std::uint8_t*>(out.data()), out.size());
        return toHex(out);
    }

private:
    blake3_hasher m_hasher;
};

} // namespace

std::unique_ptr<StreamingDigest> makeBlake3()
{
    // The library looks at the processor when it first hashes and keeps what it finds without a lock.
    [[maybe_unused]] static const std::string first = Blake3Digest().hex();
    return std::make_unique<Blake3Digest>();
}

} // namespace deltascope
