#include "lineage/reference.h"

namespace deltascope {

const VersionSummary* referenceOf(const Run& run, int epoch)
{
    const VersionSummary* largest = nullptr;
    for (const Version& version : run.versions) {
        for (const OtherForm& form : version.otherForms) {
            if (version.epoch == epoch && form.summary && form.summary->full
                && (!largest || form.summary->tensors > largest->tensors))
                largest = &*form.summary;
        }
        if (!version.summary || !version.summary->full)
            continue;
        if (version.epoch == epoch && version.step() <= 1)
            return &*version.summary;
        if (!largest || version.summary->tensors > largest->tensors)
            largest = &*version.summary;
    }
    return largest;
}

} // namespace deltascope
