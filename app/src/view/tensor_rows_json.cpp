#include "deltascope/app/view/json.h"

#include "diff_description.h"
#include "digest_check_description.h"
#include "digest_description.h"
#include "io/text_writer.h"
#include "run_description.h"

namespace deltascope::app {

void writeJson(const StepDetailView& view, const TextSink& sink) { writeText(view, sink); }

void writeJson(const DigestView& view, const TextSink& sink) { writeText(view, sink); }

void writeJson(const DiffView& view, const TextSink& sink) { writeText(view, sink); }

std::string toJson(const StepDetailView& view) { return writtenText(view); }

std::string toJson(const DigestView& view) { return writtenText(view); }

std::string toJson(const DigestCheckView& view) { return writtenText(view); }

std::string toJson(const DiffView& view) { return writtenText(view); }

} // namespace deltascope::app
