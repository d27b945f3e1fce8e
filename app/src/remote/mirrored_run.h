#pragma once

#include "deltascope/app/view/summary_view.h"

#include "view/io/json_fields.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

/// A copy of a run that a server follows, kept up to date by what changed there (SnapshotChanges of docs/http-api.md).
/// Revisions grow for as long as the copy lives, also where those of the server begin anew. Not thread-safe.
class MirroredRun {
public:
    explicit MirroredRun(std::string id);

    const std::shared_ptr<const RunSnapshot>& snapshot() const { return m_snapshot; }
    const std::string& cursor() const
    {
        return m_cursor;
    } ///< what the server wants to be asked with; empty: nothing yet
    std::uint64_t serverRevision() const { return m_serverRevision; }

    /// Errors: Unsupported; the copy has to be fetched anew then.
    Result<void> apply(const std::string& changes);
    /// Forgets what the cursor stands for, so that everything comes anew.
    void restart() { m_cursor.clear(); }

    /// Contact was lost: state "lost", or "error" with a problem. `contactUs`: when it was there last.
    void lose(const std::optional<ProblemView>& problem, std::int64_t contactUs);

private:
    using StepKey = std::pair<int, std::int64_t>;

    void read(const json& changes);
    void readRun(const json& from);
    void readHeat(const json& from);
    void readVerified(const json& changes);

    std::string m_cursor;
    std::uint64_t m_serverRevision = 0;
    std::shared_ptr<const RunSnapshot> m_snapshot;
    std::map<StepKey, StepView> m_steps;
    std::map<StepKey, HeatColumnView> m_columns;
    RunView m_run; ///< without epochs
    std::vector<TensorRowView> m_rows;
    RunSnapshot m_next; ///< while changes are read
};

} // namespace deltascope::app
