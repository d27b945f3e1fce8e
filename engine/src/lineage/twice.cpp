#include "lineage/twice.h"

#include <algorithm>

namespace deltascope {

bool existsTwice(const VersionObjects& version)
{
    return std::any_of(version.notes.begin(), version.notes.end(),
                       [](const Error& note) { return note.code == Code::Fork; })
        && std::any_of(version.otherForms.begin(), version.otherForms.end(),
                       [](const VersionObjects& form) { return form.mirror.empty(); });
}

} // namespace deltascope
