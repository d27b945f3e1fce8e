#pragma once

#include "mirrored_run.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

/// The copies of a server's runs, in its order. One thread changes them, which takes its time; any other reads.
class RemoteRuns {
public:
    using Snapshot = std::shared_ptr<const RunSnapshot>;

    std::vector<Snapshot> all() const;
    Snapshot find(const std::string& id) const; ///< null: no such run
    /// The run of a source as its server names it. Errors: Unsupported.
    Result<Snapshot> ofSource(const std::string& source, const std::string& base) const;

    // Of the thread that changes.

    /// Calls `change` with the copy, which is made if there is none yet; readers see the one before until it returns.
    /// Returns before, which is null for a new one, and after.
    template <class Change> std::pair<Snapshot, Snapshot> change(const std::string& id, Change change)
    {
        const auto [copy, before] = made(id);
        change(*copy);
        show(id, copy->snapshot());
        return { before, copy->snapshot() };
    }
    const MirroredRun* copyOf(const std::string& id) const; ///< null: no such run
    void keepOnly(const std::vector<std::string>& ids); ///< and puts them in this order

private:
    struct Entry {
        std::string id;
        std::unique_ptr<MirroredRun> copy; ///< of the thread that changes
        Snapshot shown; ///< null while the first change is on its way
    };
    std::pair<MirroredRun*, Snapshot> made(const std::string& id);
    void show(const std::string& id, Snapshot snapshot);

    mutable std::mutex m_mutex;
    std::vector<Entry> m_runs;
};

} // namespace deltascope::app
