#include "held_views.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace deltascope::bundle {

namespace {

using HeldObjects = std::map<std::string_view, std::pair<const app::StepView*, const app::ObjectView*>>; ///< by key

/// Those of mirrors, whose keys begin with an address, are in no listing of the source.
HeldObjects objectsOf(const app::RunView& run)
{
    HeldObjects objects;
    for (const app::EpochView& epoch : run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            for (const app::ObjectView& object : step.objects) {
                if (object.key.find("://") == std::string::npos)
                    objects.emplace(object.key, std::pair(&step, &object));
            }
        }
    }
    return objects;
}

/// A step lists the objects of the form that is its own, not those of others.
std::set<std::int64_t> stepsOfManyForms(const app::RunView& run)
{
    std::set<std::int64_t> steps;
    for (const app::EpochView& epoch : run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            if (!step.forms.empty())
                steps.insert(step.step);
        }
    }
    return steps;
}

const app::StepView* heldStep(const app::StepView& now, const app::RunView& run)
{
    for (const app::EpochView& epoch : run.epochs) {
        for (const app::StepView& step : epoch.steps) {
            if (epoch.epoch == now.epoch && step.step == now.step && step.objects == now.objects)
                return &step;
        }
    }
    return nullptr;
}

}

HeldListing heldListing(app::ListingView now, const app::RunView& run)
{
    HeldObjects objects = objectsOf(run);
    const std::set<std::int64_t> manyForms = stepsOfManyForms(run);
    const auto isLater = [&](const app::ListingEntryView& entry) {
        return entry.step && !objects.contains(entry.object.key) && !manyForms.contains(*entry.step);
    };
    HeldListing held { std::move(now) };
    std::vector<app::ListingEntryView>& entries = held.view.objects;
    held.hasMoved = std::erase_if(entries, isLater) > 0;
    for (app::ListingEntryView& entry : entries) {
        const auto found = objects.find(entry.object.key);
        if (found == objects.end())
            continue;
        const auto [step, object] = found->second;
        held.hasMoved = held.hasMoved || entry.object != *object || !entry.step;
        entry.object = *object;
        if (!entry.step) {
            entry.step = step->step;
            entry.kind = step->kind;
        }
        objects.erase(found);
    }
    for (const auto& [key, gone] : objects)
        entries.push_back({ *gone.second, gone.first->step, gone.first->kind, {} });
    held.hasMoved = held.hasMoved || !objects.empty();
    if (!held.hasMoved)
        return held;
    std::ranges::sort(entries, {},
                      [](const app::ListingEntryView& entry) { return std::string_view(entry.object.key); });
    for (app::ListingEntryView& entry : entries)
        entry.neededBy.reset();
    return held;
}

Result<app::StepDetailView> heldDetail(app::StepDetailView now, const app::RunView& run)
{
    const app::StepView* const held = heldStep(now.step, run);
    if (!held)
        return fail(Code::Rewritten, "the version has other objects than when the run was looked at", now.step.name);
    now.step.refs = held->refs;
    now.step.restorable = held->restorable;
    now.step.restore = held->restore;
    return now;
}

app::AnnotationsView heldAnnotations(app::AnnotationsView now, const app::RunView& run)
{
    now.refs = run.refs;
    std::erase_if(now.notes, [&](const app::AnnotationView& note) {
        return std::ranges::find(run.notes, app::NoteView { note.by, note.step, note.tUs, note.text })
            == run.notes.end();
    });
    return now;
}

} // namespace deltascope::bundle
