#include "audit/state_hasher.h"

#include "base/torch_dtype.h"

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

} // namespace deltascope
