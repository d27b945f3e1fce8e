#include "state/rounded_state.h"

#include "state/rounding.h"

namespace deltascope {

namespace {

class RoundedReader final : public SliceReader {
public:
    RoundedReader(std::unique_ptr<SliceReader> reader, Dtype from, Dtype to)
        : m_reader(std::move(reader))
        , m_from(from)
        , m_to(to)
    {
    }

    Result<ByteSpan> next(TaskContext& task) override
    {
        DS_TRY(const ByteSpan block, m_reader->next(task));
        m_rounded.resize(block.size() * bitsOf(m_to) / bitsOf(m_from));
        if (!block.empty())
            roundElements(block, m_from, m_to, m_rounded);
        return ByteSpan(m_rounded);
    }
    SliceEvidence evidence() const noexcept override { return m_reader->evidence(); }

private:
    std::unique_ptr<SliceReader> m_reader;
    Dtype m_from;
    Dtype m_to;
    std::vector<std::byte> m_rounded;
};

class RoundedWalk final : public StateWalk {
public:
    RoundedWalk(const State& state, std::unique_ptr<StateWalk> walk, std::vector<TensorSlice> slices)
        : StateWalk(std::move(slices))
        , m_state(state)
        , m_walk(std::move(walk))
    {
    }

    const TensorInfo& tensor(std::size_t at) const noexcept override { return m_state.tensors()[slice(at).tensor]; }
    unsigned readersAtOnce(unsigned threads) const noexcept override { return m_walk->readersAtOnce(threads); }
    ReadsAhead readAhead(TaskContext& task) const override { return m_walk->readAhead(task); }
    Result<std::unique_ptr<SliceReader>> open(std::size_t at, TaskContext& task) override
    {
        DS_TRY(std::unique_ptr<SliceReader> reader, m_walk->open(at, task));
        const Dtype from = m_walk->tensor(at).dtype;
        const Dtype to = tensor(at).dtype;
        if (from == to)
            return reader;
        return std::unique_ptr<SliceReader>(std::make_unique<RoundedReader>(std::move(reader), from, to));
    }
    Result<WalkEvidence> finish() override { return m_walk->finish(); }

private:
    const State& m_state;
    std::unique_ptr<StateWalk> m_walk;
};

class RoundedState final : public State {
public:
    RoundedState(const State& state, const std::map<std::size_t, Dtype>& dtypes)
        : m_state(state)
    {
        const TensorRange all = state.tensors();
        m_tensors.reserve(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto narrower = dtypes.find(i);
            if (narrower == dtypes.end()) {
                m_tensors.push_back(&all[i]);
                continue;
            }
            TensorInfo& own = m_own[i] = all[i];
            own.dtype = narrower->second;
            m_tensors.push_back(&own);
        }
    }

    TensorRange tensors() const noexcept override { return TensorRange(m_tensors); }
    StatePlace place() const override { return m_state.place(); }
    std::optional<std::string_view> fileOf(std::size_t tensor) const override { return m_state.fileOf(tensor); }
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override
    {
        DS_TRY(std::unique_ptr<StateWalk> walk, m_state.walk(slices, std::move(options)));
        return std::unique_ptr<StateWalk>(std::make_unique<RoundedWalk>(*this, std::move(walk), std::move(slices)));
    }
    bool hasDigests() const noexcept override { return m_state.hasDigests(); }
    Result<void> checkWhole(TaskContext& task) const override { return m_state.checkWhole(task); }
    Result<void> expectSoundReads(TaskContext& task) const override { return m_state.expectSoundReads(task); }
    std::vector<std::string> rewritten() const override { return m_state.rewritten(); }
    std::vector<Error> readNotices() const override { return m_state.readNotices(); }
    Result<void> expectUnchanged(TaskContext& task) const override { return m_state.expectUnchanged(task); }
    Error reasonOf(Error error, TaskContext& task) const override { return m_state.reasonOf(std::move(error), task); }
    Result<std::optional<AdapterConfig>> adapterConfig(TaskContext& task) const override
    {
        return m_state.adapterConfig(task);
    }

private:
    const State& m_state;
    std::map<std::size_t, TensorInfo> m_own; ///< of those that are rounded
    std::vector<const TensorInfo*> m_tensors;
};

}

std::unique_ptr<State> rounded(const State& state, const std::map<std::size_t, Dtype>& dtypes)
{
    return std::make_unique<RoundedState>(state, dtypes);
}

} // namespace deltascope
