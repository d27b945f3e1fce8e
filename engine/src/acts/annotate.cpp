#include "deltascope/engine/annotate.h"

#include "acts/act_parts.h"
#include "deltascope/engine/refs.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

struct AnnotationScene {
    Run run;
    const Version* version = nullptr; ///< null: a word is taken back
    Annotations known;
    std::string name; ///< of the ref or pin
    const Ref* ref = nullptr; ///< in `known`; null: the name stands nowhere
    RefMoves moves; ///< of that name
    std::optional<std::int64_t> doneUs; ///< when what is to be done was done; nothing: it was not
    bool isDoneHere = false; ///< on this machine only
};

bool isNote(const Annotation& annotation) { return annotation.kind == Annotation::Kind::Note; }

RefKind refKindOf(const Annotation& annotation)
{
    return annotation.kind == Annotation::Kind::Pin ? RefKind::Pin : RefKind::Ref;
}

std::string wordOf(const Annotation& annotation, const std::string& name)
{
    return annotation.kind == Annotation::Kind::Pin ? "pin/" + name : name;
}

Result<void> takeNote(AnnotationScene& scene, const Annotation& annotation)
{
    DS_CHECK(checkNoteText(annotation.text));
    const RefTarget target = targetOf(*scene.version);
    for (const Note& note : scene.known.notes) {
        if (note.target != target || note.text != annotation.text || (scene.doneUs && note.isLocal))
            continue;
        scene.doneUs = note.tUs;
        scene.isDoneHere = note.isLocal;
    }
    return {};
}

Result<void> takeWord(AnnotationScene& scene, const Annotation& annotation)
{
    scene.name = annotation.name.empty() && scene.version && annotation.kind == Annotation::Kind::Pin
        ? fmt::format("step-{}", scene.version->step())
        : annotation.name;
    DS_CHECK(checkRefName(scene.name));
    scene.ref = scene.known.find(wordOf(annotation, scene.name));
    scene.moves = scene.known.movesOf(refKindOf(annotation), scene.name);
    if (annotation.remove && !scene.ref)
        return fail(
            Error { Code::NotFound,
                    fmt::format("the run has no ref {}{}", wordOf(annotation, scene.name), knownWordsText(scene.known)),
                    scene.run.store->uri(), std::nullopt, "deltascope refs shows the words that it has" });
    if (scene.version && scene.ref && scene.ref->target == targetOf(*scene.version)
        && scene.ref->why == annotation.text) {
        scene.doneUs = scene.ref->tUs;
        scene.isDoneHere = scene.ref->isLocal;
    }
    return {};
}

Result<AnnotationScene> openAnnotationScene(Workbench& bench, const std::shared_ptr<ObjectStore>& source,
                                            const OpenOptions& options, const ChooseVersion& choose,
                                            const Annotation& annotation, TaskContext& task)
{
    AnnotationScene scene;
    DS_TRY(scene.run, openRun(bench, source, options, task));
    if (!annotation.remove) {
        DS_TRY(scene.version, choose(scene.run));
    }
    DS_TRY(scene.known, readAnnotations(*source, scene.run.beside, bench.shadowFolder, task));
    DS_CHECK(isNote(annotation) ? takeNote(scene, annotation) : takeWord(scene, annotation));
    return scene;
}

/// What the journal says of it.
std::string annotationText(const AnnotationScene& scene, const Annotation& annotation)
{
    if (isNote(annotation))
        return fmt::format("step {}: {}", scene.version->step(), annotation.text);
    const std::string what = scene.version ? fmt::format("step {}", scene.version->step()) : "removed";
    const std::string was =
        scene.ref && scene.ref->target && !scene.doneUs ? fmt::format(", was step {}", scene.ref->target->step) : "";
    return fmt::format("{}: {}{}{}", wordOf(annotation, scene.name), what, was,
                       annotation.text.empty() ? "" : fmt::format(" ({})", annotation.text));
}

ActPlan annotationFacts(const AnnotationScene& scene, const Annotation& annotation)
{
    ActPlan plan;
    plan.kind = isNote(annotation) ? "note" : annotation.kind == Annotation::Kind::Pin ? "pin" : "ref";
    plan.arguments = { { "text", annotation.text } };
    if (scene.version) {
        const RefTarget target = targetOf(*scene.version);
        plan.arguments.emplace_back("epoch", std::to_string(target.epoch));
        plan.arguments.emplace_back("step", std::to_string(target.step));
        plan.arguments.emplace_back("objects", target.objects);
    }
    if (!isNote(annotation)) {
        plan.arguments.emplace_back("name", scene.name);
        plan.arguments.emplace_back("moves", std::to_string(scene.moves.inSource));
        plan.arguments.emplace_back("moves here", std::to_string(scene.moves.here));
        const std::string before =
            scene.ref && scene.ref->target ? fmt::format("step {}", scene.ref->target->step) : "no step";
        plan.effects = { { wordOf(annotation, scene.name),
                           fmt::format("{} to {}", before,
                                       scene.version ? fmt::format("step {}", scene.version->step()) : "no step") } };
    }
    if (!scene.doneUs)
        plan.beside = { { "journal", "1" }, { plan.kind + "s", "1" } };
    return plan;
}

/// Whether the journal tells what was done at that time: the process that did it may have ended before it told.
Result<bool> isTold(Workbench& bench, const ObjectStore& source, const std::string& kind, const std::string& text,
                    std::int64_t doneUs, TaskContext& task)
{
    const std::string_view subject = std::string_view(text).substr(0, text.find(':') + 1);
    DS_TRY(const std::vector<JournalEntry> journal, readJournal(source, bench.shadowFolder, task));
    return std::any_of(journal.begin(), journal.end(), [&](const JournalEntry& entry) {
        return entry.act == kind && entry.tUs >= doneUs && entry.text.starts_with(subject);
    });
}

/// Who does not see what was done does not read of it either.
Result<void> tellDone(ActStory& story, const Annotated& done, TaskContext& task)
{
    return done.isLocal ? story.tellHere("done", task) : story.tell("done", {}, task);
}

} // namespace

Result<AnnotationPlan> planAnnotation(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                                      const ChooseVersion& version, const Annotation& annotation, TaskContext& task)
{
    DS_TRY(const AnnotationScene scene, openAnnotationScene(bench, source, options, version, annotation, task));
    return AnnotationPlan { annotationFacts(scene, annotation), annotationText(scene, annotation),
                            scene.doneUs.has_value() };
}

Result<Annotated> annotate(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                           const ChooseVersion& version, const Annotation& annotation, const ActOptions& how,
                           TaskContext& task)
{
    DS_TRY(const AnnotationScene scene, openAnnotationScene(bench, source, options, version, annotation, task));
    const ActPlan plan = annotationFacts(scene, annotation);
    DS_CHECK(expectPlanned(plan, how.planHash, source->uri(),
                           scene.version ? std::optional(scene.version->step()) : std::nullopt));
    Annotated done { annotationText(scene, annotation), scene.isDoneHere, scene.doneUs.has_value() };
    ActStory story(bench, source, how.by, plan, done.text);
    if (scene.doneUs) {
        DS_TRY(const bool told, isTold(bench, *source, plan.kind, done.text, *scene.doneUs, task));
        if (!told)
            DS_CHECK(tellDone(story, done, task));
        return done;
    }
    Beside beside(source, { how.by, bench.shadowFolder, bench.nowUs });
    if (isNote(annotation)) {
        DS_TRY(const Note note, beside.addNote(targetOf(*scene.version), annotation.text, task));
        done.isLocal = note.isLocal;
    } else {
        const std::optional<RefTarget> target = scene.version ? std::optional(targetOf(*scene.version)) : std::nullopt;
        DS_TRY(const Ref moved,
               beside.moveRef(refKindOf(annotation), scene.name, scene.moves, target, annotation.text, task));
        done.isLocal = moved.isLocal;
    }
    DS_CHECK(tellDone(story, done, task));
    return done;
}

} // namespace deltascope
