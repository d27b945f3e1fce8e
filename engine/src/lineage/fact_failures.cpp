#include "deltascope/engine/lineage.h"

#include <fmt/format.h>

namespace deltascope {

Error digestFailure(const VersionFacts& facts, const VersionObjects& version, bool onExternalBase)
{
    const bool mostFail = facts.digestsFailed >= 2 && facts.digestsFailed * 2 > facts.digestsChecked;
    if (onExternalBase && mostFail && version.step > 1)
        return Error { Code::ChainGap,
                       fmt::format(
                           "step {} builds on step {}, which is missing, and the base checkpoint is not that step: "
                           "{} of the {} tensors that it changes fail their digest, {} first",
                           version.step, version.step - 1, facts.digestsFailed, facts.digestsChecked,
                           facts.firstFailedTensor),
                       version.name,
                       version.step,
                       {} };
    if (onExternalBase && mostFail)
        return Error {
            Code::BaseMismatch,
            fmt::format("the base checkpoint is not the one that this chain was written against: {} of the {} tensors "
                        "that step {} changes fail their digest, {} first",
                        facts.digestsFailed, facts.digestsChecked, version.step, facts.firstFailedTensor),
            version.name,
            version.step,
            {}
        };
    return Error { Code::Digest,
                   fmt::format("{} has digest {} behind step {}, its publisher recorded {}: {} is wrong ({} of {} "
                               "tensors fail)",
                               facts.firstFailedTensor, facts.actualDigest, version.step, facts.expectedDigest,
                               onExternalBase ? "the base checkpoint, the delta or the record"
                                              : "the delta, the state before or the record",
                               facts.digestsFailed, facts.digestsChecked),
                   version.name,
                   version.step,
                   {} };
}

Error rootFailure(const VersionFacts& facts, const VersionObjects& version, std::string_view recorded)
{
    if (facts.rootCheck == VersionFacts::RootCheck::BaseDiffers)
        return Error { Code::BaseMismatch,
                       fmt::format("the base checkpoint has root {}, step {} was written against another one",
                                   facts.actualRoot, version.step),
                       version.name,
                       version.step,
                       {} };
    return Error { Code::Digest,
                   fmt::format(
                       "the state behind step {} has digest {}, its publisher recorded {}: the object or what it "
                       "builds on is damaged",
                       version.step, facts.actualRoot, recorded),
                   version.name,
                   version.step,
                   {} };
}

} // namespace deltascope
