#include "deltascope/app/view/health_view.h"

#include "deltascope/base/code.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope::app {

namespace {

enum class Use : std::uint8_t { Pending, Usable, Doubtful, Unusable };

struct JudgedStep {
    const StepView* step;
    std::optional<VerifiedView> verified;
    Use use;
    std::size_t origin; ///< place of the step whose fault it is
    std::optional<std::size_t> base; ///< place of the step that it builds on
    std::optional<std::size_t> restored; ///< place of the step whose state it has again
};
/// Steps that follow each other and are of one use.
struct StepStretch {
    std::size_t first, last; ///< places among the judged steps
};
using Judged = std::vector<JudgedStep>;

/// What says that a step was rewritten since it was first seen: its verification, or before one what the records say.
/// Of a base, which has no step, only they speak. Null also where accepting that would not help, since the step is
/// damaged.
const ProblemView* rewrittenIn(const JudgedStep& judged)
{
    const std::optional<VerifiedView>& verified = judged.verified;
    const auto isOfIt = [](const ProblemView& problem) { return problem.code == word(Code::Rewritten); };
    const auto counts = [&](const ProblemView& problem) { return isOfIt(problem) && !(verified && problem.step); };
    if (!judged.step->restorable || (verified && verified->result == "damaged"))
        return nullptr;
    if (verified && verified->problem && isOfIt(*verified->problem))
        return &*verified->problem;
    const std::vector<ProblemView>& own = judged.step->problems;
    const auto found = std::find_if(own.begin(), own.end(), counts);
    return found == own.end() ? nullptr : &*found;
}

bool isRewritten(const JudgedStep& judged) { return rewrittenIn(judged) != nullptr; }

std::optional<std::size_t> soundnessOf(const JudgedStep& judged)
{
    return judged.verified ? soundnessOf(*judged.verified) : std::nullopt;
}

bool raisesDoubt(const ProblemView& problem)
{
    const std::optional<Code> code = parseCode(problem.code);
    return code && (forbidsTrust(*code) || *code == Code::SuspectValues || *code == Code::Unproven);
}

/// What raises a doubt about a step by itself; null: nothing.
const ProblemView* doubtAbout(const JudgedStep& judged)
{
    const std::vector<ProblemView>& own = judged.step->problems;
    const auto found = std::find_if(own.begin(), own.end(), raisesDoubt);
    if (found != own.end())
        return &*found;
    const bool failed = judged.verified && judged.verified->result == "unverified" && judged.verified->problem;
    return failed ? &*judged.verified->problem : nullptr;
}

const StepView* gapBefore(const RunView& run, const StepView& step)
{
    for (const StepView& other : run.epochs.back().steps) {
        if (other.state == "gap" && other.lastMissing == step.step - 1)
            return &other;
    }
    return nullptr;
}

Use ownUseOf(const RunView& run, const JudgedStep& judged, bool isNewest)
{
    const StepView& step = *judged.step;
    if (step.state == "publishing")
        return Use::Pending;
    const bool damaged = judged.verified && judged.verified->result == "damaged";
    if (!step.restorable || damaged || isRewritten(judged))
        return Use::Unusable;
    const ProblemView* doubt = doubtAbout(judged);
    if (!doubt)
        return Use::Usable;
    // Where nothing marks the end of a version, more of the newest one may be on its way.
    const bool mayGrow = isNewest && doubt->code == word(Code::Unproven) && !gapBefore(run, step);
    return mayGrow ? Use::Pending : Use::Doubtful;
}

/// The step whose state a step is rebuilt from; nothing where the form that is used is complete.
std::optional<std::int64_t> baseOf(const StepView& step)
{
    const auto used =
        std::find_if(step.forms.begin(), step.forms.end(), [](const FormView& form) { return form.isUsed; });
    return used == step.forms.end() ? step.baseStep : used->baseStep;
}

/// Whether one of its forms is complete and can be used, whatever becomes of its base.
bool standsByItself(const StepView& step)
{
    return std::any_of(step.forms.begin(), step.forms.end(),
                       [](const FormView& form) { return !form.baseStep && form.restore.reason.empty(); });
}

/// What is rebuilt from something that cannot be used cannot be used, unless another form of it can, and doubts last as
/// long. A step that restores another has the state of that one, and its doubts instead of those about what it builds
/// on.
Judged judge(const RunView& run, const VerifiedSteps& verified)
{
    Judged all;
    std::map<std::int64_t, std::size_t> places;
    const std::vector<const StepView*> steps = newestSteps(run);
    const auto placeOf = [&](const std::optional<std::int64_t>& step) {
        const auto place = step ? places.find(*step) : places.end();
        return place == places.end() ? std::nullopt : std::optional(place->second);
    };
    for (const StepView* step : steps) {
        JudgedStep judged { step, verifiedOf(verified, *step), Use::Usable, all.size(), {}, {} };
        judged.use = ownUseOf(run, judged, step == steps.back());
        judged.base = placeOf(baseOf(*step));
        judged.restored = placeOf(step->restores);
        const auto inherit = [&](const std::optional<std::size_t>& from, Use use) {
            if (!from || all[*from].use != use || judged.use > use)
                return;
            judged.use = use;
            judged.origin = all[*from].origin;
        };
        if (!standsByItself(*step))
            inherit(judged.base, Use::Unusable);
        inherit(judged.restored ? judged.restored : judged.base, Use::Doubtful);
        places[step->step] = all.size();
        all.push_back(std::move(judged));
    }
    return all;
}

template <class Predicate> std::vector<StepStretch> stretchesWhere(const Judged& all, Predicate&& holds)
{
    std::vector<StepStretch> found;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!holds(all[i].use))
            continue;
        if (found.empty() || found.back().last + 1 != i)
            found.push_back({ i, i });
        found.back().last = i;
    }
    return found;
}

std::string numbers(std::int64_t first, std::int64_t last)
{
    return first == last ? fmt::format("step {}", first)
                         : fmt::format("steps {} {} {}", first, last == first + 1 ? "and" : "to", last);
}

std::string numbers(const Judged& all, const StepStretch& stretch)
{
    return numbers(all[stretch.first].step->step, all[stretch.last].step->step);
}

std::string upper(std::string text)
{
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

// --- what is proven
// ----------------------------------------------------------------------------------------------------

/// From the first usable step on, as far as all were found sound.
std::string provenText(const Judged& all, const std::vector<StepStretch>& usable)
{
    std::optional<std::int64_t> to;
    std::size_t weakest = 0;
    std::size_t unchecked = 0;
    for (std::size_t i = usable.empty() ? all.size() : usable.front().first; i < all.size(); ++i) {
        const std::optional<std::size_t> soundness = soundnessOf(all[i]);
        if (unchecked == 0 && all[i].use == Use::Usable && soundness) {
            to = all[i].step->step;
            weakest = std::max(weakest, *soundness);
        } else if (all[i].use > Use::Usable) {
            break;
        } else {
            ++unchecked;
        }
    }
    std::string text = !to ? std::string("No step is checked yet")
        : SoundResults[weakest] == "first_sight"
        ? fmt::format("Bytes as first read, which may be just now, to step {}", *to)
        : fmt::format("Checked to step {}: {}", *to,
                      SoundResults[weakest] == "verified" ? "as their publisher recorded them"
                                                          : "they lead to the complete states that were published");
    if (to && unchecked > 0)
        text += fmt::format("; {} newer not checked yet", unchecked);
    return text;
}

/// What is warned of is not offered. `usable`: without doubt.
std::string restorableText(const Judged& all, const std::vector<StepStretch>& usable)
{
    constexpr std::size_t Shown = 3;
    if (usable.empty())
        return std::any_of(all.begin(), all.end(), [](const JudgedStep& judged) { return judged.use == Use::Doubtful; })
            ? "What can be restored is in doubt"
            : "No step can be restored";
    const bool toTheEnd = std::none_of(all.begin() + static_cast<std::ptrdiff_t>(usable.back().last), all.end(),
                                       [](const JudgedStep& judged) { return judged.use != Use::Usable; });
    std::vector<std::string> parts;
    for (std::size_t i = usable.size() > Shown ? usable.size() - Shown : 0; i < usable.size(); ++i) {
        const bool open = toTheEnd && i + 1 == usable.size();
        parts.push_back(
            open ? fmt::format("{} {} on", parts.empty() ? "from step" : "and from", all[usable[i].first].step->step)
                 : numbers(all, usable[i]));
    }
    return fmt::format("Can be restored: {}{}", usable.size() > Shown ? "among others " : "", fmt::join(parts, ", "));
}

// --- damage and doubt
// --------------------------------------------------------------------------------------------------

const ProblemView* problemOf(const JudgedStep& judged)
{
    if (const ProblemView* rewritten = rewrittenIn(judged))
        return rewritten;
    if (judged.step->problems.empty())
        return judged.verified && judged.verified->problem ? &*judged.verified->problem : nullptr;
    return gravest(judged.step->problems);
}

/// Whether a problem speaks of the checkpoint that was given for the run, which each step may build on by itself.
bool isOfBase(const ProblemView& problem)
{
    const std::optional<Code> code = parseCode(problem.code);
    return code == Code::BaseMissing || code == Code::BaseMismatch || (code == Code::Rewritten && !problem.step);
}

/// Whether one fault makes both steps unusable. Neighbors whose versions stand alone have each a fault of its own.
bool haveOneFault(const Judged& all, std::size_t a, std::size_t b)
{
    if (all[a].origin == all[b].origin)
        return true;
    const ProblemView* const ofA = problemOf(all[all[a].origin]);
    const ProblemView* const ofB = problemOf(all[all[b].origin]);
    return ofA && ofB && ofA->code == ofB->code && isOfBase(*ofA) && isOfBase(*ofB);
}

/// Steps that follow each other and cannot be used for one fault.
std::vector<StepStretch> damagedStretches(const Judged& all)
{
    std::vector<StepStretch> found;
    for (const StepStretch& unusable : stretchesWhere(all, [](Use use) { return use == Use::Unusable; })) {
        found.push_back({ unusable.first, unusable.first });
        for (std::size_t i = unusable.first + 1; i <= unusable.last; ++i) {
            if (!haveOneFault(all, found.back().last, i))
                found.push_back({ i, i });
            found.back().last = i;
        }
    }
    return found;
}

/// "step 3 is", "steps 3 to 5 are", "steps 3 to 5 and others are".
std::string areThose(const Judged& all, const std::vector<StepStretch>& stretches)
{
    const bool isOne = stretches.size() == 1 && stretches[0].first == stretches[0].last;
    return fmt::format("{}{} {}", numbers(all, stretches[0]), stretches.size() > 1 ? " and others" : "",
                       isOne ? "is" : "are");
}

struct DamageWords {
    std::string cause;
    std::string remedy;
    bool endsByCompleteState = false;
};

DamageWords damageWords(const RunView& run, const JudgedStep& first)
{
    const StepView& step = *first.step;
    const ProblemView* problem = problemOf(first);
    const std::optional<Code> code = problem ? parseCode(problem->code) : std::nullopt;
    const auto copy = [](const std::string& what) { return fmt::format("Put {} back if there is a copy of it", what); };
    if (isRewritten(first))
        return { fmt::format("{} {} is no longer what was first read",
                             problem->step ? "Step" : "The checkpoint that was given for step", step.step),
                 "If it was rewritten on purpose, accept what is there now; else put the first bytes back" };
    if (code == Code::BaseMissing)
        return { fmt::format("The checkpoint that step {} builds on was not given", step.step),
                 "Give the checkpoint that the run started from as its base" };
    if (code == Code::BaseMismatch)
        return { fmt::format("Step {} does not fit the checkpoint that was given", step.step),
                 "Give the checkpoint that the run started from as its base, and no other" };
    const bool lostAPart = code == Code::Vanished && step.state == "broken";
    if (code == Code::NotFound || code == Code::Unfinished || lostAPart)
        return { fmt::format("Step {} is not whole", step.step), copy("what is missing"), true };
    if (code == Code::Unsupported)
        return { fmt::format("Step {} is in a form that this version does not read", step.step), problem->remedy };
    if (step.state == "broken" || (first.verified && first.verified->result == "damaged"))
        return { fmt::format("Step {} is damaged", step.step), copy(fmt::format("a sound step {}", step.step)), true };
    if (const StepView* gap = gapBefore(run, step)) {
        const std::string lost = numbers(gap->step, gap->lastMissing);
        return { fmt::format("{} {} lost", upper(lost), gap->step == gap->lastMissing ? "is" : "are"), copy(lost),
                 true };
    }
    if (code == Code::ChainGap && step.baseStep == step.step - 1) // no number is missing: it may be a part of the base
        return { fmt::format("Step {} was not written against step {} as it is here", step.step, *step.baseStep),
                 fmt::format("{}; step {} may lack it, too", copy("what is lost"), *step.baseStep), true };
    if (code == Code::ChainGap)
        return { fmt::format("Something in front of step {} is lost", step.step), copy("what is lost"), true };
    return { fmt::format("Step {} cannot be read", step.step), problem ? problem->remedy : std::string() };
}

void addDamage(HealthView& health, const RunView& run, const Judged& all, const StepStretch& stretch, std::size_t more)
{
    const JudgedStep& first = all[all[stretch.first].origin];
    const std::string steps = numbers(all, stretch);
    const DamageWords words = damageWords(run, first);
    const std::string fate = isRewritten(first) ? "cannot be used" : "cannot be rebuilt";
    health.state = "broken";
    const bool ownFault = stretch.first == stretch.last && words.cause.starts_with(upper(steps) + " is ");
    health.headline = fmt::format("{}{} {}", words.cause, ownFault ? " and" : ": " + steps, fate);
    if (more > 0)
        health.headline += fmt::format("; {} more {} damaged", more, more == 1 ? "stretch is" : "stretches are");
    health.remedy = words.remedy;
    if (words.endsByCompleteState && stretch.last + 1 == all.size())
        health.remedy += ". The next complete state that is published ends the damage";
    health.step = first.step->step;
    if (const ProblemView* problem = problemOf(first))
        health.problem = *problem;
}

std::string doubtText(const RunView& run, const JudgedStep& first, const ProblemView& doubt)
{
    const std::optional<Code> code = parseCode(doubt.code);
    const std::int64_t step = first.step->step;
    if (code == Code::SuspectValues)
        return fmt::format("Values of step {} look broken", step);
    if (code == Code::AnchorDrift)
        return fmt::format("Step {} does not follow from the steps before it", step);
    if (code == Code::Unproven) {
        const StepView* gap = gapBefore(run, *first.step);
        return gap ? fmt::format("{} may be lost", upper(numbers(gap->step, gap->lastMissing)))
                   : fmt::format("Something in front of step {} may be lost", step);
    }
    if (code && forbidsTrust(*code))
        return fmt::format("Step {} contradicts itself", step);
    return fmt::format("Step {} could not be checked", step);
}

/// The first stretch in doubt, and those that come of it: roll backs part them, or restore a step of it again.
std::vector<StepStretch> stretchesOfOneDoubt(const Judged& all, std::vector<StepStretch> doubtful)
{
    std::vector<bool> comesOfIt(all.size());
    for (std::size_t i = doubtful.front().first; i < all.size(); ++i) {
        const std::optional<std::size_t>& base = all[i].base;
        const std::optional<std::size_t>& restored = all[i].restored;
        comesOfIt[i] = i <= doubtful.front().last || (base && comesOfIt[*base]) || (restored && comesOfIt[*restored]);
    }
    std::erase_if(doubtful, [&](const StepStretch& stretch) {
        const auto from = comesOfIt.begin() + static_cast<std::ptrdiff_t>(stretch.first);
        const auto to = comesOfIt.begin() + static_cast<std::ptrdiff_t>(stretch.last) + 1;
        return std::find(from, to, true) == to;
    });
    return doubtful;
}

void addDoubt(HealthView& health, const RunView& run, const Judged& all, const std::vector<StepStretch>& doubtful)
{
    const JudgedStep& first = all[all[doubtful.front().first].origin];
    const ProblemView* doubt = doubtAbout(first);
    health.state = "doubtful";
    std::vector<std::string> steps;
    for (const StepStretch& stretch : stretchesOfOneDoubt(all, doubtful))
        steps.push_back(numbers(all, stretch));
    health.headline = fmt::format("{}: do not rely on {}", doubtText(run, first, *doubt), fmt::join(steps, ", "));
    health.remedy = doubt->remedy;
    health.step = first.step->step;
    health.problem = *doubt;
}

/// A version that was here and is gone, or records that are: the steps that are here may all be sound, and something is
/// wrong with the run.
const ProblemView* lossOf(const RunView& run)
{
    const auto found = std::find_if(run.problems.begin(), run.problems.end(), [](const ProblemView& problem) {
        return problem.code == word(Code::Vanished) || problem.code == word(Code::Catalog);
    });
    return found == run.problems.end() ? nullptr : &*found;
}

void addLoss(HealthView& health, const ProblemView& loss)
{
    health.state = "doubtful";
    health.headline = upper(loss.text);
    health.remedy = loss.remedy;
    health.problem = loss;
}

void addOldVerdicts(HealthView& health)
{
    health.proven = "The verdicts in this bundle were made by older rules: do not rely on them";
    if (health.state == "broken" || health.state == "doubtful") {
        health.remedy += ". " + health.proven;
        return;
    }
    health.state = "doubtful";
    health.headline = health.proven;
    health.remedy = "Export the run again, or verify it where it lies";
}

}

HealthView makeHealth(const RunView& run, const VerifiedSteps& verified, bool oldVerdicts)
{
    HealthView health;
    const Judged all = judge(run, verified);
    if (all.empty())
        return health;
    const auto usable = stretchesWhere(all, [](Use use) { return use == Use::Usable || use == Use::Doubtful; });
    const auto damaged = damagedStretches(all);
    const auto doubtful = stretchesWhere(all, [](Use use) { return use == Use::Doubtful; });
    health.proven = provenText(all, usable);
    health.restorable = restorableText(all, stretchesWhere(all, [](Use use) { return use == Use::Usable; }));
    if (!usable.empty())
        health.restore = all[usable.back().last].step->step;
    if (!damaged.empty()) {
        const bool newest = damaged.back().last + 1 == all.size(); // it matters most
        addDamage(health, run, all, newest ? damaged.back() : damaged.front(), damaged.size() - 1);
        if (!doubtful.empty())
            health.headline += fmt::format("; {} in doubt", areThose(all, doubtful));
    } else if (!doubtful.empty()) {
        addDoubt(health, run, all, doubtful);
    } else if (const ProblemView* loss = lossOf(run)) {
        addLoss(health, *loss);
    } else {
        const bool checked = !usable.empty() && soundnessOf(all[usable.front().first]);
        health.state = checked ? "sound" : "unchecked";
        health.headline = health.proven;
    }
    if (oldVerdicts)
        addOldVerdicts(health);
    return health;
}

HealthView withoutContact(HealthView health, const ProblemView& why, std::int64_t sinceUs)
{
    const std::string since = sinceUs > 0
        ? fmt::format("No contact since {:%H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(sinceUs / 1'000'000)))
        : std::string("No contact");
    if (health.state == "broken" || health.state == "doubtful")
        health.headline = fmt::format("{}. At the last look: {}", since, health.headline);
    else
        health.headline = fmt::format("{}, {} until then", since, health.state == "sound" ? "sound" : "nothing wrong");
    constexpr std::string_view Can = "Can be restored";
    if (health.restorable.starts_with(Can)) // nothing can while the source cannot be read
        health.restorable.replace(0, Can.size(), "Could be restored then");
    if (health.state == "sound" || health.state == "unchecked" || health.state == "empty") {
        health.state = "no_contact";
        health.remedy = why.remedy;
        health.problem = why;
    }
    return health;
}

std::string healthText(const HealthView& health)
{
    std::vector<std::string> sentences { health.headline };
    if (health.headline != health.proven)
        sentences.push_back(health.proven);
    for (const std::string& sentence : { health.restorable, health.remedy }) {
        if (!sentence.empty())
            sentences.push_back(sentence);
    }
    return fmt::format("{}", fmt::join(sentences, ". "));
}

} // namespace deltascope::app
