#pragma once

#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/object_store.h"
#include "hash/hashers.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// Digests that the leaves (LeafBytes) of an object must have, as far as they are on record.
struct ExpectedLeaves {
    /// As they were under the identity that the object has now: other ones are damage of the storage. Empty: unknown.
    std::vector<Digest128> sameIdentity;
    /// As a user trusts them: other ones were rewritten. Empty: unknown.
    std::vector<Digest128> trusted;
    std::string trustedIdentity;
    bool acceptRewritten = false; ///< rewritten ones are noted instead of refused
    bool ofMirror = false; ///< the object of a mirror is compared with what is on record of the source's

    bool any() const noexcept { return !sameIdentity.empty() || !trusted.empty(); }
};

/// What to do about a rewritten object.
inline constexpr std::string_view AcceptRewrittenAction =
    "run verify, which recognizes a trainer that started again; --accept-rewritten uses what is there now this once, "
    "verify --accept-rewritten trusts it from then on";

/// What is wrong with an object of a mirror that is another one than the source's.
inline constexpr std::string_view UnlikeRecord =
    "the mirror holds other bytes than are on record of this object of the source";

/// Whether an error says that. Another object that has taken its place meanwhile is no damage of the mirror.
inline bool saysUnlikeRecord(const Error& error) { return error.text == UnlikeRecord; }

/// Reads of the identity that was listed, as long as it is there, and of what has taken its place then.
Result<void> readAsListed(const ObjectStore& store, const ObjectInfo& object, std::uint64_t offset, MutableByteSpan out,
                          TaskContext& task);

/// What an operation has read of one object: a digest of every stretch, put together leaf by leaf where one read
/// follows the other. A leaf that was read from its begin to its end is compared at once, others by compareLeaf().
/// Memory: some 80 bytes per leaf and 24 per stretch that does not continue another one. Any thread.
class ObjectReads {
public:
    /// `where` and `step`: how errors call the object and its version; no step outside of the source.
    ObjectReads(ObjectInfo object, std::string where, std::optional<std::int64_t> step, ExpectedLeaves expected);

    const ObjectInfo& object() const noexcept { return m_object; }
    const ExpectedLeaves& expected() const noexcept { return m_expected; }
    bool anyRead() const noexcept { return m_anyRead; }
    /// Whether bytes that differ from the trusted ones were accepted.
    bool rewritten() const noexcept { return m_rewritten; }
    const std::string& where() const noexcept { return m_where; }
    std::optional<std::int64_t> step() const noexcept { return m_step; }

    /// Takes what a read gave. Errors: Digest, Rewritten (bytes are not those on record, or not those of an earlier
    /// read); a leaf that was refused counts as not read.
    Result<void> note(std::uint64_t offset, ByteSpan bytes);

    enum class Which : std::uint8_t {
        ReadInPieces, ///< stretches of them were read that nothing has been compared with yet
        Read, ///< anything of them was read
        NotCompared, ///< ReadInPieces, and those that nothing was read of
    };
    std::vector<std::size_t> leaves(Which which) const;
    /// Reads a leaf whole: whether the stretches that were read are those that stand there now, and whether it is on
    /// record like that. `fromStore`: whatever a store has kept of earlier reads. `buffer`: as long as the longest
    /// leaf. Errors: as note(); those of the store.
    Result<void> compareLeaf(std::size_t leaf, const ObjectStore& store, bool fromStore, MutableByteSpan buffer,
                             TaskContext& task);
    /// That the object is not what it was when it was listed.
    tl::unexpected<Error> changed() const;

private:
    struct Stretch {
        std::uint32_t begin; ///< within the leaf
        std::uint32_t end;
        Digest128 digest;
    };
    struct Leaf {
        std::optional<Xxh3Hasher> front; ///< of what was read from the begin of the leaf on
        std::uint32_t frontEnd = 0;
        std::vector<Stretch> stretches;
        std::optional<Digest128> whole; ///< as it was read

        void closeFront();
        bool inPieces() const noexcept { return front || !stretches.empty(); }
    };

    std::uint64_t bytesOf(std::size_t leaf) const noexcept;
    std::mutex& mutexOf(std::size_t leaf) const noexcept { return m_mutexes[leaf % m_mutexes.size()]; }
    Result<void> noteInLeaf(std::size_t leaf, std::uint32_t begin, ByteSpan bytes);
    Result<void> take(Leaf& leaf, std::size_t number, const Digest128& whole);

    ObjectInfo m_object;
    std::string m_where;
    std::optional<std::int64_t> m_step;
    ExpectedLeaves m_expected;
    std::atomic<bool> m_anyRead = false;
    std::atomic<bool> m_rewritten = false;
    mutable std::array<std::mutex, 16> m_mutexes; ///< each guards every 16th leaf
    std::vector<Leaf> m_leaves;
};

} // namespace deltascope
