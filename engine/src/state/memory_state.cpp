#include "deltascope/engine/memory_state.h"

#include "deltascope/engine/patch.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace deltascope {

namespace {

class MemoryReader final : public SliceReader {
public:
    MemoryReader(ByteSpan bytes, std::uint64_t blockBytes)
        : m_left(bytes)
        , m_blockBytes(blockBytes)
    {
    }

    Result<ByteSpan> next(TaskContext& task) override
    {
        DS_CHECK(task.checkpoint());
        const ByteSpan block = m_left.first(std::min<std::size_t>(m_blockBytes, m_left.size()));
        m_left = m_left.subspan(block.size());
        return block;
    }

private:
    ByteSpan m_left;
    std::uint64_t m_blockBytes;
};

class MemoryWalk final : public StateWalk {
public:
    MemoryWalk(const std::vector<BorrowedTensor>& tensors, std::vector<TensorSlice> slices)
        : StateWalk(std::move(slices))
        , m_tensors(tensors)
    {
    }

    const TensorInfo& tensor(std::size_t at) const noexcept override { return m_tensors[slice(at).tensor].info; }
    Result<std::unique_ptr<SliceReader>> open(std::size_t at, TaskContext&) override
    {
        const BorrowedTensor& tensor = m_tensors[slice(at).tensor];
        const SliceBytes bytes = bytesOf(slice(at), tensor.info);
        return std::unique_ptr<SliceReader>(std::make_unique<MemoryReader>(
            tensor.bytes.subspan(bytes.begin, bytes.end - bytes.begin), blockBytesOf(tensor.info.dtype)));
    }

private:
    const std::vector<BorrowedTensor>& m_tensors;
};

class MemoryState final : public State {
public:
    /// `tensors` ascend by name.
    MemoryState(std::string where, std::vector<BorrowedTensor> tensors)
        : m_where(std::move(where))
        , m_tensors(std::move(tensors))
    {
        m_infos.reserve(m_tensors.size());
        for (const BorrowedTensor& tensor : m_tensors)
            m_infos.push_back(&tensor.info);
    }

    TensorRange tensors() const noexcept override { return TensorRange(m_infos); }
    StatePlace place() const override { return { m_where, std::nullopt, true }; }
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions) const override
    {
        return std::unique_ptr<StateWalk>(std::make_unique<MemoryWalk>(m_tensors, std::move(slices)));
    }

private:
    std::string m_where;
    std::vector<BorrowedTensor> m_tensors;
    std::vector<const TensorInfo*> m_infos;
};

} // namespace

Result<std::unique_ptr<State>> stateOfMemory(std::string where, std::vector<BorrowedTensor> tensors)
{
    std::sort(tensors.begin(), tensors.end(),
              [](const BorrowedTensor& a, const BorrowedTensor& b) { return a.info.name < b.info.name; });
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const BorrowedTensor& tensor = tensors[i];
        if (i > 0 && tensors[i - 1].info.name == tensor.info.name)
            return fail(Code::Usage, fmt::format("tensor {} occurs twice", quoteName(tensor.info.name)), where);
        if (tensor.bytes.size() != tensor.info.bytes())
            return fail(Code::Usage,
                        fmt::format("tensor {} has {} bytes, and its dtype and shape make {}",
                                    quoteName(tensor.info.name), tensor.bytes.size(), tensor.info.bytes()),
                        where);
    }
    return std::unique_ptr<State>(std::make_unique<MemoryState>(std::move(where), std::move(tensors)));
}

} // namespace deltascope
