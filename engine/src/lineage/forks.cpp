#include "lineage/forks.h"

#include "lineage/links.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

/// "steps 4-5"
std::string rangeOf(const std::vector<std::int64_t>& left)
{
    if (left.size() == 1)
        return fmt::format("step {}", left.front());
    if (left.back() - left.front() + 1 == static_cast<std::int64_t>(left.size()))
        return fmt::format("steps {}-{}", left.front(), left.back());
    return fmt::format("{} steps from {} to {}", left.size(), left.front(), left.back());
}

/// `left`: the steps of epoch `old`, ascending.
Error forkProblem(const Run& run, const std::vector<std::int64_t>& left, int old, int newer)
{
    const bool isTail = behindWrittenOver(run, old, left.front()) == left.front();
    std::string text;
    if (isTail)
        text = fmt::format("{} are older than every newer step below them; they are the tail of an earlier run "
                           "(epoch {}) and are not chained onto epoch {}",
                           rangeOf(left), old, newer);
    else
        text = fmt::format("{} {} left of an earlier run (epoch {}), older than everything of epoch {}, and not "
                           "chained onto it",
                           rangeOf(left), left.size() == 1 ? "is" : "are", old, newer);
    return Error { Code::Fork, "the trainer started again: " + text, run.store->uri(), left.front(),
                   fmt::format("address the earlier run as SOURCE@{}:STEP", old) };
}

}

void reportForks(Run& run)
{
    if (run.layout->standAlone())
        return; // what parts them is said where they are parted (ops/separate_runs.h)
    for (std::size_t i = 1; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        const Version& old = run.versions[i - 1];
        if (version.epoch == old.epoch)
            continue;
        if (old.step() < version.step()) // a publisher that began another epoch behind the old one, on purpose
            continue;
        std::vector<std::int64_t> left;
        for (const Version& other : run.versions) {
            if (other.epoch == old.epoch)
                left.push_back(other.step());
        }
        run.problems.push_back(forkProblem(run, left, old.epoch, version.epoch));
    }
}

} // namespace deltascope
