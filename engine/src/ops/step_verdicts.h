#pragma once

#include "check_objects.h"
#include "deltascope/engine/operations.h"

#include <cstddef>
#include <vector>

namespace deltascope {

/// Whether an error says that bytes are not what they should be.
bool speaksOfDamage(Code code);

/// The versions of a range and all that they build on, by index in Run::versions.
std::vector<bool> withBases(const Run& run, std::size_t first, std::size_t last);

/// What a verification has found before it judges.
struct VerdictInputs {
    const Run& run; ///< assessed, behind the replay if there was one, with what was rewritten (noteRewritten())
    int level; ///< VerifyOptions::level
    bool onRecord; ///< there are records that objects were compared with
    const std::vector<ObjectFindings>& findings; ///< by index in Run::versions
    const ObjectFindings& ofBase; ///< of the checkpoint outside of the source
};
/// The verdicts on the versions that are meant, in their order; what they build on is meant, too. Roots are left out.
std::vector<StepVerdict> verdictsOf(const VerdictInputs& inputs, const std::vector<bool>& meant);

/// Calls steps damaged of which one form is, be it that another form stands in for it.
void addDamagedForms(const Run& run, std::vector<StepVerdict>& steps);

} // namespace deltascope
