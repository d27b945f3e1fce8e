#pragma once

#include "../upload_journal.h"
#include "deltascope/engine/object_store.h"
#include "store/xet/hash.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace deltascope::hub {

/// The xorbs of one put, noted before each is sent: if the put does not end well they stand in the store, and no key
/// needs them. Any thread.
class SentXorbs {
public:
    /// `store`: its canonical address. The journal must live as long.
    SentXorbs(const UploadJournal& journal, std::string store, std::string key)
        : m_journal(journal)
        , m_store(std::move(store))
        , m_key(std::move(key))
    {
    }

    /// Errors: those of the journal.
    Result<void> add(const xet::Hash& xorb, std::uint64_t bytes);
    /// The key stands for them. Nor are they left over of earlier puts that ended early.
    void done();

private:
    const UploadJournal& m_journal;
    const std::string m_store;
    const std::string m_key;
    std::mutex m_mutex; ///< guards what follows
    std::set<std::string> m_pieces;
    std::optional<UploadJournal::Note> m_note; ///< with the first one
};

/// ObjectStore::stranded of a bucket.
Result<std::vector<StrandedUpload>> strandedXorbs(const UploadJournal& journal, std::string_view store, bool forget);

} // namespace deltascope::hub
