#include "lost_publications.h"

#include "deltascope/engine/trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace deltascope {

Result<std::optional<Error>> lostPublications(const Run& run, TaskContext& task)
{
    const Result<Trace> trace = TraceReader().read(*run.store, run.beside, task);
    if (!trace && trace.error().code == Code::Canceled)
        return fail(trace.error());
    std::set<std::int64_t> lost;
    std::string actor;
    if (trace) {
        for (auto span = trace->spans.rbegin(); span != trace->spans.rend(); ++span) {
            if (span->phase != "upload" || span->step < 0)
                continue;
            if (run.find(span->step))
                break;
            if (std::binary_search(run.acceptedLosses.begin(), run.acceptedLosses.end(), span->step))
                continue;
            lost.insert(span->step);
            actor = span->actor;
        }
    }
    if (lost.empty())
        return std::optional<Error>();
    return std::optional(Error {
        Code::ChainGap,
        fmt::format(
            "{} says that it has published {} {}, behind the newest version that is here: {} removed, if that is "
            "so",
            actor, lost.size() == 1 ? "step" : "steps", fmt::join(lost, ", "),
            lost.size() == 1 ? "it was" : "they were"),
        run.store->uri(), *lost.begin(),
        "Restore what was removed if it exists elsewhere; the next version that is published here ends this." });
}

} // namespace deltascope
