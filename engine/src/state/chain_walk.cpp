#include "state/chain_walk.h"

#include "audit/replay_audit.h"
#include "deltascope/engine/path_state.h"
#include "state/base_fit.h"
#include "state/tensor_replay.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

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

/// The stretches of objects in one store that a walk reads, slice after slice and link after link. A value: a copy goes
/// on by itself.
class ComingStretches {
public:
    /// All outlive it. `observed`: as in linksOf().
    ComingStretches(const PathState& path, const StateWalk& walk, const ObjectStore& store, bool observed)
        : m_path(&path)
        , m_walk(&walk)
        , m_store(&store)
        , m_observed(observed)
    {
    }

    std::optional<ComingRead> operator()()
    {
        for (;;) {
            if (m_link == m_links.size()) {
                if (m_slice == m_walk->size())
                    return std::nullopt;
                m_bytes = bytesOf(m_walk->slice(m_slice), m_walk->tensor(m_slice));
                m_links = linksOf(*m_path, m_walk->tensor(m_slice), m_observed).value_or(std::vector<TensorLink>());
                m_link = m_extent = 0;
                ++m_slice;
                continue;
            }
            const TensorLink& from = m_links[m_link];
            if (from.version->store.get() != m_store || m_extent == from.entry->extents.size()) {
                ++m_link;
                m_extent = 0;
                continue;
            }
            return stretchOf(from, from.entry->extents[m_extent++]);
        }
    }

private:
    /// Of a complete tensor that is stored as it is: what the slice needs of it. Of others all.
    ComingRead stretchOf(const TensorLink& from, const Extent& extent) const
    {
        ComingRead stretch { from.version->objects.objects[extent.object], extent.begin, extent.bytes };
        const TensorInfo* const info = from.entry->info();
        if (from.version->index.full && info && info->bytes() == extent.bytes) {
            stretch.offset += m_bytes.begin;
            stretch.bytes = m_bytes.end - m_bytes.begin;
        }
        return stretch;
    }

    const PathState* m_path;
    const StateWalk* m_walk;
    const ObjectStore* m_store;
    bool m_observed;
    std::size_t m_slice = 0; ///< the one behind that of m_links
    SliceBytes m_bytes;
    std::vector<TensorLink> m_links;
    std::size_t m_link = 0;
    std::size_t m_extent = 0;
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

    ReadsAhead readAhead(TaskContext& task) const override
    {
        std::set<const ObjectStore*> stores;
        for (const auto& link : m_chain.links()) {
            if (link->index.packed) // it is read whole, once
                return {};
            if (link->store->traits().keepsReads)
                stores.insert(link->store.get());
        }
        ReadsAhead ahead;
        for (const ObjectStore* const store : stores) {
            ComingStretches stretches(m_chain, *this, *store, m_audit || m_options.observer);
            std::ranges::move(store->readAhead(std::move(stretches), task), std::back_inserter(ahead));
        }
        return ahead;
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
