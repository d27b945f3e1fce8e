#include "deltascope/app/view/json.h"

#include "json_parts.h"

#include "deltascope/app/view/act_words.h"

namespace deltascope::app {

namespace {

ordered_json json(const std::vector<PlannedObjectView>& objects)
{
    ordered_json list = ordered_json::array();
    for (const PlannedObjectView& object : objects)
        list.push_back({ { "store", object.store.empty() ? ordered_json(nullptr) : ordered_json(object.store) },
                         { "key", object.key },
                         { "bytes", object.bytes } });
    return list;
}

ordered_json json(const std::vector<std::pair<std::string, std::string>>& facts)
{
    ordered_json object = ordered_json::object();
    for (const auto& [fact, value] : facts)
        object[fact] = value;
    return object;
}

}

ordered_json json(const ActPlanView& plan)
{
    return { { "kind", plan.kind },
             { "hash", plan.hash },
             { "reads", json(plan.reads) },
             { "read_bytes", plan.readBytes },
             { "writes", json(plan.writes) },
             { "deletes", json(plan.deletes) },
             { "beside", json(plan.beside) },
             { "beside_text", besideWords(plan) },
             { "effects", json(plan.effects) },
             { "warnings", json(plan.warnings) },
             { "unknown", plan.unknown },
             { "undo", plan.undo.empty() ? ordered_json(nullptr) : ordered_json(plan.undo) } };
}

ordered_json json(const std::vector<ChangedTensorView>& tensors)
{
    ordered_json list = ordered_json::array();
    for (const ChangedTensorView& tensor : tensors)
        list.push_back({ { "name", tensor.name }, { "elems", tensor.elements }, { "changed_elems", tensor.changed } });
    return list;
}

ordered_json json(const RollBackView& view)
{
    ordered_json out { { "source", view.source }, { "from", view.from }, { "to", view.to }, { "step", view.step } };
    out["done"] = view.isDone;
    out["was_there"] = view.wasThere;
    if (view.isDone) {
        out["changed_elems"] = view.changedElements;
        out["keys"] = view.keys;
    } else {
        out["evidence"] = view.evidence;
        out["changed_elems"] = view.changedElements;
        out["total_elems"] = view.totalElements;
        out["changed_tensors"] = view.changedTensors;
        out["tensors"] = json(view.tensors);
        out["plan"] = json(view.plan);
    }
    return out;
}

std::string toJson(const RollBackView& view) { return dump(json(view)); }

ordered_json json(const BranchView& view)
{
    ordered_json out { { "source", view.source }, { "into", view.into }, { "from", view.from }, { "step", view.step } };
    out["done"] = view.isDone;
    out["was_there"] = view.wasThere;
    if (view.isDone) {
        out["keys"] = view.keys;
    } else {
        out["evidence"] = view.evidence;
        out["state_bytes"] = view.stateBytes;
        out["plan"] = json(view.plan);
    }
    return out;
}

std::string toJson(const BranchView& view) { return dump(json(view)); }

} // namespace deltascope::app
