#include "judge_state.h"

#include "audit/first_state.h"
#include "audit/value_history.h"
#include "deltascope/engine/number_format.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace deltascope {

namespace {

/// Collects what is found, tensor by tensor. Any thread.
class Findings {
public:
    explicit Findings(const StateBefore* before)
        : m_before(before)
    {
    }

    /// Of a tensor that the state before does not have as it is.
    void addNew(const TensorInfo& tensor, MoveMeter& meter)
    {
        meter.finish();
        const std::lock_guard lock(m_mutex);
        addFirst(tensor, meter);
        m_zeroLayers.add(tensor, { meter.moves()[0].zero, {} });
    }

    /// Of one that both have.
    void addPair(const TensorInfo& tensor, MoveMeter& meter)
    {
        meter.finish();
        const TensorMoves& then = meter.moves()[0];
        const TensorMoves& now = meter.moves()[1];
        const std::lock_guard lock(m_mutex);
        if (auto suspect = ValueHistory().judgeAnchor(then, now, meter.squares(), tensor.elements()))
            return add(tensor, std::move(*suspect));
        for (const SuspectTensor& held : m_before->held) {
            if (held.name == tensor.name && stillHolds(held, now, meter.squares()))
                return add(tensor, held);
        }
        if (m_before->isJudged)
            return;
        if (now.notFinite > 0)
            addFirst(tensor, meter);
        m_zeroLayers.add(tensor, { now.zero, {} });
    }

    JudgedState take()
    {
        for (const ZeroTensor& tensor : m_zeroLayers.take())
            m_found.suspects.push_back({ tensor.name, Suspicion::ZeroLayer, 0, 0 });
        sortSuspects(m_found.suspects);
        std::sort(m_found.masks.begin(), m_found.masks.end());
        return std::move(m_found);
    }

private:
    void addFirst(const TensorInfo& tensor, const MoveMeter& meter)
    {
        if (auto suspect = judgeFirst(meter.first(), tensor.elements()))
            add(tensor, std::move(*suspect));
        if (holdsMask(meter.first(), tensor.elements()))
            m_found.masks.push_back(tensor.name);
    }

    void add(const TensorInfo& tensor, SuspectTensor suspect)
    {
        suspect.name = tensor.name;
        m_found.suspects.push_back(std::move(suspect));
    }

    const StateBefore* m_before;
    std::mutex m_mutex;
    JudgedState m_found;
    ZeroLayers m_zeroLayers;
};

bool isMeasured(const TensorInfo& tensor)
{
    bool floating = false;
    withNumbers(
        tensor.dtype, [&](auto) { floating = true; }, [](auto) {});
    return floating && tensor.elements() > 0;
}

bool isAlike(const TensorInfo& a, const TensorInfo& b) { return a.dtype == b.dtype && a.shape == b.shape; }

/// Slices of all of a tensor: of the state before beside the present one, or of this one alone.
struct Slices {
    std::vector<TensorSlice> before, now, alone;
};

Slices slicesOf(const State& state, const StateBefore* before)
{
    Slices slices;
    for (const TensorSlice& slice : largestFirst(state)) {
        const TensorInfo& tensor = state.tensors()[slice.tensor];
        if (!isMeasured(tensor))
            continue;
        const std::optional<std::size_t> same = before ? before->state.indexOf(tensor.name) : std::nullopt;
        if (same && isAlike(before->state.tensors()[*same], tensor)) {
            slices.before.push_back({ *same });
            slices.now.push_back(slice);
        } else {
            slices.alone.push_back(slice);
        }
    }
    return slices;
}

Result<void> judgeAlone(const State& state, std::vector<TensorSlice> slices, const WalkMeans& means, Findings& findings,
                        TaskContext& task)
{
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk(std::move(slices), { means }));
    DS_CHECK(walkTensors(*walk, means.threads, task, [&](std::size_t n, SliceReader& reader) -> Result<void> {
        const std::unique_ptr<MoveMeter> meter = MoveMeter::of(walk->tensor(n).dtype, 1, means.backend);
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) { meter->onBlock(0, block); }));
        findings.addNew(walk->tensor(n), *meter);
        return {};
    }));
    return {};
}

Result<void> judgeBeside(const State& before, const State& state, Slices slices, const WalkMeans& means,
                         Findings& findings, TaskContext& task)
{
    DS_TRY(const std::unique_ptr<StateWalk> then, before.walk(std::move(slices.before), { means }));
    DS_TRY(const std::unique_ptr<StateWalk> now, state.walk(std::move(slices.now), { means }));
    const auto judge = [&](std::size_t n, PairReader& reader) -> Result<void> {
        const std::unique_ptr<MoveMeter> meter = MoveMeter::of(now->tensor(n).dtype, 2, means.backend);
        DS_CHECK(forEachPair(reader, task, [&](ByteSpan a, ByteSpan b) {
            meter->onBlock(0, a);
            meter->onPiece(1, a, FullBlock { b });
            meter->onBlock(1, b);
        }));
        findings.addPair(now->tensor(n), *meter);
        return {};
    };
    DS_CHECK(walkPairs(*then, *now, means.threads, task, judge));
    return {};
}

}

Result<JudgedState> judgeState(const State& state, const StateBefore* before, const WalkMeans& means, TaskContext& task)
{
    Findings findings(before);
    Slices slices = slicesOf(state, before);
    DS_CHECK(judgeAlone(state, std::move(slices.alone), means, findings, task));
    if (before)
        DS_CHECK(judgeBeside(before->state, state, std::move(slices), means, findings, task));
    return findings.take();
}

} // namespace deltascope
