#include "lineage/twice.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

bool existsTwice(const VersionObjects& version)
{
    return std::any_of(version.notes.begin(), version.notes.end(),
                       [](const Error& note) { return note.code == Code::Fork; })
        && std::any_of(version.otherForms.begin(), version.otherForms.end(),
                       [](const VersionObjects& form) { return form.mirror.empty(); });
}

bool differsInBits(const OtherForm& form, const FormFacts& facts)
{
    return facts.differs.value_or(0) > (form.isComplete() ? facts.zeroSigns : 0);
}

bool isCandidate(const Version& version, std::size_t form)
{
    return existsTwice(version.objects) && version.objectsOf(form).mirror.empty();
}

void refuseUndecided(Version& version, std::size_t self)
{
    for (std::size_t number = 1; number < version.forms() && !version.obstacle && !version.ownFormObstacle; ++number) {
        const OtherForm& form = version.otherForms[number - 1];
        const FormFacts* facts = version.factsOf(number);
        if (form.obstacle || !facts || !isCandidate(version, number) || !differsInBits(form, *facts))
            continue;
        version.obstacleAt = self;
        version.obstacle =
            Error { Code::FormsDiffer,
                    fmt::format("step {} exists twice: {} and {} lead to different bits in {} of its elements, and "
                                "nothing tells which of them is of this run",
                                version.step(), version.objects.name, version.objectsOf(number).name, *facts->differs),
                    version.objectsOf(number).name, version.step(),
                    "Move the one that is of another run out of the source." };
    }
}

} // namespace deltascope
