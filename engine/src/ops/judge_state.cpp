#include "judge_state.h"

#include "audit/first_state.h"
#include "audit/value_history.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace deltascope {

namespace {

bool isMeasured(const TensorInfo& tensor) { return isFloating(tensor.dtype) && tensor.elements() > 0; }

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

Result<void> judgeAlone(const State& state, std::vector<TensorSlice> slices, const WalkMeans& means, StateJudge& judge,
                        TaskContext& task)
{
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk(std::move(slices), { means }));
    DS_CHECK(walkTensors(*walk, means.threads, task, [&](std::size_t n, SliceReader& reader) -> Result<void> {
        StateJudge::Tensor tensor = judge.begin(walk->tensor(n), false);
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) { tensor.add({}, block); }));
        tensor.finish();
        return {};
    }));
    return {};
}

Result<void> judgeBeside(const State& before, const State& state, Slices slices, const WalkMeans& means,
                         StateJudge& judge, TaskContext& task)
{
    DS_TRY(const std::unique_ptr<StateWalk> then, before.walk(std::move(slices.before), { means }));
    DS_TRY(const std::unique_ptr<StateWalk> now, state.walk(std::move(slices.now), { means }));
    const auto judgePair = [&](std::size_t n, PairReader& reader) -> Result<void> {
        StateJudge::Tensor tensor = judge.begin(now->tensor(n), true);
        DS_CHECK(forEachPair(reader, task, [&](ByteSpan a, ByteSpan b) { tensor.add(a, b); }));
        tensor.finish();
        return {};
    };
    DS_CHECK(walkPairs(*then, *now, means.threads, task, judgePair));
    return {};
}

}

StateJudge::Tensor::Tensor(StateJudge& judge, const TensorInfo& tensor, bool hasBefore)
    : m_judge(judge)
    , m_tensor(tensor)
    , m_hasBefore(hasBefore)
    , m_meter(isMeasured(tensor) ? MoveMeter::of(tensor.dtype, hasBefore ? 2 : 1, judge.m_backend) : nullptr)
{
}

void StateJudge::Tensor::add(ByteSpan before, ByteSpan now)
{
    if (!m_meter)
        return;
    if (!m_hasBefore)
        return m_meter->onBlock(0, now);
    m_meter->onBlock(0, before);
    m_meter->onPiece(1, before, FullBlock { now });
    m_meter->onBlock(1, now);
}

void StateJudge::Tensor::add(ByteSpan before, ByteSpan now, const ElementChanges& changes)
{
    if (!m_meter)
        return;
    m_meter->onBlock(0, before);
    m_meter->onPiece(1, before, AssignElements { changes.positions, changes.values });
    m_meter->onBlock(1, now);
}

void StateJudge::Tensor::finish()
{
    if (!m_meter)
        return;
    m_meter->finish();
    const std::lock_guard lock(m_judge.m_mutex);
    if (m_hasBefore)
        m_judge.addPair(m_tensor, *m_meter);
    else
        m_judge.addNew(m_tensor, *m_meter);
}

void StateJudge::addNew(const TensorInfo& tensor, MoveMeter& meter)
{
    addFirst(tensor, meter);
    m_zeroLayers.add(tensor, { meter.moves()[0].zero, {} });
}

void StateJudge::addPair(const TensorInfo& tensor, MoveMeter& meter)
{
    const TensorMoves& then = meter.moves()[0];
    const TensorMoves& now = meter.moves()[1];
    std::vector<SuspectTensor> held;
    std::copy_if(m_before->held.begin(), m_before->held.end(), std::back_inserter(held),
                 [&](const SuspectTensor& suspect) { return suspect.name == tensor.name; });
    held = stillHeld(held, now, meter.squares());
    if (auto suspect = ValueHistory().judgeAnchor(then, now, meter.squares(), tensor.elements())) {
        suspect->name = tensor.name;
        takeUp(held, std::move(*suspect));
    }
    if (!held.empty())
        return add(tensor, std::move(held.back()));
    if (m_before->isJudged)
        return;
    if (now.notFinite > 0)
        addFirst(tensor, meter);
    m_zeroLayers.add(tensor, { now.zero, {} });
}

void StateJudge::addFirst(const TensorInfo& tensor, const MoveMeter& meter)
{
    if (auto suspect = judgeFirst(meter.first(), tensor.elements()))
        add(tensor, std::move(*suspect));
    if (holdsMask(meter.first(), tensor.elements()))
        m_found.masks.push_back(tensor.name);
}

void StateJudge::add(const TensorInfo& tensor, SuspectTensor suspect)
{
    suspect.name = tensor.name;
    m_found.suspects.push_back(std::move(suspect));
}

bool StateJudge::isSuspect()
{
    const std::lock_guard lock(m_mutex);
    return !m_found.suspects.empty();
}

JudgedState StateJudge::take()
{
    for (const ZeroTensor& tensor : m_zeroLayers.take())
        m_found.suspects.push_back({ tensor.name, Suspicion::ZeroLayer, 0, 0 });
    sortSuspects(m_found.suspects);
    std::sort(m_found.masks.begin(), m_found.masks.end());
    return std::move(m_found);
}

Result<JudgedState> judgeState(const State& state, const StateBefore* before, const WalkMeans& means, TaskContext& task)
{
    StateJudge judge(before, means.backend);
    Slices slices = slicesOf(state, before);
    DS_CHECK(judgeAlone(state, std::move(slices.alone), means, judge, task));
    if (before)
        DS_CHECK(judgeBeside(before->state, state, std::move(slices), means, judge, task));
    return judge.take();
}

} // namespace deltascope
