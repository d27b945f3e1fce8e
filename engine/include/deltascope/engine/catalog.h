#pragma once

#include "deltascope/engine/lineage.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

/// Changed elements of one tensor in one version.
struct TensorCount {
    std::string name;
    std::uint64_t changed = 0;
};

/// What was learned about sources, so that it is not read again: a cache in one SQLite file (WAL) that can be deleted
/// at any time. A damaged file is moved aside and rebuilt; a damaged row is as if it were not there. Never holds what
/// cannot be recomputed; that is Records. Any thread; one call at a time.
class Catalog {
public:
    virtual ~Catalog() = default;

    /// `path`: the file; its folder exists. Where that is of another version of this program, it stays, and a file
    /// beside it is used, with the version as its ending. `patience`: with another process that has it locked. Errors:
    /// Catalog (cannot be opened nor rebuilt), Transient (locked).
    static Result<std::unique_ptr<Catalog>> open(const std::string& path,
                                                 std::chrono::milliseconds patience = std::chrono::seconds(5));

    struct KnownVersion {
        std::string identity;
        VersionSummary summary;
    };
    /// By version name. `source` is the store's URI plus the layout word; of an external base, plus "base".
    virtual Result<std::map<std::string, KnownVersion>> summaries(const std::string& source) = 0;
    virtual Result<void> putSummaries(const std::string& source,
                                      const std::vector<std::pair<std::string, KnownVersion>>& versions) = 0;

    /// Drops all that is known of versions that are no longer in a source, with whatever base they were read.
    virtual Result<void> forget(const std::string& source, const std::vector<std::string>& versions) = 0;

    struct KnownFacts {
        std::string chain; ///< digest over the identities of everything that the facts depend on
        VersionFacts facts;
    };
    virtual Result<std::map<std::string, KnownFacts>> facts(const std::string& source) = 0;
    virtual Result<void> putFacts(const std::string& source, const std::string& version, const KnownFacts& facts,
                                  const std::vector<TensorCount>& counts) = 0;
    /// Per-tensor counts of a version, empty if they are not known.
    virtual Result<std::vector<TensorCount>> counts(const std::string& source, const std::string& version,
                                                    const std::string& chain) = 0;

    /// The layout that was found in a source, if `probe` (identity of its first objects) is unchanged.
    virtual Result<std::optional<std::string>> layoutOf(const std::string& source, const std::string& probe) = 0;
    virtual Result<void> putLayout(const std::string& source, const std::string& probe, const std::string& layout) = 0;

    /// Since when, by our own clock, a version is as it is now: `nowUs` where its identity is new, else what was said
    /// then.
    virtual Result<std::int64_t> seenSince(const std::string& source, const std::string& version,
                                           const std::string& identity, std::int64_t nowUs) = 0;

    /// Errors: Catalog (the file is damaged).
    virtual Result<void> check() = 0;
};

/// What we saw first and must not forget: digests of objects at first sight. Not a cache: written with
/// synchronous=FULL, never updated silently, never mended by deletion. Each row carries a digest of its own content.
/// Damage of the file is Code::Catalog with the path of the file, never a finding about the object that it speaks of.
/// Any thread; one call at a time.
class Records {
public:
    virtual ~Records() = default;
    /// A file of version 0.1 gets the columns that it lacks; its sights have no leaves. `patience`: with another
    /// process that has the file locked. Errors: Catalog (damaged, or written by a newer version), Auth, NoSpace,
    /// Transient (locked).
    static Result<std::unique_ptr<Records>> open(const std::string& path,
                                                 std::chrono::milliseconds patience = std::chrono::seconds(60));

    /// Reads the structure of the file once. Errors: Catalog. The other calls do this first; a flipped bit in a single
    /// row shows when that row is read.
    virtual Result<void> check() = 0;

    struct Sight {
        std::string identity;
        std::uint64_t sizeBytes = 0;
        /// Lower-case hex over the object's bytes. Empty where a part was read that differs from the bytes trusted
        /// before: the others are not known.
        std::string xxh3;
        std::int64_t seenUs = 0;
        /// False for bytes that differ from those trusted before, until a user accepts them.
        bool trusted = true;
        /// XXH3-128 of every LeafBytes from byte 0 on. Empty in what version 0.1 has seen, and of an empty object: such
        /// a sight can only be compared with the whole object.
        std::vector<Digest128> leaves;

        bool hasDigest() const noexcept { return !xxh3.empty(); }
    };
    /// Every sight of an object, oldest first, whichever folder around it was opened as the source. Errors: Catalog (a
    /// row of this object is damaged, and no sight that a user trusted later stands behind it).
    virtual Result<std::vector<Sight>> sights(const std::string& source, const std::string& key) = 0;
    /// Sights with the keys of their objects, all or none of them. What is trusted is so in all folders around it.
    virtual Result<void> add(const std::string& source, const std::vector<std::pair<std::string, Sight>>& sights) = 0;

    /// Something that happened to a source while nobody can undo it: an object was overwritten, a prefix wiped.
    struct Event {
        std::int64_t seenUs = 0;
        Error what;
    };
    /// The journal of a source, oldest first; at most the last `limit`. In the place of a damaged entry stands one that
    /// says so (Catalog).
    virtual Result<std::vector<Event>> events(const std::string& source, std::size_t limit) = 0;
    virtual Result<void> addEvents(const std::string& source, const std::vector<Event>& events) = 0;

    /// Whether versions on both sides of a place where times suggest a restart are of one run.
    struct Continuity {
        bool continues = false;
        std::string why;
        std::int64_t decidedUs = 0;
    };
    /// The last answer to a question; nothing if it was not asked yet. `question`: names the objects on both sides by
    /// their identities.
    virtual Result<std::optional<Continuity>> continuity(const std::string& source, const std::string& question) = 0;
    virtual Result<void> addContinuity(const std::string& source, const std::string& question,
                                       const Continuity& answer) = 0;

    /// What the last sight of an object says.
    struct KnownObject {
        std::string identity;
        std::string xxh3;
        std::int64_t seenUs = 0;
        bool trusted = true;
    };
    /// Every object with a sight of this very source, by key. Not checked against damage; sights() is.
    virtual Result<std::map<std::string, KnownObject>> objects(const std::string& source) = 0;

    /// Whether these records cover a source: begin() was called for it. A file of an older version covers all sources.
    /// If the catalog knows a source that no record covers, the records of that source are lost.
    virtual Result<bool> cover(const std::string& source) = 0;
    /// Does nothing for a source that is covered.
    virtual Result<void> begin(const std::string& source, std::int64_t nowUs) = 0;

    /// Findings about the past of a source that a user has accepted, in words of the operation that reports them, and
    /// when each was accepted last. Damaged rows count as never accepted.
    virtual Result<std::map<std::string, std::int64_t>> accepted(const std::string& source) = 0;
    virtual Result<void> accept(const std::string& source, const std::vector<std::string>& findings,
                                std::int64_t nowUs) = 0;

    /// The numbers under which versions were shown whose names and ids say none, or no order that their links agree
    /// with (resolveIds()), by what resolveIds() knows them by. Damaged rows count as never shown.
    virtual Result<std::map<std::string, std::int64_t>> numbers(const std::string& source) = 0;
    virtual Result<void> addNumbers(const std::string& source, const std::map<std::string, std::int64_t>& numbers) = 0;

    /// The mirrors that a user has named for a source on this machine: what the source offers is read only if it is
    /// one of them. Damaged rows count as never named.
    virtual Result<std::set<std::string>> mirrors(const std::string& source) = 0;
    /// Does nothing for one that was named before.
    virtual Result<void> addMirror(const std::string& source, const std::string& address, std::int64_t namedUs) = 0;
};

/// Records that cannot be used: every call fails with `why`, so that nothing silently works without a damaged file.
std::unique_ptr<Records> unusableRecords(Error why);

} // namespace deltascope
