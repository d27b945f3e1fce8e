#include "context.h"

#include <chrono>
#include <fmt/format.h>

namespace deltascope::server {

using namespace app;

Context::Context(Service& theService, Monitor& theMonitor, EventHub& theHub, ApiOptions theOptions)
    : service(theService)
    , monitor(theMonitor)
    , hub(theHub)
    , options(std::move(theOptions))
    , m_instance(fmt::format("{:x}", nowUs()))
{
}

std::int64_t Context::nowUs()
{
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Result<Context::Snapshot> Context::snapshotOf(const Call& call) const
{
    Snapshot snapshot = monitor.run(call.parts.front());
    if (!snapshot)
        return fail(Code::NotFound, "there is no such run", call.parts.front());
    return snapshot;
}

Result<Context::Snapshot> Context::openRunOf(const Call& call) const
{
    DS_TRY(Snapshot snapshot, snapshotOf(call));
    if (snapshot->run)
        return snapshot;
    if (snapshot->error)
        return fail(Error { parseCode(snapshot->error->code).value_or(Code::Io), snapshot->error->text,
                            snapshot->error->where, snapshot->error->step, snapshot->error->remedy });
    return fail(Code::Transient, "the run is still being opened", snapshot->name, "try again in a moment");
}

Result<Context::Snapshot> Context::heatOf(const Call& call) const
{
    DS_TRY(Snapshot snapshot, openRunOf(call));
    if (!snapshot->heat)
        return fail(Code::Transient, "nothing was replayed yet", snapshot->name, "try again in a moment");
    return snapshot;
}

std::string Context::etag(std::uint64_t revision) const { return fmt::format("{}-{}", m_instance, revision); }

Result<int> epochOf(const HttpRequest& request, const RunView& run)
{
    DS_TRY(const std::optional<std::int64_t> wanted, numberOf(request, "epoch", 0, INT32_MAX));
    if (!wanted)
        return run.epochs.empty() ? 0 : run.epochs.back().epoch;
    for (const EpochView& epoch : run.epochs) {
        if (epoch.epoch == *wanted)
            return epoch.epoch;
    }
    return fail(Code::NotFound, fmt::format("the run has no epoch {}", *wanted), run.run);
}

Routes::Handler answering(std::function<Result<HttpResponse>(const Call& call)> handler)
{
    return [handler = std::move(handler)](const Call& call) {
        Result<HttpResponse> answer = handler(call);
        call.reply(answer ? std::move(*answer) : errorAnswer(answer.error()));
    };
}

} // namespace deltascope::server
