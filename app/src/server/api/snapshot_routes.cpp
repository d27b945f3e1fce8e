#include "context.h"

#include "view/snapshot_changes.h"

#include <charconv>

namespace deltascope::server {

using namespace app;

namespace {

/// What changed in each run, from the first time on that somebody asks. Any thread.
class Snapshots {
public:
    HttpResponse answer(const Context& context, const Context::Snapshot& snapshot, const std::string& cursor)
    {
        const std::lock_guard lock(m_mutex);
        SnapshotChanges& changes = m_runs[snapshot->id];
        changes.advance(snapshot);
        const std::uint64_t revision = changes.snapshot().revision;
        return jsonAnswer(changes.toJson(revisionOf(context, cursor, revision), context.etag(revision)));
    }

private:
    /// The revision that a cursor of this daemon stands for; 0 for any other text.
    static std::uint64_t revisionOf(const Context& context, const std::string& cursor, std::uint64_t newest)
    {
        const std::size_t dash = cursor.rfind('-');
        std::uint64_t revision = 0;
        if (dash != std::string::npos)
            std::from_chars(cursor.data() + dash + 1, cursor.data() + cursor.size(), revision);
        return revision <= newest && context.etag(revision) == cursor ? revision : 0;
    }

    std::mutex m_mutex;
    std::map<std::string, SnapshotChanges> m_runs;
};

}

void addSnapshotRoutes(Routes& routes, Context& context)
{
    routes.add(
        "GET", "runs/{}/snapshot", Scope::Read,
        answering([&context, snapshots = std::make_shared<Snapshots>()](const Call& call) -> Result<HttpResponse> {
            DS_TRY(const Context::Snapshot snapshot, context.snapshotOf(call));
            return snapshots->answer(context, snapshot, textOf(call.request, "since"));
        }));
}

} // namespace deltascope::server
