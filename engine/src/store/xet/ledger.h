#pragma once

#include "deltascope/base/result.h"
#include "store/xet/hash.h"
#include "store/xet/reader.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace deltascope::xet {

/// A chunk that was decoded, and where it lies in its file.
struct PlacedChunk {
    std::uint64_t offset = 0;
    Chunk chunk;
};

/// What was read of which file, and what it proves. Any thread.
class Ledger {
public:
    explicit Ledger(std::size_t mostChunks)
        : m_mostChunks(mostChunks)
    {
    }

    /// A moment before which nothing of a read was added.
    std::uint64_t now();
    /// Chunks of a read that began at `since`. Errors: Digest (with these chunks the file is refuted, and what was read
    /// of it is forgotten; or it was refuted after `since`), Truncated (they end behind the file).
    Result<void> add(const Hash& file, std::uint64_t fileBytes, const std::vector<PlacedChunk>& chunks,
                     std::uint64_t since);
    /// Errors: Digest, if the file was refuted after `since`, or has a size that its hash cannot have.
    Result<void> check(const Hash& file, std::uint64_t fileBytes, std::uint64_t since) const;
    Proof proofOf(const Hash& file, std::uint64_t fileBytes) const;

private:
    struct Key {
        Hash hash;
        std::uint64_t bytes = 0;

        auto operator<=>(const Key&) const = default;
    };
    struct Account {
        std::map<std::uint64_t, Chunk> chunks; ///< by offset; they do not overlap
        std::uint64_t coveredBytes = 0;
        std::uint64_t lastUse = 0;
        std::uint64_t refutedAt = 0; ///< 0: never
        Proof proof = Proof::Unread; ///< Refuted: nothing was read since
    };

    static bool contradicts(const Account& account, const PlacedChunk& chunk);
    static Proof judge(const Key& key, const Account& account);
    void drop(Account& account);
    void makeRoom();

    const std::size_t m_mostChunks;
    mutable std::mutex m_mutex; ///< guards what follows
    std::map<Key, Account> m_accounts;
    std::size_t m_chunks = 0; ///< of all accounts
    std::uint64_t m_now = 0; ///< grows with every use
};

} // namespace deltascope::xet
