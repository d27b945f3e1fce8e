#pragma once

#include "store/xet/access.h"
#include "store/xet/chunker.h"
#include "store/xet/hash.h"

#include "support/golden.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

// Inputs whose hashes are known (tests/golden/xet), and what stands for a bucket.

namespace deltascope::xet::test {

class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed)
        : m_state(seed)
    {
    }
    std::uint64_t next()
    {
        m_state += 0x9E37'79B9'7F4A'7C15;
        std::uint64_t z = m_state;
        z = (z ^ z >> 30) * 0xBF58'476D'1CE4'E5B9;
        z = (z ^ z >> 27) * 0x94D0'49BB'1331'11EB;
        return z ^ z >> 31;
    }

private:
    std::uint64_t m_state;
};

inline std::string randomBytes(std::uint64_t seed, std::size_t count)
{
    SplitMix64 random(seed);
    std::string bytes((count + 7) / 8 * 8, '\0');
    for (std::size_t i = 0; i < bytes.size(); i += 8)
        storeLe(std::as_writable_bytes(std::span(bytes)), i, random.next());
    bytes.resize(count);
    return bytes;
}

inline std::string gapBytes(std::uint64_t seed, std::size_t count)
{
    SplitMix64 random(seed);
    std::string bytes(count * 4, '\0');
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        value += 1 + static_cast<std::uint32_t>(random.next() & 63);
        storeLe(std::as_writable_bytes(std::span(bytes)), i * 4, value);
    }
    return bytes;
}

inline std::string repeatBytes() { return gapBytes(7, 393'216) + gapBytes(7, 393'216); }

inline std::string hundredBytes()
{
    std::string bytes(100, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(i);
    return bytes;
}

inline std::string countedBytes(std::size_t count) // i251
{
    std::string bytes(count, '\0');
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<char>(i % 251);
    return bytes;
}

inline std::string goldenBytes(std::string_view path)
{
    std::ifstream file(deltascope::test::goldenPath("xet/" + std::string(path)), std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

inline nlohmann::json goldenJson(std::string_view path) { return nlohmann::json::parse(goldenBytes(path)); }

/// As the engine cuts and hashes.
inline std::vector<Chunk> chunksOf(std::string_view bytes)
{
    std::vector<Chunk> chunks;
    while (const std::size_t length = nextChunkBytes(asBytes(bytes), true)) {
        chunks.push_back({ chunkHash(asBytes(bytes.substr(0, length))), static_cast<std::uint32_t>(length) });
        bytes.remove_prefix(length);
    }
    return chunks;
}

/// Gives the access that a test says.
class FixedAccess final : public AccessSource {
public:
    explicit FixedAccess(std::string casUrl)
        : m_casUrl(std::move(casUrl))
    {
    }
    Result<Access> access(Scope scope, bool refresh, TaskContext&) override
    {
        const std::lock_guard lock(m_mutex);
        if (refresh)
            ++m_refreshes;
        const std::string kind = scope == Scope::Write ? "write" : "read";
        return Access { kind + "-token-" + std::to_string(m_refreshes), std::chrono::system_clock::time_point::max(),
                        m_casUrl };
    }
    int refreshes() const
    {
        const std::lock_guard lock(m_mutex);
        return m_refreshes;
    }

private:
    const std::string m_casUrl;
    mutable std::mutex m_mutex;
    int m_refreshes = 0;
};

} // namespace deltascope::xet::test
