#include "state_digest.h"

#include "base/torch_dtype.h"
#include "deltascope/engine/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope {

namespace {

std::unique_ptr<StreamingDigest> makeFor(StateDigestForm form)
{
    return form == StateDigestForm::Xxh3OfData ? makeXxh3() : makeSha256();
}

/// As Python prints a tuple: "(2, 4)", "(8,)", "()".
std::string tupleText(const std::vector<std::uint64_t>& shape)
{
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}

StateHasher::StateHasher(const StateDigest& recorded)
    : m_recorded(recorded.hex)
{
    for (const StateDigestForm form : recorded.forms)
        m_candidates.push_back(Candidate { form, makeFor(form) });
}

void StateHasher::beginTensor(const TensorInfo& tensor)
{
    for (const Candidate& candidate : m_candidates) {
        const bool typed = candidate.form == StateDigestForm::Sha256OfNameTypeShapeAndData;
        if (typed || candidate.form == StateDigestForm::Sha256OfNameAndData)
            candidate.digest->update(asBytes(tensor.name));
        if (typed) {
            candidate.digest->update(asBytes(fmt::format("torch.{}", torchWord(tensor.dtype))));
            candidate.digest->update(asBytes(tupleText(tensor.shape)));
        }
    }
}

void StateHasher::update(ByteSpan bytes)
{
    for (const Candidate& candidate : m_candidates)
        candidate.digest->update(bytes);
}

bool StateHasher::matches()
{
    bool any = false;
    for (const Candidate& candidate : m_candidates) {
        const std::string hex = candidate.digest->hex();
        any = any || hex == m_recorded;
        if (m_actual.empty())
            m_actual = hex;
    }
    return any;
}

Result<void> expectStateDigest(const Chain& chain, const WalkMeans& means, TaskContext& task)
{
    const OpenVersion& last = *chain.links().back();
    const StateDigest& recorded = last.index.stateDigest;
    if (recorded.hex.empty())
        return {};
    task.beginPhase("state digest", chain.stateBytes());
    StateHasher hasher(recorded);
    const std::unique_ptr<StateWalk> walk = chain.replay(allTensors(chain), { means.scratchFolder });
    const auto hash = [&](std::size_t slice, SliceReader& reader) {
        hasher.beginTensor(walk->tensor(slice));
        return forEachBlock(reader, task, [&](ByteSpan block) { hasher.update(block); });
    };
    DS_CHECK(walkTensors(*walk, InOrder, task, hash));
    if (hasher.matches())
        return {};
    VersionFacts facts;
    facts.rootCheck = VersionFacts::RootCheck::Differs;
    facts.actualRoot = hasher.actual();
    return fail(rootFailure(facts, last.objects, recorded.hex));
}

} // namespace deltascope
