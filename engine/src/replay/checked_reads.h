#pragma once

#include "deltascope/engine/catalog.h"
#include "deltascope/engine/forwarding_store.h"
#include "deltascope/engine/path_state.h"
#include "replay/object_reads.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace deltascope {

/// A store whose reads of some objects are taken down and compared with what is on record. Everything else passes.
class CheckedStore final : public ReadOnlyStore {
public:
    CheckedStore(std::shared_ptr<const ObjectStore> below, const ReadRules& rules)
        : ReadOnlyStore(std::move(below))
        , m_replaced(rules.replaced)
        , m_records(rules.records)
    {
    }
    /// Before the first read.
    void add(std::unique_ptr<ObjectReads> reads);
    bool has(std::string_view key) const { return m_reads.contains(key); }
    const std::map<std::string, std::unique_ptr<ObjectReads>, std::less<>>& reads() const noexcept { return m_reads; }
    const ObjectStore& inner() const noexcept { return below(); }

    /// Of the identity that was listed. Where another object has taken its place: as Replaced says.
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    /// One after the other: each is compared by itself.
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override
    {
        return ObjectStore::readMany(reads, task);
    }
    /// That no comparison has failed so far, whatever became of its error.
    Result<void> expectNoFailure() const;
    /// Reads a leaf whole and compares it (ObjectReads).
    Result<void> compareLeaf(ObjectReads& reads, std::size_t leaf, bool fromStore, MutableByteSpan buffer,
                             TaskContext& task) const;

private:
    Result<void> readAndNote(ObjectReads& reads, std::uint64_t offset, MutableByteSpan out, TaskContext& task) const;
    bool forgets(const ObjectReads& reads) const;
    Result<void> blame(Result<void> outcome, const ObjectReads& reads, TaskContext& task) const;
    bool isAsListed(const ObjectReads& reads, TaskContext& task) const;
    void recordDifference(const ObjectReads& reads, TaskContext& task) const;

    const Replaced m_replaced;
    Records* const m_records; ///< null: nothing is on record
    mutable std::mutex m_mutex; ///< guards what follows
    mutable std::optional<Error> m_failure; ///< of the first comparison that failed
    mutable std::set<std::string> m_recorded; ///< keys of objects whose difference is on record
    std::map<std::string, std::unique_ptr<ObjectReads>, std::less<>> m_reads;
};

/// Everything that a chain reads, held against the records and against what stands there behind the last read. Any
/// thread.
class CheckedReads {
public:
    /// Damaged records become notices. Errors: Rewritten (an object has another size than on record,
    /// or is known to hold other bytes), those of the records.
    static Result<std::shared_ptr<CheckedReads>> of(const Run& run, const Plan& plan, const ReadRules& rules,
                                                    TaskContext& task);
    /// The same of objects that are read by themselves, all of source(). `isOutside`: errors tell their address, and no
    /// step.
    static Result<std::shared_ptr<CheckedReads>> ofObjects(std::shared_ptr<const ObjectStore> store,
                                                           const VersionObjects& objects, bool isOutside,
                                                           const ReadRules& rules, TaskContext& task);
    /// One object that is a state by itself, held against what runs around it have put on record of it. source()
    /// reads it. Errors: as above.
    static Result<std::shared_ptr<CheckedReads>> ofFile(const std::shared_ptr<const ObjectStore>& store,
                                                        const ObjectInfo& object, const ReadRules& rules,
                                                        TaskContext& task);

    const std::shared_ptr<CheckedStore>& source() const noexcept { return m_source; }
    const std::shared_ptr<CheckedStore>& base() const noexcept { return m_base; } ///< null without an external base

    /// Compares what has not been compared yet. Errors: Digest, Rewritten, those of the stores. `whole`: also what was
    /// not read of objects that are on record.
    Result<void> expectSound(bool whole, TaskContext& task);
    /// Reads all of each object that is on record under another identity, and compares it. Errors: as above.
    Result<void> expectKnown(TaskContext& task);
    /// `error`, or Digest or Rewritten where bytes caused it that differ from the record, or from what the store holds.
    /// Reads again, on a store that keeps reads, all that was read: what is kept of other bytes is dropped, so that the
    /// same operation may go well now.
    Error reasonOf(Error error, TaskContext& task);

    /// Objects that were rewritten and accepted: keys, and addresses of those outside of the source.
    std::vector<std::string> rewritten() const;
    /// What could not be compared.
    std::vector<Error> notices() const;

private:
    explicit CheckedReads(const ReadRules& rules)
        : m_rules(rules)
    {
    }
    Result<void> addAll(CheckedStore& store, const VersionObjects& version, bool isOutside, TaskContext& task);
    /// `found`: what is on record of the object, or of that of the source whose copy in a mirror it is.
    Result<ExpectedLeaves> expectedOf(const ObjectStore& store, const ObjectInfo& object,
                                      Result<std::vector<Records::Sight>> found, bool ofMirror,
                                      const std::string& where, std::optional<std::int64_t> step, TaskContext& task);
    Result<void> compare(const std::vector<std::pair<CheckedStore*, ObjectReads*>>& objects, ObjectReads::Which which,
                         TaskContext& task);
    Result<void> compareWithStores(TaskContext& task);
    Result<bool> looksTheSame(CheckedStore& store, const ObjectReads& reads, TaskContext& task) const;
    void noteGone(const ObjectReads& reads);

    ReadRules m_rules;
    std::shared_ptr<CheckedStore> m_source;
    std::shared_ptr<CheckedStore> m_base;
    struct Mirrored {
        std::size_t objects = 0;
        std::size_t notCompared = 0; ///< of which nothing is on record
    };
    std::map<std::string, Mirrored> m_mirrored; ///< what is read of mirrors, by their addresses
    std::vector<std::string> m_knownRewritten; ///< accepted without a look at their bytes
    mutable std::mutex m_mutex; ///< guards m_notices
    std::map<std::string, Error> m_notices; ///< each once
};

} // namespace deltascope
