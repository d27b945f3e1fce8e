#include "deltascope/engine/refs.h"
#include "view/make_views.h"

#include <algorithm>

namespace deltascope::app {

namespace {

RefView makeRefView(const Run& run, const Ref& ref)
{
    RefView view;
    view.word = ref.word();
    view.isPin = ref.kind == RefKind::Pin;
    view.by = ref.by;
    view.why = ref.why;
    view.tUs = ref.tUs;
    view.isLocal = ref.isLocal;
    if (!ref.target) {
        if (ref.failure)
            view.problem = problemView(*ref.failure);
        return view;
    }
    view.step = ref.target->step;
    view.epoch = ref.target->epoch;
    const Result<const Version*> version = versionOf(run, *ref.target, ref.word());
    if (version) {
        view.isHere = true;
        view.epoch = (*version)->epoch;
    } else {
        view.problem = problemView(version.error());
    }
    return view;
}

} // namespace

std::vector<RefView> makeRefViews(const Run& run, const Annotations& annotations)
{
    std::vector<RefView> views;
    std::transform(annotations.refs.begin(), annotations.refs.end(), std::back_inserter(views),
                   [&](const Ref& ref) { return makeRefView(run, ref); });
    return views;
}

std::vector<std::string> wordsOf(const Run& run, const Version& version, const Annotations& annotations)
{
    std::vector<std::string> words;
    for (const Ref& ref : annotations.refs) {
        if (ref.target && versionOf(run, *ref.target, ref.word()) == &version)
            words.push_back(ref.word());
    }
    return words;
}

AnnotationsView makeAnnotationsView(const Run& run, const Annotations& annotations,
                                    const std::vector<JournalEntry>& journal)
{
    AnnotationsView view;
    view.source = run.store->uri();
    view.refs = makeRefViews(run, annotations);
    for (const Note& note : annotations.notes)
        view.notes.push_back({ note.number, note.target.step, note.text, note.by, note.tUs, note.isLocal });
    for (const JournalEntry& entry : journal)
        view.journal.push_back({ entry.number, entry.act, entry.phase, entry.by, entry.plan, entry.text, entry.keys,
                                 entry.tUs, entry.isLocal });
    for (const Error& problem : annotations.problems)
        view.problems.push_back(problemView(problem));
    return view;
}

void addAnnotations(RunView& view, const Run& run, const Annotations& annotations)
{
    view.refs = makeRefViews(run, annotations);
    for (const RefView& ref : view.refs) {
        for (EpochView& epoch : view.epochs) {
            for (StepView& step : epoch.steps) {
                if (ref.isHere && step.epoch == ref.epoch && step.step == ref.step)
                    step.refs.push_back(ref.word);
            }
        }
    }
    for (const Note& note : annotations.notes)
        view.notes.push_back({ note.by, note.target.step, note.tUs, note.text });
}

} // namespace deltascope::app
