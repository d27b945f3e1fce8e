#include "state/changed_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace deltascope {

unsigned changedElementBytes(Dtype dtype) noexcept
{
    return bitsOf(dtype) % 8 == 0 ? std::max(1U, bitsOf(dtype) / 8) : 1;
}

void applyChanges(const TensorChanges& changes, Dtype dtype, std::uint64_t begin, MutableByteSpan stretch)
{
    const unsigned width = changedElementBytes(dtype);
    const std::uint64_t first = begin / width;
    const std::uint64_t end = first + stretch.size() / width;
    for (const StretchChanges& part : changes) {
        if (part.positions.empty() || part.firstElement >= end || part.firstElement + part.positions.back() < first)
            continue;
        const std::uint64_t skipped = first > part.firstElement ? first - part.firstElement : 0;
        const auto from = std::lower_bound(part.positions.begin(), part.positions.end(), skipped);
        for (auto at = from; at != part.positions.end() && part.firstElement + *at < end; ++at) {
            const auto value = static_cast<std::size_t>(at - part.positions.begin()) * width;
            std::memcpy(stretch.data() + (part.firstElement + *at - first) * width, part.values.data() + value, width);
        }
    }
}

namespace {

class ChangedReader final : public SliceReader {
public:
    ChangedReader(std::unique_ptr<SliceReader> reader, const TensorChanges& changes, Dtype dtype, std::uint64_t begin)
        : m_reader(std::move(reader))
        , m_changes(changes)
        , m_dtype(dtype)
        , m_begin(begin)
    {
    }

    Result<ByteSpan> next(TaskContext& task) override
    {
        DS_TRY(const ByteSpan block, m_reader->next(task));
        m_changed.assign(block.begin(), block.end());
        applyChanges(m_changes, m_dtype, m_begin, m_changed);
        m_begin += block.size();
        return ByteSpan(m_changed);
    }

private:
    std::unique_ptr<SliceReader> m_reader;
    const TensorChanges& m_changes;
    Dtype m_dtype;
    std::uint64_t m_begin; ///< of the next block, in bytes of the tensor
    std::vector<std::byte> m_changed;
};

class ChangedWalk final : public StateWalk {
public:
    ChangedWalk(std::unique_ptr<StateWalk> walk, const std::vector<TensorChanges>& changes,
                std::vector<TensorSlice> slices)
        : StateWalk(std::move(slices))
        , m_walk(std::move(walk))
        , m_changes(changes)
    {
    }

    const TensorInfo& tensor(std::size_t at) const noexcept override { return m_walk->tensor(at); }
    unsigned readersAtOnce(unsigned threads) const noexcept override { return m_walk->readersAtOnce(threads); }
    ReadsAhead readAhead(TaskContext& task) const override { return m_walk->readAhead(task); }
    Result<std::unique_ptr<SliceReader>> open(std::size_t at, TaskContext& task) override
    {
        DS_TRY(std::unique_ptr<SliceReader> reader, m_walk->open(at, task));
        const TensorChanges& changes = m_changes[slice(at).tensor];
        if (changes.empty())
            return reader;
        return std::unique_ptr<SliceReader>(std::make_unique<ChangedReader>(
            std::move(reader), changes, tensor(at).dtype, bytesOf(slice(at), tensor(at)).begin));
    }
    Result<WalkEvidence> finish() override { return m_walk->finish(); }

private:
    std::unique_ptr<StateWalk> m_walk;
    const std::vector<TensorChanges>& m_changes;
};

class ChangedState final : public State {
public:
    ChangedState(const State& state, const std::vector<TensorChanges>& changes)
        : m_state(state)
        , m_changes(changes)
    {
    }

    TensorRange tensors() const noexcept override { return m_state.tensors(); }
    StatePlace place() const override { return m_state.place(); }
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override
    {
        DS_TRY(std::unique_ptr<StateWalk> walk, m_state.walk(slices, std::move(options)));
        return std::unique_ptr<StateWalk>(std::make_unique<ChangedWalk>(std::move(walk), m_changes, std::move(slices)));
    }
    Result<void> expectUnchanged(TaskContext& task) const override { return m_state.expectUnchanged(task); }

private:
    const State& m_state;
    const std::vector<TensorChanges>& m_changes;
};

} // namespace

std::unique_ptr<State> changedState(const State& state, const std::vector<TensorChanges>& changes)
{
    return std::make_unique<ChangedState>(state, changes);
}

} // namespace deltascope
