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
    constexpr std::size_t MostNamed = 8;
    std::string known;
    for (std::size_t i = 0; i < std::min(annotations.refs.size(), MostNamed); ++i)
        known += (i > 0 ? ", " : "") + annotations.refs[i].word();
    if (annotations.refs.size() > MostNamed)
        known += ", …";
    return fail(Error { Code::NotFound,
                        fmt::format("{} is no step, latest, latest~N or anchor, and the run has no ref of that name{}",
                                    word, known.empty() ? "" : "; it has " + known),
                        run.store->uri(), std::nullopt, "log shows the steps, and refs the words that they have." });
}

const Ref* find(const Annotations& annotations, RefKind kind, const std::string& name)
{
    return annotations.find(kind == RefKind::Pin ? "pin/" + name : name);
}

/// Writes `text` into the journal of the run, and returns it for the user.
Result<AnnotatedView> journaled(Beside& beside, const Run& run, std::string act, std::string text, bool isLocal,
                                TaskContext& task)
{
    JournalEntry entry;
    entry.act = std::move(act);
    entry.phase = "done";
    entry.text = text;
    DS_CHECK(beside.append(std::move(entry), task));
    return AnnotatedView { run.store->uri(), std::move(text), isLocal };
}

std::string becauseOf(const std::string& why) { return why.empty() ? std::string() : fmt::format(" ({})", why); }

Result<AnnotatedView> moveRef(Beside& beside, const Run& run, const AnnotateRequest& request, const Version* version,
                              TaskContext& task, const Workbench& bench)
{
    const RefKind kind = request.kind == AnnotateRequest::Kind::Pin ? RefKind::Pin : RefKind::Ref;
    const std::string name = request.name.empty() && version ? fmt::format("step-{}", version->step()) : request.name;
    DS_CHECK(checkRefName(name));
    DS_TRY(const Annotations annotations, annotationsOf(bench, run, task));
    const Ref* const known = find(annotations, kind, name);
    if (request.remove && !known)
        return unknownWord(run, annotations, kind == RefKind::Pin ? "pin/" + name : name);
    const std::optional<RefTarget> target = version ? std::optional(targetOf(*version)) : std::nullopt;
    const std::string was = known && known->target ? fmt::format(", was step {}", known->target->step) : "";
    DS_TRY(const Ref moved, beside.moveRef(kind, name, known, target, request.text, task));
    std::string text = version
        ? fmt::format("{}: step {}{}{}", moved.word(), version->step(), was, becauseOf(moved.why))
        : fmt::format("{}: removed{}{}", moved.word(), was, becauseOf(moved.why));
    return journaled(beside, run, kind == RefKind::Pin ? "pin" : "ref", std::move(text), moved.isLocal, task);
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

Result<AnnotatedView> annotate(Workbench& bench, const AnnotateRequest& request, TaskContext& task)
{
    DS_TRY(const Run run, openRequested(bench, request.version.source, task));
    const Version* version = nullptr;
    if (!request.remove) {
        DS_TRY(version, findVersion(bench, run, request.version.version, task));
    }
    DS_TRY(std::shared_ptr<ObjectStore> store, bench.stores->open(request.version.source.source));
    Beside beside(std::move(store), { actorOf(request.by), bench.shadowFolder, bench.nowUs });
    if (request.kind != AnnotateRequest::Kind::Note)
        return moveRef(beside, run, request, version, task, bench);
    DS_TRY(const Note note, beside.addNote(targetOf(*version), request.text, task));
    return journaled(beside, run, "note", fmt::format("step {}: {}", note.target.step, note.text), note.isLocal, task);
}

} // namespace deltascope::app
