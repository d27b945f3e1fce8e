#include "lineage/reverted.h"

#include <fmt/format.h>

namespace deltascope {

void assessReverted(Run& run)
{
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        if (version.kind != VersionKind::Anchor || !version.facts || version.facts->revertedTensors.empty()
            || restoredVersion(run, i)) // it says so
            continue;
        const RevertedTensor& first = version.facts->revertedTensors.front();
        const std::size_t others = version.facts->revertedTensors.size() - 1;
        const std::string text = version.facts->revertsAll
            ? fmt::format("the anchor at step {} is the state of step {} again: a roll back or a stale snapshot",
                          version.step(), first.step)
            : fmt::format("the anchor at step {} holds {} as it was at step {}, before deltas changed {} of its "
                          "elements{}",
                          version.step(), first.name, first.step, first.changed,
                          others == 0       ? std::string()
                              : others == 1 ? std::string(", and one more tensor of an earlier state")
                                            : fmt::format(", and {} more tensors of earlier states", others));
        version.problems.push_back(Error { Code::Reverted, text, version.objects.name, version.step(), {} });
    }
}

} // namespace deltascope
