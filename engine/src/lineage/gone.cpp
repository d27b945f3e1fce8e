#include "lineage/gone.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace deltascope {

namespace {

using Loss = GoneVersion::Loss;

const Version* firstBehind(const Run& run, const GoneVersion& gone)
{
    const auto found = std::partition_point(run.versions.begin(), run.versions.end(), [&](const Version& version) {
        return std::pair(version.epoch, version.step()) <= std::pair(gone.epoch, gone.step);
    });
    return found == run.versions.end() || found->epoch != gone.epoch ? nullptr : &*found;
}

/// Whether a version says by itself what it builds on.
bool namesItsBase(const Version& version)
{
    return version.summary && (version.summary->declaredBase || !version.summary->baseRoot.empty());
}

/// Whether a version that follows a gone one cannot do without it.
bool needs(const Version& behind, const GoneVersion& gone)
{
    if (behind.kind == VersionKind::Anchor || behind.fullForm())
        return false;
    if (!namesItsBase(behind))
        return true; // it builds on whatever was in front of it
    if (behind.onExternalBase)
        return behind.summary->declaredBase.value_or(0) >= gone.step;
    return !behind.base;
}

Loss lossOf(const Run& run, const GoneVersion& gone)
{
    const Version* behind = firstBehind(run, gone);
    if (gone.ofEarlierRun)
        return Loss::Retired;
    if (!behind)
        return gone.epoch + 1 == run.epochs() ? Loss::Newest : Loss::Retired;
    return !run.layout->standAlone() && needs(*behind, gone) ? Loss::Needed : Loss::Retired;
}

/// "Steps 1 to 4, 6"
std::string stepsOf(const std::vector<const GoneVersion*>& gone)
{
    constexpr std::size_t Shown = 8;
    std::vector<std::string> parts;
    for (std::size_t i = 0, behind = 0; i < gone.size(); i = behind) {
        behind = i + 1;
        while (behind < gone.size() && gone[behind]->step == gone[behind - 1]->step + 1)
            ++behind;
        const std::int64_t first = gone[i]->step;
        const std::int64_t last = gone[behind - 1]->step;
        parts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last));
    }
    if (parts.size() > Shown)
        parts.erase(parts.begin() + Shown / 2, parts.end() - Shown / 2);
    return fmt::format("{} {}", gone.size() == 1 ? "Step" : "Steps", fmt::join(parts, ", "));
}

Error newestProblem(const std::vector<const GoneVersion*>& gone)
{
    const GoneVersion& last = *gone.back();
    const std::string text = gone.size() == 1
        ? fmt::format("Step {} was here and is gone; it was the newest", last.step)
        : fmt::format("{} were here and are gone; these {} were the newest", stepsOf(gone), gone.size());
    return Error { Code::Vanished, text, last.name, last.step, {} };
}

/// `gone`: what one version needs.
Error neededProblem(const std::vector<const GoneVersion*>& gone, const Version& behind)
{
    return Error { Code::Vanished,
                   fmt::format("{} {} here and {} gone; step {} and what builds on it cannot be rebuilt without {}",
                               stepsOf(gone), gone.size() == 1 ? "was" : "were", gone.size() == 1 ? "is" : "are",
                               behind.step(), gone.size() == 1 ? "it" : "them"),
                   gone.front()->name,
                   gone.front()->step,
                   {} };
}

Error retiredProblem(const std::vector<const GoneVersion*>& gone)
{
    return Error { Code::Retired,
                   fmt::format("{} {} here and {} gone; nothing that is here needs {}", stepsOf(gone),
                               gone.size() == 1 ? "was" : "were", gone.size() == 1 ? "is" : "are",
                               gone.size() == 1 ? "it" : "them"),
                   gone.back()->name,
                   gone.back()->step,
                   {} };
}

std::vector<const GoneVersion*> withLoss(const Run& run, Loss loss)
{
    std::vector<const GoneVersion*> found;
    for (const GoneVersion& gone : run.gone) {
        if (gone.loss == loss && !gone.ofEarlierRun)
            found.push_back(&gone);
    }
    return found;
}

}

bool Run::hasOtherForms() const noexcept
{
    return std::any_of(versions.begin(), versions.end(),
                       [](const Version& version) { return !version.otherForms.empty(); });
}

const GoneVersion* Run::newestGone() const noexcept
{
    const auto found = std::find_if(gone.rbegin(), gone.rend(),
                                    [](const GoneVersion& version) { return version.loss == Loss::Newest; });
    return found == gone.rend() ? nullptr : &*found;
}

std::vector<Error> doubtsOfChoice(const Run& run)
{
    std::vector<Error> doubts;
    std::copy_if(run.problems.begin(), run.problems.end(), std::back_inserter(doubts), [](const Error& problem) {
        return problem.code == Code::Vanished || (problem.code == Code::Fork && !problem.step);
    });
    return doubts;
}

const GoneVersion* Run::goneBefore(const Version& version) const noexcept
{
    if (version.kind == VersionKind::Anchor)
        return nullptr;
    const auto found = std::find_if(gone.rbegin(), gone.rend(), [&](const GoneVersion& before) {
        return before.loss == Loss::Needed && before.epoch == version.epoch && firstBehind(*this, before) == &version;
    });
    return found == gone.rend() ? nullptr : &*found;
}

void weighGone(Run& run)
{
    for (GoneVersion& gone : run.gone)
        gone.loss = lossOf(run, gone);
}

void reportGone(Run& run)
{
    if (const auto newest = withLoss(run, Loss::Newest); !newest.empty())
        run.problems.push_back(newestProblem(newest));
    const std::vector<const GoneVersion*> needed = withLoss(run, Loss::Needed);
    for (std::size_t i = 0, next = 0; i < needed.size(); i = next) {
        const Version* behind = firstBehind(run, *needed[i]);
        const auto isNeededByAnother = [&](const GoneVersion* gone) { return firstBehind(run, *gone) != behind; };
        next = static_cast<std::size_t>(
            std::find_if(needed.begin() + static_cast<std::ptrdiff_t>(i), needed.end(), isNeededByAnother)
            - needed.begin());
        run.problems.push_back(neededProblem(
            { needed.begin() + static_cast<std::ptrdiff_t>(i), needed.begin() + static_cast<std::ptrdiff_t>(next) },
            *behind));
    }
    if (const auto retired = withLoss(run, Loss::Retired); !retired.empty())
        run.problems.push_back(retiredProblem(retired));
}

bool isGone(const Run& run, int epoch, std::int64_t step)
{
    return std::any_of(run.gone.begin(), run.gone.end(), [&](const GoneVersion& gone) {
        return gone.epoch == epoch && gone.step == step && gone.loss == Loss::Needed;
    });
}

} // namespace deltascope
