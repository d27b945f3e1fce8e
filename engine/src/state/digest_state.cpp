#include "deltascope/engine/digest_state.h"

#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace deltascope {

DigestState::DigestState(std::string where, std::vector<KnownTensor> tensors)
    : m_where(std::move(where))
    , m_known(std::move(tensors))
{
    m_tensors.reserve(m_known.size());
    for (const KnownTensor& tensor : m_known)
        m_tensors.push_back(&tensor.info);
}

Result<std::unique_ptr<DigestState>> DigestState::of(std::string where, std::vector<KnownTensor> tensors)
{
    std::sort(tensors.begin(), tensors.end(),
              [](const KnownTensor& a, const KnownTensor& b) { return a.info.name < b.info.name; });
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const TensorInfo& info = tensors[i].info;
        if (i > 0 && tensors[i - 1].info.name == info.name)
            return fail(Code::Usage, fmt::format("tensor {} occurs twice", quoteName(info.name)), where);
        DS_TRY([[maybe_unused]] const std::uint64_t bytes, checkedSize(info));
    }
    return std::unique_ptr<DigestState>(new DigestState(std::move(where), std::move(tensors)));
}

StatePlace DigestState::place() const { return { m_where, std::nullopt }; }

Result<std::unique_ptr<StateWalk>> DigestState::walk(std::vector<TensorSlice>, WalkOptions) const
{
    return fail(Code::Unsupported, "tensors that are known by digests alone have no bytes to read", m_where);
}

} // namespace deltascope
