#include "deltascope/app/alerts.h"

#include "alerts/backtest.h"
#include "alerts/kept_rules.h"
#include "alerts/rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

namespace deltascope::app {

namespace {

constexpr std::size_t MostSubjects = 100; // of one rule and run; one more counts the others
constexpr std::size_t MostCleared = 1'000;
/// How long no message repeats the same thing: after the first message, the second, and all others.
constexpr std::array<std::int64_t, 3> QuietUs = { 60'000'000, 600'000'000, 3'600'000'000 };

using Key = std::tuple<std::string, std::string, std::string>; ///< run, rule, subject

/// Keeps messages about one thing apart.
class Cooldown {
public:
    bool allows(std::int64_t nowUs) const { return m_sent == 0 || nowUs - m_lastUs >= quietUs(); }
    void sent(std::int64_t nowUs)
    {
        m_sent = isOver(nowUs) ? 1 : m_sent + 1;
        m_lastUs = nowUs;
    }
    /// Whether it is long ago.
    bool isOver(std::int64_t nowUs) const { return m_sent == 0 || nowUs - m_lastUs >= 2 * QuietUs.back(); }

private:
    std::int64_t quietUs() const { return QuietUs[std::min(m_sent, QuietUs.size()) - 1]; }

    std::size_t m_sent = 0;
    std::int64_t m_lastUs = 0;
};

/// One thing that a rule looks at: a replica, a step, a run.
struct Subject {
    std::optional<std::int64_t> sinceUs; ///< its condition has held from here on without a break
    std::optional<AlertView> alert; ///< while it is not cleared
    bool owesMessage = false; ///< something happened that nobody was told of
    bool wasTold = false; ///< of this alert
    Cooldown cooldown;
};

/// Marks an alert that is cleared because its rule was switched off: what it reports may last, and people get a message
/// as soon as it fires again.
void setAside(Subject& subject)
{
    subject.alert->text = "The rule was switched off, so nobody looks any more. Before: " + subject.alert->text;
    subject.cooldown = {};
}

bool isLater(const AlertView& a, const AlertView& b)
{
    const bool isOpenA = a.state != AlertState::Cleared;
    const bool isOpenB = b.state != AlertState::Cleared;
    return std::tuple(isOpenA, a.firstUs, a.id) > std::tuple(isOpenB, b.firstUs, b.id);
}

}

struct AlertEngine::State {
    mutable std::mutex mutex;
    RuleSettings settings; ///< of all rules
    std::string settingsFile; ///< empty: settings are not kept
    std::map<Key, Subject> subjects; ///< whose condition holds, or that people were told of lately
    std::deque<AlertView> cleared; ///< oldest first
    std::uint64_t revision = 0;
    std::uint64_t ids = 0;

    std::optional<Findings> find(const Rule& rule, const RunSnapshot& snapshot, std::int64_t nowUs) const;
    /// At most MostSubjects of them: those that have fired already, then the newest ones; and one that counts the rest.
    Findings chosen(const std::string& run, const Rule& rule, Findings findings) const;
    AlertChange fire(const Key& key, Subject& subject, const Rule& rule, const Finding& finding, std::int64_t nowUs);
    std::optional<AlertChange> goOn(Subject& subject, const Finding& finding, std::int64_t nowUs);
    std::optional<AlertChange> look(const Key& key, Subject& subject, const Rule& rule, const Finding& finding,
                                    std::int64_t nowUs);
    AlertChange clear(Subject& subject, std::int64_t nowUs);
    Result<void> keep(const std::string& rule, const RuleSetting& setting) const;
    /// Tells people now, if they may be told again.
    bool tell(Subject& subject, std::int64_t nowUs);
    /// Lets `act` change an alert that is not cleared.
    template <class Act> Result<AlertView> change(const std::string& id, const Act& act);
};

std::optional<Findings> AlertEngine::State::find(const Rule& rule, const RunSnapshot& snapshot,
                                                 std::int64_t nowUs) const
{
    const RuleSetting& setting = settings.at(std::string(rule.id));
    if (!setting.on || (!rule.unit.empty() && !setting.threshold))
        return std::nullopt;
    return rule.find(RuleInput { *snapshot.run, snapshot.verified, nowUs, setting.threshold.value_or(0) });
}

Findings AlertEngine::State::chosen(const std::string& run, const Rule& rule, Findings findings) const
{
    if (findings.size() <= MostSubjects)
        return findings;
    const auto hasFired = [&](const Finding& finding) {
        const auto known = subjects.find(Key { run, std::string(rule.id), finding.subject });
        return known != subjects.end() && known->second.alert.has_value();
    };
    std::erase_if(findings, [&](const Finding& finding) { return !finding.holds && !hasFired(finding); });
    std::reverse(findings.begin(), findings.end());
    std::stable_partition(findings.begin(), findings.end(), hasFired);
    if (findings.size() <= MostSubjects)
        return findings;
    const auto rest = findings.begin() + MostSubjects;
    Finding others = *rest; // the newest of them
    others.title = fmt::format("{} more, the newest of them: {}", findings.end() - rest, others.title);
    others.subject.clear(); // no other finding of a rule that finds several has none
    others.level = std::max_element(rest, findings.end(), [](const Finding& a, const Finding& b) {
                       return a.level < b.level;
                   })->level;
    findings.erase(rest, findings.end());
    findings.push_back(std::move(others));
    return findings;
}

bool AlertEngine::State::tell(Subject& subject, std::int64_t nowUs)
{
    const bool isSnoozed = subject.alert->snoozedUntilUs && nowUs < *subject.alert->snoozedUntilUs;
    if (!subject.owesMessage || isSnoozed || subject.alert->state == AlertState::Acked
        || !subject.cooldown.allows(nowUs))
        return false;
    subject.cooldown.sent(nowUs);
    subject.owesMessage = false;
    subject.wasTold = true;
    return true;
}

Result<void> AlertEngine::State::keep(const std::string& rule, const RuleSetting& setting) const
{
    if (settingsFile.empty())
        return {};
    Result<RuleSettings> kept = readRuleSettings(settingsFile); // another program may have set other rules
    if (kept)
        (*kept)[rule] = setting;
    Result<void> outcome = kept ? writeRuleSettings(settingsFile, *kept) : fail(std::move(kept.error()));
    if (!outcome)
        outcome.error().text = "the rule is set, and a restart forgets that: " + outcome.error().text;
    return outcome;
}

AlertChange AlertEngine::State::fire(const Key& key, Subject& subject, const Rule& rule, const Finding& finding,
                                     std::int64_t nowUs)
{
    AlertView alert;
    alert.id = fmt::format("{:x}-{}", nowUs, ++ids);
    alert.rule = rule.id;
    alert.level = finding.level;
    alert.run = std::get<0>(key);
    alert.step = finding.step;
    alert.replica = finding.replica;
    alert.title = finding.title;
    alert.text = finding.text;
    alert.remedy = rule.remedy;
    alert.value = finding.value;
    alert.threshold = settings.at(alert.rule).threshold;
    alert.firstUs = *subject.sinceUs;
    alert.lastUs = nowUs;
    subject.alert = std::move(alert);
    subject.owesMessage = true;
    subject.wasTold = false;
    const bool notify = tell(subject, nowUs);
    return { AlertChange::Kind::Fired, *subject.alert, notify };
}

std::optional<AlertChange> AlertEngine::State::goOn(Subject& subject, const Finding& finding, std::int64_t nowUs)
{
    AlertView& alert = *subject.alert;
    const bool isWorse = finding.level > alert.level;
    const bool isNew = isWorse || (finding.step && finding.step != alert.step);
    const bool isOther =
        isNew || finding.title != alert.title || finding.text != alert.text || finding.level != alert.level;
    alert.lastUs = nowUs;
    alert.value = finding.value;
    alert.threshold = settings.at(alert.rule).threshold;
    if (isOther) {
        alert.level = finding.level;
        alert.step = finding.step;
        alert.replica = finding.replica;
        alert.title = finding.title;
        alert.text = finding.text;
    }
    if (isNew) {
        ++alert.count;
        subject.owesMessage = true;
    }
    if (isWorse) {
        alert.state = AlertState::Firing;
        subject.cooldown = {};
    }
    const bool notify = tell(subject, nowUs);
    return isOther || notify ? std::optional(AlertChange { AlertChange::Kind::Repeated, alert, notify }) : std::nullopt;
}

std::optional<AlertChange> AlertEngine::State::look(const Key& key, Subject& subject, const Rule& rule,
                                                    const Finding& finding, std::int64_t nowUs)
{
    if (!finding.holds) {
        subject.sinceUs.reset();
        return std::nullopt;
    }
    if (!subject.sinceUs)
        subject.sinceUs = nowUs;
    if (subject.alert)
        return goOn(subject, finding, nowUs);
    if (nowUs - *subject.sinceUs < finding.afterUs)
        return std::nullopt;
    return fire(key, subject, rule, finding, nowUs);
}

AlertChange AlertEngine::State::clear(Subject& subject, std::int64_t nowUs)
{
    AlertView alert = std::move(*subject.alert);
    const bool isSnoozed = alert.snoozedUntilUs && nowUs < *alert.snoozedUntilUs;
    const bool notify = subject.wasTold && alert.state == AlertState::Firing && !isSnoozed;
    alert.state = AlertState::Cleared;
    alert.clearedUs = nowUs;
    subject.alert.reset();
    cleared.push_back(alert);
    if (cleared.size() > MostCleared)
        cleared.pop_front();
    return { AlertChange::Kind::Cleared, std::move(alert), notify };
}

AlertEngine::AlertEngine(const std::string& settingsFile)
    : m_state(std::make_unique<State>())
{
    m_state->settingsFile = settingsFile;
    RuleSettings kept; // set() reports a file that cannot be read
    if (!settingsFile.empty())
        kept = readRuleSettings(settingsFile).value_or(RuleSettings());
    for (const Rule& rule : alertRules()) {
        RuleSetting& setting = m_state->settings[std::string(rule.id)] = kept[std::string(rule.id)];
        if (!setting.threshold || rule.unit.empty())
            setting.threshold = rule.threshold;
    }
}

AlertEngine::~AlertEngine() = default;

std::vector<AlertChange> AlertEngine::update(const RunSnapshot& snapshot, std::int64_t nowUs)
{
    std::vector<AlertChange> changes;
    if (!snapshot.run)
        return changes;
    const std::lock_guard lock(m_state->mutex);
    for (const Rule& rule : alertRules()) {
        std::optional<Findings> found = m_state->find(rule, snapshot, nowUs);
        const bool isOff = !found;
        const Findings findings = m_state->chosen(snapshot.id, rule, std::move(found).value_or(Findings {}));
        std::set<std::string> seen;
        for (const Finding& finding : findings) {
            const Key key { snapshot.id, std::string(rule.id), finding.subject };
            seen.insert(finding.subject);
            if (auto change = m_state->look(key, m_state->subjects[key], rule, finding, nowUs))
                changes.push_back(std::move(*change));
        }
        std::size_t kept = 0;
        auto at = m_state->subjects.lower_bound(Key { snapshot.id, std::string(rule.id), {} });
        while (at != m_state->subjects.end() && std::get<0>(at->first) == snapshot.id
               && std::get<1>(at->first) == rule.id) {
            Subject& subject = at->second;
            if (!seen.contains(std::get<2>(at->first))) {
                subject.sinceUs.reset();
                if (subject.alert && isOff)
                    setAside(subject);
                if (subject.alert)
                    changes.push_back(m_state->clear(subject, nowUs));
            }
            const bool isIdle = !subject.sinceUs && !subject.alert;
            const bool isForgotten = isIdle && (subject.cooldown.isOver(nowUs) || kept >= MostSubjects);
            kept += isForgotten ? 0 : 1;
            at = isForgotten ? m_state->subjects.erase(at) : std::next(at);
        }
    }
    m_state->revision += changes.empty() ? 0 : 1;
    return changes;
}

template <class Act> Result<AlertView> AlertEngine::State::change(const std::string& id, const Act& act)
{
    for (auto& [key, subject] : subjects) {
        if (!subject.alert || subject.alert->id != id)
            continue;
        revision += act(subject) ? 1 : 0;
        return *subject.alert;
    }
    for (const AlertView& alert : cleared) {
        if (alert.id == id)
            return alert;
    }
    return fail(Code::NotFound, "there is no such alert", id);
}

Result<AlertView> AlertEngine::acknowledge(const std::string& id)
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->change(id, [](Subject& subject) {
        return std::exchange(subject.alert->state, AlertState::Acked) != AlertState::Acked;
    });
}

Result<AlertView> AlertEngine::snooze(const std::string& id, std::int64_t untilUs)
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->change(id, [untilUs](Subject& subject) {
        subject.owesMessage = true; // that it still fires is news when the time is over
        return std::exchange(subject.alert->snoozedUntilUs, untilUs) != untilUs;
    });
}

std::vector<std::string> AlertEngine::waiting(const std::string& run) const
{
    std::set<std::string> rules;
    const std::lock_guard lock(m_state->mutex);
    for (const auto& [key, subject] : m_state->subjects) {
        if (std::get<0>(key) == run && subject.sinceUs && !subject.alert)
            rules.insert(std::get<1>(key));
    }
    return { rules.begin(), rules.end() };
}

void AlertEngine::forget(const std::string& run)
{
    const std::lock_guard lock(m_state->mutex);
    std::erase_if(m_state->subjects, [&](const auto& subject) { return std::get<0>(subject.first) == run; });
    std::erase_if(m_state->cleared, [&](const AlertView& alert) { return alert.run == run; });
    ++m_state->revision;
}

Result<void> AlertEngine::set(const std::string& rule, bool on, std::optional<double> threshold)
{
    const Rule* const known = alertRule(rule);
    if (!known)
        return fail(Code::NotFound, "there is no such rule", rule);
    if (threshold && known->unit.empty())
        return fail(Code::Usage, "the rule has no threshold", rule);
    if (threshold && !(std::isfinite(*threshold) && *threshold >= 0))
        return fail(Code::Usage, "a threshold is a number that is not negative", rule);
    const std::lock_guard lock(m_state->mutex);
    m_state->settings.at(rule) = { on, threshold ? threshold : known->threshold };
    ++m_state->revision;
    return m_state->keep(rule, { on, threshold });
}

AlertListView AlertEngine::list(const std::string& run) const
{
    AlertListView list;
    const std::lock_guard lock(m_state->mutex);
    list.revision = m_state->revision;
    for (const auto& [key, subject] : m_state->subjects) {
        if (subject.alert && (run.empty() || subject.alert->run == run))
            list.alerts.push_back(*subject.alert);
    }
    for (const AlertView& alert : m_state->cleared) {
        if (run.empty() || alert.run == run)
            list.alerts.push_back(alert);
    }
    std::sort(list.alerts.begin(), list.alerts.end(), isLater);
    for (const Rule& rule : alertRules()) {
        const RuleSetting& setting = m_state->settings.at(std::string(rule.id));
        list.rules.push_back({ std::string(rule.id), rule.level, setting.on, std::string(rule.what), setting.threshold,
                               std::string(rule.unit) });
    }
    return list;
}

Result<BacktestView> AlertEngine::backtest(const RunSnapshot& snapshot, const std::string& rule) const
{
    const Rule* const known = alertRule(rule);
    if (!known)
        return fail(Code::NotFound, "there is no such rule", rule);
    BacktestView result { rule, snapshot.id, {} };
    AlertEngine replay;
    {
        const std::lock_guard lock(m_state->mutex);
        for (auto& [id, setting] : replay.m_state->settings)
            setting = { id == rule, m_state->settings.at(id).threshold };
    }
    if (!snapshot.run)
        return result;
    replayRun(snapshot, [&](const RunSnapshot& then, std::int64_t nowUs) {
        for (const AlertChange& change : replay.update(then, nowUs)) {
            if (change.kind == AlertChange::Kind::Fired)
                result.fired.push_back({ change.alert.step, nowUs, change.alert.text });
        }
    });
    return result;
}

} // namespace deltascope::app
