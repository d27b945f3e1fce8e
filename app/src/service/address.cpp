#include "address.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <regex>

namespace deltascope::app {

namespace {

constexpr std::string_view PinStart = "pin/";

const std::regex& selectorPattern()
{
    static const std::regex pattern(R"((\d+:)?\d+(\.\.(\d+:)?\d+)?|latest(~\d+)?|anchor)");
    return pattern;
}

bool exists(const Address& address)
{
    std::error_code ignored;
    return address.path() && std::filesystem::exists(*address.path(), ignored);
}

tl::unexpected<Error> notFound(const Run& run, std::int64_t step, std::optional<int> epoch)
{
    std::string near;
    std::int64_t best = -1;
    for (const Version& version : run.versions) {
        if (epoch && version.epoch != *epoch)
            continue;
        if (best < 0 || std::abs(version.step() - step) < std::abs(best - step))
            best = version.step();
    }
    if (best >= 0)
        near = fmt::format("; the nearest is step {}", best);
    Error error { Code::NotFound,
                  fmt::format("there is no step {}{}{}", step, epoch ? fmt::format(" in epoch {}", *epoch) : "", near),
                  run.store->uri(),
                  step,
                  {} };
    return fail(std::move(error));
}

struct StepName {
    std::optional<int> epoch;
    std::int64_t step = 0;
};

Result<StepName> parseStep(const std::string& text)
{
    StepName name;
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos) {
        const std::optional<std::int64_t> epoch = parseNumber(text.substr(0, colon));
        if (!epoch || *epoch > 1'000'000)
            return fail(Code::Usage, "not an epoch: " + text);
        name.epoch = static_cast<int>(*epoch);
    }
    const std::optional<std::int64_t> step = parseNumber(colon == std::string::npos ? text : text.substr(colon + 1));
    if (!step)
        return fail(Code::Usage,
                    fmt::format("{} is not a version: a step, EPOCH:STEP, latest, latest~N, anchor or a ref", text));
    name.step = *step;
    return name;
}

Result<const Version*> findStep(const Run& run, const StepName& name)
{
    if (const Version* version = run.find(name.step, name.epoch))
        return version;
    for (const GoneVersion& gone : run.gone) {
        if (gone.step == name.step && !gone.ofEarlierRun && name.epoch.value_or(gone.epoch) == gone.epoch)
            return fail(Code::Vanished, fmt::format("step {} was here and is gone", name.step), gone.name);
    }
    for (const Error& problem : run.problems) {
        if (problem.code == Code::Unfinished && problem.step == name.step && !name.epoch)
            return fail(problem);
    }
    for (const Gap& gap : run.gaps) {
        if (name.step >= gap.first && name.step <= gap.last && (!name.epoch || *name.epoch == gap.epoch)) {
            Error error { Code::ChainGap, fmt::format("step {} has no object: an empty step or a lost file", name.step),
                          run.store->uri(), name.step, "choose a step that log shows" };
            return fail(std::move(error));
        }
    }
    return notFound(run, name.step, name.epoch);
}

std::size_t indexOf(const Run& run, const Version& version)
{
    return static_cast<std::size_t>(&version - run.versions.data());
}

}

VersionRequest VersionRequest::parse(const std::string& address)
{
    VersionRequest request;
    const std::size_t at = address.rfind('@');
    const bool isLast = at != std::string::npos
        && (address.find('/', at) == std::string::npos || address.compare(at + 1, PinStart.size(), PinStart) == 0);
    if (isLast && Address(address).remote()) {
        request.source.source = address.substr(0, at); // an @ in a key is written %40
        request.version = address.substr(at + 1);
        return request;
    }
    if (at != std::string::npos && at > 0) {
        const std::string left = address.substr(0, at);
        const std::string right = address.substr(at + 1);
        const bool selects = std::regex_match(right, selectorPattern());
        // What follows the @ is taken as a version unless the whole text is the path of something that exists.
        if (selects ? exists(left) || !exists(address) : !exists(address) && exists(left)) {
            request.source.source = left;
            request.version = right;
            return request;
        }
    }
    request.source.source = address;
    return request;
}

SourceRequest SourceRequest::below(const std::string& folder) const
{
    SourceRequest request = *this;
    if (folder.empty())
        return request;
    request.source = source.below(folder);
    std::transform(mirrors.begin(), mirrors.end(), request.mirrors.begin(),
                   [&](const Address& mirror) { return mirror.below(folder); });
    return request;
}

Result<const Version*> resolveVersion(const Run& run, const std::string& selector)
{
    if (run.versions.empty())
        return fail(Code::NotFound, "the source holds no version", run.store->uri());
    if (selector.empty() || selector == "latest")
        return run.latest();
    if (selector == "anchor" || selector.starts_with("latest~")) {
        std::int64_t back = 0;
        if (selector != "anchor") {
            const std::optional<std::int64_t> number = parseNumber(std::string_view(selector).substr(7));
            if (!number)
                return fail(Code::Usage, "not a number of versions: " + selector);
            back = *number;
        }
        for (auto at = run.versions.rbegin(); at != run.versions.rend() && at->epoch == run.epochs() - 1; ++at) {
            if (at->obstacle || (selector == "anchor" && at->kind != VersionKind::Anchor))
                continue;
            if (back-- == 0)
                return &*at;
        }
        return fail(Code::NotFound, fmt::format("no restorable version is {}", selector), run.store->uri());
    }
    DS_TRY(const StepName name, parseStep(selector));
    Result<const Version*> found = findStep(run, name);
    const Version* const byId = found ? nullptr : run.findId(selector); // an id may have digits alone
    return byId ? byId : found;
}

std::string choiceText(const Run& run, const Version& chosen, const std::string& selector)
{
    const Version* higher = run.newerThanLatest();
    if (const GoneVersion* gone = run.newestGone(); gone && (selector.empty() || selector == "latest"))
        return fmt::format("latest is step {} of epoch {}; step {} was here and is gone", chosen.step(), chosen.epoch,
                           gone->step);
    if (!higher || higher->step() <= chosen.step()
        || (!selector.empty() && !selector.starts_with("latest") && selector != "anchor"))
        return {};
    const std::string means =
        fmt::format("{} is step {} of epoch {}", selector.empty() ? "latest" : selector, chosen.step(), chosen.epoch);
    if (higher->epoch != chosen.epoch)
        return fmt::format("{}; step {} belongs to an earlier run (SOURCE@{}:{})", means, higher->step(), higher->epoch,
                           higher->step());
    return fmt::format("{}; step {} {}", means, higher->step(),
                       higher->obstacle ? "cannot be rebuilt" : "has a higher number");
}

Result<std::optional<std::pair<std::size_t, std::size_t>>> resolveRange(const Run& run, const std::string& range)
{
    using Range = std::optional<std::pair<std::size_t, std::size_t>>;
    if (range.empty())
        return Range();
    const std::size_t dots = range.find("..");
    if (dots == std::string::npos) {
        DS_TRY(const Version* version, resolveVersion(run, range));
        return Range(std::pair(indexOf(run, *version), indexOf(run, *version)));
    }
    DS_TRY(StepName first, parseStep(range.substr(0, dots)));
    DS_TRY(StepName last, parseStep(range.substr(dots + 2)));
    const bool named = first.epoch || last.epoch;
    const int newest = first.epoch.value_or(last.epoch.value_or(run.epochs() - 1));
    if (last.epoch.value_or(newest) != newest || last.step < first.step)
        return fail(Code::Usage, fmt::format("{} is not a range of steps of one epoch", range));
    Range found;
    for (int epoch = newest; !found && epoch >= (named ? newest : 0);
         --epoch) { // as for one step: the newest that has any
        for (std::size_t i = 0; i < run.versions.size(); ++i) {
            const Version& version = run.versions[i];
            if (version.epoch == epoch && version.step() >= first.step && version.step() <= last.step)
                found = std::pair(found ? found->first : i, i);
        }
    }
    if (!found)
        return notFound(run, first.step, named ? std::optional(newest) : std::nullopt);
    const Version& end = run.versions[found->second]; // what was asked for beyond it would be passed over in silence
    const bool inGap = std::any_of(run.gaps.begin(), run.gaps.end(), [&](const Gap& gap) {
        return gap.epoch == end.epoch && gap.first <= last.step && last.step <= gap.last;
    });
    if (end.step() < last.step && !inGap)
        return notFound(run, last.step, end.epoch);
    return found;
}

} // namespace deltascope::app
