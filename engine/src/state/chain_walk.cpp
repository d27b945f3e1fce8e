#include "state/chain_walk.h"

#include "audit/replay_audit.h"
#include "deltascope/engine/path_state.h"
#include "state/base_fit.h"
#include "state/tensor_replay.h"

#include <algorithm>
#include <optional>

namespace deltascope {

namespace {

/// Shows every piece and block to two observers.
class BothObservers final : public ReplayObserver {
public:
    BothObservers(ReplayObserver& first, ReplayObserver& second)
        : m_first(first)
        , m_second(second)
    {
    }

    bool looksAtBlocks() const override { return m_first.looksAtBlocks() || m_second.looksAtBlocks(); }
    void onPiece(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchPiece& piece) override
    {
        m_first.onPiece(link, begin, state, piece);
        m_second.onPiece(link, begin, state, piece);
    }
    void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts& counts) override
    {
        m_first.onBlock(link, begin, state, counts);
        m_second.onBlock(link, begin, state, counts);
    }

private:
    ReplayObserver& m_first;
    ReplayObserver& m_second;
};

class ReplayReader final : public SliceReader {
public:
    /// `audit`: null: nothing is judged. `observer`: null: nothing else looks on.
    ReplayReader(ReplayAudit* audit, const TensorInfo& tensor, bool isWhole, ReplayObserver* observer)
        : m_observer(observer)
    {
        if (!audit)
            return;
        m_watch.emplace(*audit, tensor, isWhole);
        if (observer)
            m_both.emplace(*m_watch, *observer);
        m_observer = observer ? static_cast<ReplayObserver*>(&*m_both) : &*m_watch;
    }

    Result<void> open(const PathState& chain, const TensorInfo& tensor, ReplayOptions options, TaskContext& task)
    {
        options.observer = m_observer;
        m_chain = &chain;
        Result<TensorReplay> replay = TensorReplay::open(chain, tensor, std::move(options), task);
        if (!replay)
            return fail(reasonOf(std::move(replay.error()), task));
        m_replay.emplace(std::move(*replay));
        return {};
    }

    Result<ByteSpan> next(TaskContext& task) override
    {
        Result<ByteSpan> replayed = m_replay->next(task);
        if (!replayed)
            return fail(reasonOf(std::move(replayed.error()), task));
        const ByteSpan block = *replayed;
        if (block.empty() && m_watch && !m_ended) {
            m_ended = true;
            m_evidence.digestsMatch = m_watch->finish();
            m_evidence.noopsSeen = m_watch->noopsSeen();
            m_evidence.digestsChecked = m_watch->digestsChecked();
            m_evidence.compared = m_watch->comparedAtEnd();
        }
        return block;
    }
    SliceEvidence evidence() const noexcept override { return m_evidence; }

private:
    Error reasonOf(Error error, TaskContext& task) const
    {
        return m_chain->onExternalBase() ? blameBase(m_chain->links(), std::move(error), task) : error;
    }

    const PathState* m_chain = nullptr;
    std::optional<ReplayAudit::Tensor> m_watch;
    std::optional<BothObservers> m_both;
    ReplayObserver* m_observer;
    std::optional<TensorReplay> m_replay;
    SliceEvidence m_evidence;
    bool m_ended = false;
};

class ChainWalk final : public StateWalk {
public:
    ChainWalk(const PathState& chain, std::vector<TensorSlice> slices, WalkOptions options, bool isJudged)
        : StateWalk(std::move(slices))
        , m_chain(chain)
        , m_options(std::move(options))
    {
        if (isJudged)
            m_audit.emplace(chain);
    }

    const TensorInfo& tensor(std::size_t at) const noexcept override { return m_chain.tensors()[slice(at).tensor]; }
    /// Twice as many if a link is read from a store that keeps reads (StoreTraits), since some then wait for it.
    unsigned readersAtOnce(unsigned threads) const noexcept override
    {
        const auto& links = m_chain.links();
        const bool waits =
            std::any_of(links.begin(), links.end(), [](const auto& link) { return link->store->traits().keepsReads; });
        return waits ? 2 * threads : threads;
    }

    Result<std::unique_ptr<SliceReader>> open(std::size_t at, TaskContext& task) override
    {
        const TensorInfo& info = tensor(at);
        const SliceBytes bytes = bytesOf(slice(at), info);
        ReplayObserver* const observer = m_options.observer ? m_options.observer(at) : nullptr;
        auto reader = std::make_unique<ReplayReader>(m_audit ? &*m_audit : nullptr, info, bytes.isWhole, observer);
        ReplayOptions options { m_options.means };
        options.begin = bytes.begin;
        options.end = bytes.end;
        DS_CHECK(reader->open(m_chain, info, std::move(options), task));
        return std::unique_ptr<SliceReader>(std::move(reader));
    }

    Result<WalkEvidence> finish() override
    {
        WalkEvidence evidence;
        if (!m_audit)
            return evidence;
        DS_CHECK(m_audit->checkDigests(m_chain.onExternalBase()));
        evidence.noopsSeen = m_audit->noopsSeen();
        return evidence;
    }

private:
    const PathState& m_chain;
    WalkOptions m_options;
    std::optional<ReplayAudit> m_audit;
};

}

std::unique_ptr<StateWalk> makeChainWalk(const PathState& chain, std::vector<TensorSlice> slices, WalkOptions options,
                                         bool isJudged)
{
    return std::make_unique<ChainWalk>(chain, std::move(slices), std::move(options), isJudged);
}

} // namespace deltascope
