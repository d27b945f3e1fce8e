#pragma once

#include "deltascope/app/view/summary_view.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

/// When a list that mostly grows at its end changed, and how far it stayed as it was. Revisions ascend.
class ListChanges {
public:
    template <class T> void advance(const std::vector<T>& before, const std::vector<T>& now, std::uint64_t revision)
    {
        std::size_t kept = 0;
        while (kept < before.size() && kept < now.size() && before[kept] == now[kept])
            ++kept;
        if (kept < before.size() || kept < now.size())
            add(kept, revision);
    }
    /// How many entries of a list of that size are as they were at a revision.
    std::size_t keptSince(std::uint64_t revision, std::size_t size) const;

private:
    void add(std::size_t kept, std::uint64_t revision);

    std::vector<std::pair<std::uint64_t, std::size_t>> m_kept; ///< revision and entries; both ascend
};

/// What changed in a followed run since a revision of it, as JSON, so that a copy elsewhere costs what changes and not
/// what there is. Not thread-safe.
class SnapshotChanges {
public:
    /// Compares with the snapshot before. One that is older than that is passed over.
    void advance(std::shared_ptr<const RunSnapshot> snapshot);

    const RunSnapshot& snapshot() const { return *m_snapshot; }
    /// SnapshotChanges of docs/http-api.md. `since`: a revision that was told before, or 0 for everything.
    std::string toJson(std::uint64_t since, const std::string& cursor) const;

private:
    using StepKey = std::pair<int, std::int64_t>; ///< epoch, step
    using Stamps = std::map<StepKey, std::uint64_t>; ///< revision of the last change; also of what is gone

    void advanceRun(const RunView& before, const RunView& now);
    void advanceHeat(const HeatView& before, const HeatView& now);
    nlohmann::ordered_json runChanges(const RunView& run, std::uint64_t since) const;
    std::string heatChanges(const HeatView& heat, std::uint64_t since) const;

    std::shared_ptr<const RunSnapshot> m_snapshot;
    Stamps m_steps;
    Stamps m_columns;
    Stamps m_verified;
    ListChanges m_problems, m_events, m_drift, m_notes, m_spans;
    std::uint64_t m_rows = 0; ///< when the tensors became others
    std::uint64_t m_heat = 0;
};

} // namespace deltascope::app
