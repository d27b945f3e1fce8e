#pragma once

#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/beside.h"
#include "deltascope/engine/roll_back.h"

#include <memory>
#include <string>

namespace deltascope {

/// A word or a note that a person gives a version, or a word that is taken back.
struct Annotation {
    enum class Kind : std::uint8_t { Ref, Pin, Note };
    Kind kind = Kind::Ref;
    std::string name; ///< of a ref or pin; empty, for a pin that is given: "step-12"
    std::string text; ///< of a note; of a ref or pin: why
    bool remove = false; ///< of a ref or pin
};

struct AnnotationPlan {
    ActPlan act;
    std::string text; ///< what is done, as the journal says it: "good: step 12, was step 9"
    bool isDone = false; ///< the version has the word or the note already, for the same reason
};

/// Writes nothing. `version`: of what is annotated; is not called where a word is taken back. Errors: Usage (a name or
/// a text that cannot be), NotFound (the word that is taken back is none), those of `version` and of the store.
Result<AnnotationPlan> planAnnotation(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                                      const ChooseVersion& version, const Annotation& annotation, TaskContext& task);

struct Annotated {
    std::string text; ///< as in AnnotationPlan
    bool isLocal = false; ///< kept on this machine, because the source cannot be written
    bool wasThere = false;
};

/// Carries a plan out, and writes what was done into the journal beside the run. After a kill the same call goes on.
/// Errors: Exists (the plan does not fit any more: somebody moved the word), those of planAnnotation and Beside.
Result<Annotated> annotate(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                           const ChooseVersion& version, const Annotation& annotation, const ActOptions& how,
                           TaskContext& task);

} // namespace deltascope
