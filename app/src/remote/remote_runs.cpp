#include "remote_runs.h"

#include <algorithm>

namespace deltascope::app {

namespace {

template <class Entries> auto place(Entries& entries, const std::string& id)
{
    return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.id == id; });
}

}

std::vector<RemoteRuns::Snapshot> RemoteRuns::all() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<Snapshot> snapshots;
    for (const Entry& entry : m_runs) {
        if (entry.shown)
            snapshots.push_back(entry.shown);
    }
    return snapshots;
}

RemoteRuns::Snapshot RemoteRuns::find(const std::string& id) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = place(m_runs, id);
    return found == m_runs.end() ? nullptr : found->shown;
}

Result<RemoteRuns::Snapshot> RemoteRuns::ofSource(const std::string& source, const std::string& base) const
{
    for (Snapshot& run : all()) {
        if (run->source == source && run->base == base)
            return std::move(run);
    }
    return fail(Code::Unsupported, "the server does not show this source", source,
                "add it to the command line of deltascope serve");
}

const MirroredRun* RemoteRuns::copyOf(const std::string& id) const
{
    const auto found = place(m_runs, id);
    return found == m_runs.end() ? nullptr : found->copy.get();
}

void RemoteRuns::keepOnly(const std::vector<std::string>& ids)
{
    const auto rank = [&](const Entry& entry) { return std::find(ids.begin(), ids.end(), entry.id); };
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_runs, [&](const Entry& entry) { return rank(entry) == ids.end(); });
    std::sort(m_runs.begin(), m_runs.end(), [&](const Entry& a, const Entry& b) { return rank(a) < rank(b); });
}

std::pair<MirroredRun*, RemoteRuns::Snapshot> RemoteRuns::made(const std::string& id)
{
    const std::lock_guard lock(m_mutex);
    auto found = place(m_runs, id);
    if (found == m_runs.end())
        found = m_runs.insert(found, Entry { id, std::make_unique<MirroredRun>(id), nullptr });
    return { found->copy.get(), found->shown };
}

void RemoteRuns::show(const std::string& id, Snapshot snapshot)
{
    const std::lock_guard lock(m_mutex);
    place(m_runs, id)->shown = std::move(snapshot);
}

} // namespace deltascope::app
