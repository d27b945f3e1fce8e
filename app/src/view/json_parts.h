#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/app/view/annotations_view.h"
#include "deltascope/app/view/run_view.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// What all documents have in common.

using nlohmann::ordered_json;

template <class T> ordered_json orNull(const std::optional<T>& value)
{
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json json(const ProblemView& problem);
ordered_json json(const std::vector<ProblemView>& problems);
ordered_json json(const RestoreView& restore);
ordered_json json(const RunView& run);
ordered_json json(const StepView& step);
ordered_json json(const DriftView& point);
ordered_json json(const NoteView& note);
ordered_json json(const RefView& ref);
ordered_json json(const ReplicaView& replica);
ordered_json json(const SpanView& span);
ordered_json json(const ActPlanView& plan);
ordered_json json(const std::vector<ChangedTensorView>& tensors);
ordered_json json(const RollBackView& view);
ordered_json json(const BranchView& view);
ordered_json json(const AnnotatedView& view);
ordered_json json(const std::optional<StoreMeterView>& meter);
/// RunView::listedUs.
inline ordered_json listedOrNull(std::int64_t us) { return us > 0 ? ordered_json(us) : ordered_json(nullptr); }

/// One line; invalid UTF-8 is replaced.
inline std::string dump(const ordered_json& json)
{
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// A string as dump() writes it; quick for names.
std::string dumpText(const std::string& text);

} // namespace deltascope::app
