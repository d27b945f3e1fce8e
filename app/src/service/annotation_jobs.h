#pragma once

#include "deltascope/app/service.h"
#include "deltascope/engine/beside.h"
#include "deltascope/engine/operations.h"

#include <optional>
#include <string>
#include <utility>

namespace deltascope::app {

/// "kim@host": who acts on this machine.
std::string thisUser();
/// Who acts, for the journal: "kim@host", and with a principal of a server or a window in front of it "ops (kim@host)".
std::string actorOf(const std::string& principal);

Result<Annotations> annotationsOf(const Workbench& bench, const Run& run, TaskContext& task);

/// resolveVersion(), also of a word that people gave. Errors: also those of versionOf() and of reading what stands
/// beside the run.
Result<const Version*> findVersion(const Workbench& bench, const Run& run, const std::string& selector,
                                   TaskContext& task);

/// resolveRange(), also of one word. Errors: as findVersion().
Result<std::optional<std::pair<std::size_t, std::size_t>>> findRange(const Workbench& bench, const Run& run,
                                                                     const std::string& range, TaskContext& task);

Result<AnnotationsView> listAnnotations(Workbench& bench, const SourceRequest& request, TaskContext& task);

} // namespace deltascope::app
