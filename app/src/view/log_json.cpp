#include "deltascope/app/view/json.h"

#include "json_parts.h"
#include "run_description.h"

namespace deltascope::app {

namespace {

ordered_json json(const StepChangeView& change)
{
    return { { "epoch", change.epoch },
             { "step", change.step },
             { "changed_elems", orNull(change.elements) },
             { "changed_bytes", orNull(change.bytes) },
             { "changed_tensors", orNull(change.tensors) },
             { "unlike_tensors", change.unlike },
             { "not_compared", change.why.empty() ? ordered_json(nullptr) : ordered_json(change.why) } };
}

ordered_json json(const RunPlaceView& run)
{
    return { { "place", run.place }, { "is_folder", run.isFolder }, { "steps", run.steps },
             { "first", run.first }, { "latest", run.latest },      { "shown", run.shown } };
}

ordered_json json(const ComparisonView& comparison)
{
    return { { "compared", comparison.compared },
             { "known", comparison.known },
             { "pairs", comparison.pairs },
             { "read_bytes", comparison.readBytes },
             { "most_bytes", orNull(comparison.mostBytes) } };
}

}

std::string toJson(const LogView& view)
{
    ordered_json out = written(view.run);
    if (!view.run.runs.empty()) {
        ordered_json runs = ordered_json::array();
        for (const RunPlaceView& run : view.run.runs)
            runs.push_back(json(run));
        out["runs"] = std::move(runs);
    }
    if (!view.globs.empty())
        out["selection"] = { { "tensor_globs", view.globs },
                             { "tensors", view.tensors },
                             { "tensors_in_all", view.tensorsInAll },
                             { "elements", view.elements } };
    if (view.comparison)
        out["comparison"] = json(*view.comparison);
    if (!view.changes.empty()) {
        ordered_json changes = ordered_json::array();
        for (const StepChangeView& change : view.changes)
            changes.push_back(json(change));
        out["changes"] = std::move(changes);
    }
    return dump(out);
}

} // namespace deltascope::app
