#include "followed_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope::app {

namespace {

constexpr FollowedRun::Clock::duration LongestPause = std::chrono::minutes(5);
constexpr FollowedRun::Clock::duration LongestPauseOfKnown = std::chrono::seconds(30);
constexpr std::size_t VerifiedAtOnce = 64; ///< steps

std::string objectsOf(const StepView& step)
{
    std::string text = step.state;
    for (const ObjectView& object : step.objects)
        text += fmt::format("\n{} {} {}", object.key, object.sizeBytes, object.modifiedUs);
    return text;
}

bool canBeVerified(const StepView& step) { return step.state != "gap" && step.state != "publishing"; }

/// Rewritten bytes are refused whatever vouches for them; of the rest the first that is more than a notice.
std::optional<ProblemView> gravestOf(const std::vector<ProblemView>& problems)
{
    auto found = std::find_if(problems.begin(), problems.end(),
                              [](const ProblemView& problem) { return problem.code == word(Code::Rewritten); });
    if (found == problems.end())
        found = std::find_if_not(problems.begin(), problems.end(), isNotice);
    return found == problems.end() ? std::nullopt : std::optional(*found);
}

using StepKey = std::pair<int, std::int64_t>; ///< epoch, step
using StepObjects = std::map<StepKey, std::string>;
using StepKeys = std::set<StepKey>;

/// Whether steps of an epoch were found to be rewritten: a new run over an earlier one, of which not all was there yet,
/// looks so, and verify recognizes it once it reads all of its epoch.
bool anyRewritten(const VerifiedSteps& verified, const EpochView& epoch)
{
    return std::any_of(epoch.steps.begin(), epoch.steps.end(), [&](const StepView& step) {
        const auto known = verified.find({ epoch.epoch, step.step });
        return known != verified.end() && known->second.problem && known->second.problem->code == word(Code::Rewritten);
    });
}

StepObjects objectsOf(const RunView& run)
{
    StepObjects objects;
    for (const EpochView& epoch : run.epochs) {
        for (const StepView& step : epoch.steps) {
            if (canBeVerified(step))
                objects[{ epoch.epoch, step.step }] = objectsOf(step);
        }
    }
    return objects;
}

/// Adds the steps whose states build on those of others.
void addWhatBuildsOn(StepKeys& steps, const RunView& run)
{
    for (const EpochView& epoch : run.epochs) {
        for (const StepView& step : epoch.steps) {
            if (step.baseStep && steps.contains({ epoch.epoch, *step.baseStep }))
                steps.insert({ epoch.epoch, step.step });
        }
    }
}

void addAllOf(StepKeys& steps, const EpochView& epoch)
{
    for (const StepView& step : epoch.steps)
        steps.insert({ epoch.epoch, step.step });
}

}

FollowedRun::FollowedRun(std::string id, std::string name, SourceRequest request, bool demo)
    : m_request(std::move(request))
{
    auto snapshot = std::make_shared<RunSnapshot>();
    snapshot->id = std::move(id);
    snapshot->name = std::move(name);
    snapshot->source = m_request.source.text();
    snapshot->base = m_request.base.text();
    snapshot->state = "opening";
    snapshot->demo = demo;
    m_snapshot = std::move(snapshot);
}

void FollowedRun::begin(Service& service) { m_watch = service.watch(m_request, Depth::Progressive); }

void FollowedRun::end(Service& service) const
{
    for (const std::optional<JobId>& job : { m_watch, m_verification }) {
        if (job)
            service.cancel(*job);
    }
}

void FollowedRun::take(const RunChanged& changed, std::int64_t nowUs)
{
    m_failures = 0;
    RunSnapshot& snapshot = change();
    snapshot.run = changed.run;
    if (changed.heat)
        snapshot.heat = changed.heat;
    snapshot.source = changed.run->source;
    snapshot.state = changed.run->lost ? "error" : "live";
    snapshot.opening.clear();
    snapshot.error = changed.run->lost;
    if (!changed.run->lost)
        snapshot.contactUs = nowUs;
    look(snapshot, nowUs);
}

bool FollowedRun::takeProgress(const std::string& phase)
{
    if (m_snapshot->run || m_snapshot->opening == phase)
        return false;
    change().opening = phase;
    return true;
}

void FollowedRun::takeFailure(const Error& error, Clock::time_point now)
{
    m_watch.reset();
    m_failedAt = now;
    ++m_failures;
    RunSnapshot& snapshot = change();
    snapshot.state = "error";
    snapshot.opening.clear();
    snapshot.error = problemView(error);
}

bool FollowedRun::wantsRetry(Clock::time_point now, Clock::duration first) const
{
    const Clock::duration longest = m_snapshot->run ? LongestPauseOfKnown : LongestPause;
    Clock::duration pause = first;
    for (int n = 1; n < m_failures && pause < longest; ++n)
        pause = std::min(2 * pause, longest);
    return !m_watch && now - m_failedAt > pause;
}

void FollowedRun::setAlerts(std::uint64_t firing, const std::string& worst)
{
    if (m_snapshot->alertsFiring == firing && m_snapshot->worstAlert == worst)
        return;
    RunSnapshot& snapshot = change();
    snapshot.alertsFiring = firing;
    snapshot.worstAlert = worst;
}

void FollowedRun::verifyNext(Service& service, int level)
{
    if (m_verification || level <= 0 || !m_snapshot->run || !m_snapshot->run->settled
        || m_snapshot->run->epochs.empty()) // what was replayed needs no second replay to be verified
        return;
    const EpochView& epoch = m_snapshot->run->epochs.back();
    std::size_t count = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    for (const StepView& step : epoch.steps) {
        const bool wanted = canBeVerified(step) && !m_snapshot->verified.contains({ epoch.epoch, step.step });
        if (wanted && count == 0)
            first = step.step;
        if (count > 0 && (!wanted || count == VerifiedAtOnce))
            break;
        if (wanted) {
            last = step.step;
            ++count;
        }
    }
    if (count == 0)
        return;
    m_verifying = { epoch.epoch, { first, last } };
    m_verifyingSinceUs = m_lookUs;
    m_verification = service.verify({ m_request, fmt::format("{}:{}..{}", epoch.epoch, first, last), level, false });
}

void FollowedRun::takeVerification(const Result<JobResult>& outcome, std::int64_t nowUs)
{
    m_verification.reset();
    const auto* view = outcome ? std::get_if<std::shared_ptr<const VerifyView>>(&*outcome) : nullptr;
    if (view) {
        addVerdicts(**view, m_verifyingSinceUs, nowUs);
        return;
    }
    // What could not be verified at all is not asked about again before its objects change.
    VerifyView none;
    for (std::int64_t step = m_verifying.second.first; step <= m_verifying.second.second; ++step) {
        StepVerdictView& verdict = none.steps.emplace_back();
        verdict.epoch = m_verifying.first;
        verdict.step = step;
        verdict.result = "unverified";
    }
    addVerdicts(none, m_verifyingSinceUs, nowUs);
}

void FollowedRun::addVerdicts(const VerifyView& view, std::int64_t beganUs, std::int64_t nowUs)
{
    RunSnapshot& snapshot = change();
    for (const StepVerdictView& verdict : view.steps) {
        const std::pair key { verdict.epoch, verdict.step };
        const auto seen = m_seen.find(key);
        if (seen == m_seen.end() || seen->second.sinceUs > beganUs)
            continue;
        VerifiedView& verified = snapshot.verified[key];
        if (verified.result.empty() || view.level >= verified.level || verdict.result == "damaged")
            verified = { view.level, verdict.result, nowUs, gravestOf(verdict.problems) };
    }
}

RunSnapshot& FollowedRun::change()
{
    auto snapshot = std::make_shared<RunSnapshot>(*m_snapshot);
    ++snapshot->revision;
    RunSnapshot& changed = *snapshot;
    m_snapshot = std::move(snapshot);
    return changed;
}

/// Notes what each step consists of now. A verdict holds for the objects that were read, of the step and of what it
/// builds on.
void FollowedRun::look(RunSnapshot& snapshot, std::int64_t nowUs)
{
    m_lookUs = std::max(m_lookUs + 1, nowUs);
    StepObjects objects = objectsOf(*snapshot.run);
    StepKeys moved; ///< steps whose objects changed or are gone
    for (const auto& [key, seen] : m_seen) {
        const auto now = objects.find(key);
        if (now == objects.end() || now->second != seen.objects)
            moved.insert(key);
    }
    addWhatBuildsOn(moved, *snapshot.run);
    for (const EpochView& epoch : snapshot.run->epochs) {
        const bool isNew = std::any_of(epoch.steps.begin(), epoch.steps.end(), [&](const StepView& step) {
            const StepKey key { epoch.epoch, step.step };
            return objects.contains(key) && (moved.contains(key) || !m_seen.contains(key));
        });
        if (isNew && epoch.steps.size() <= VerifiedAtOnce && anyRewritten(snapshot.verified, epoch))
            addAllOf(moved, epoch);
    }
    std::erase_if(m_seen, [&](const auto& seen) { return !objects.contains(seen.first); });
    std::erase_if(snapshot.verified, [&](const auto& verified) {
        return moved.contains(verified.first) || !objects.contains(verified.first);
    });
    for (auto& [key, now] : objects) {
        Seen& seen = m_seen[key];
        if (seen.objects != now || moved.contains(key))
            seen = { std::move(now), m_lookUs };
    }
}

} // namespace deltascope::app
