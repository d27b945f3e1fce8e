#include "annotation_jobs.h"

#include "address.h"
#include "deltascope/engine/refs.h"
#include "opening.h"
#include "view/make_views.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

namespace deltascope::app {

namespace {

/// Whether `selector` is a word that only what stands beside the run explains.
bool isWord(const std::string& selector)
{
    if (selector.starts_with("pin/"))
        return true;
    return !selector.starts_with("latest") && selector != "anchor" && checkRefName(selector);
}

tl::unexpected<Error> unknownWord(const Run& run, const Annotations& annotations, const std::string& word)
{
    return fail(Error { Code::NotFound,
                        fmt::format("{} is no step, latest, latest~N or anchor, and the run has no ref of that name{}",
                                    word, knownWordsText(annotations)),
                        run.store->uri(), std::nullopt, "log shows the steps, and refs the words that they have." });
}

} // namespace

std::string thisUser()
{
    constexpr std::size_t MostNameBytes = 256;
    char host[MostNameBytes] = {};
    ::gethostname(host, sizeof host - 1);
    std::array<char, 4096> buffer {};
    passwd entry {};
    passwd* found = nullptr;
    ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found);
    return fmt::format("{}@{}", found ? found->pw_name : std::to_string(::getuid()), host);
}

std::string actorOf(const std::string& principal)
{
    return principal.empty() ? thisUser() : fmt::format("{} ({})", principal, thisUser());
}

Result<Annotations> annotationsOf(const Workbench& bench, const Run& run, TaskContext& task)
{
    return readAnnotations(*run.store, run.beside, bench.shadowFolder, task);
}

Result<const Version*> findVersion(const Workbench& bench, const Run& run, const std::string& selector,
                                   TaskContext& task)
{
    if (!isWord(selector))
        return resolveVersion(run, selector);
    DS_TRY(const Annotations annotations, annotationsOf(bench, run, task));
    const Ref* const ref = annotations.find(selector);
    if (const Version* const version = ref ? nullptr : run.findId(selector))
        return version;
    if (!ref)
        return unknownWord(run, annotations, selector);
    if (!ref->target)
        return fail(*ref->failure);
    return versionOf(run, *ref->target, ref->word());
}

Result<std::optional<std::pair<std::size_t, std::size_t>>> findRange(const Workbench& bench, const Run& run,
                                                                     const std::string& range, TaskContext& task)
{
    if (!isWord(range))
        return resolveRange(run, range);
    DS_TRY(const Version* version, findVersion(bench, run, range, task));
    const auto at = static_cast<std::size_t>(version - run.versions.data());
    return std::optional(std::pair(at, at));
}

Result<AnnotationsView> listAnnotations(Workbench& bench, const SourceRequest& request, TaskContext& task)
{
    DS_TRY(const Run run, openRequested(bench, request, task));
    DS_TRY(const Annotations annotations, annotationsOf(bench, run, task));
    DS_TRY(const std::vector<JournalEntry> journal, readJournal(*run.store, bench.shadowFolder, task));
    return makeAnnotationsView(run, annotations, journal);
}

} // namespace deltascope::app
