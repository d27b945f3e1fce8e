#pragma once

#include "acts/act.h"

#include <cstdint>
#include <optional>
#include <string>

namespace deltascope {
class FileSystem;
}

namespace deltascope::app {

// What the plans of several acts consist of.

/// Takes what every plan of the engine says.
void takeActPlan(PlanView& plan, const ActPlanView& found);
/// The same of an act that only reads; `planned`: a PlannedReadView, which outlives what is returned.
const ActPlanView& takePlannedRead(PlanView& plan, const JobResult& planned);

/// " --accept-rewritten", or nothing.
const char* acceptOption(bool acceptRewritten);
/// "'/runs/wordle@0:12'": as a shell wants it.
std::string quotedStep(const SourceRequest& source, const StepView& step);

/// Errors: why the step cannot be rebuilt.
Result<void> expectRestorable(const StepView& step);

/// The folder below which no link is followed; empty where any folder will do, so that its user may use links.
std::string rootOf(const MonitorOptions& options);
/// Nothing: not known. Errors: Auth (a link is on the way).
Result<std::optional<std::uint64_t>> freeBytes(const FileSystem& disk, const std::string& path);
/// `name` below the output folder, whatever it says; where any folder will do, an absolute path is taken as it is.
/// Errors: Usage.
Result<std::string> destinationOf(const MonitorOptions& options, const std::string& name);
/// A place where a run is written, as the user of a server or of this machine may name it. Errors: Usage, Auth (a link
/// is on the way).
Result<std::string> placeOf(const MonitorOptions& options, const std::string& text);
/// A state that is read, with or without a step, under the same rules.
Result<std::string> stateAddressOf(const MonitorOptions& options, const std::string& text);

} // namespace deltascope::app
