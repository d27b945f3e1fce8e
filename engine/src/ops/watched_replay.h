#pragma once

#include "deltascope/engine/operations.h"
#include "replay_audit.h"

#include <optional>

namespace deltascope {

/// Replays one tensor to its end and judges it by its publisher's digests. Both arguments outlive it.
class WatchedReplay {
public:
    WatchedReplay(const Chain& chain, const TensorInfo& tensor)
        : m_chain(chain)
        , m_tensor(tensor)
        , m_audit(chain)
        , m_watch(m_audit, tensor, true)
    {
    }

    /// `observer`: is told of every block instead of the watch, which it must pass all of them on to; null: none.
    Result<void> open(Workbench& bench, TaskContext& task, ReplayObserver* observer = nullptr)
    {
        ReplayOptions options;
        options.scratchFolder = bench.scratchFolder;
        options.observer = observer ? observer : &m_watch;
        DS_TRY(TensorReplay replay, TensorReplay::open(m_chain, m_tensor, std::move(options), task));
        m_replay.emplace(std::move(replay));
        return {};
    }
    ReplayObserver& watch() { return m_watch; }
    Result<ByteSpan> next(TaskContext& task) { return m_replay->next(task); }
    /// Behind the last block. Errors: Digest.
    Result<void> finish()
    {
        m_watch.finish();
        return m_audit.checkDigests(m_chain.onExternalBase());
    }
    /// Opens, replays and judges the tensor, where only `observer` wants to see it. Adds what was replayed to what the
    /// task has done. Errors: those of open(), next() and finish().
    Result<void> run(Workbench& bench, TaskContext& task, ReplayObserver& observer)
    {
        DS_CHECK(open(bench, task, &observer));
        for (;;) {
            DS_TRY(const ByteSpan block, next(task));
            if (block.empty())
                return finish();
            task.addDone(block.size());
        }
    }

private:
    const Chain& m_chain;
    const TensorInfo& m_tensor;
    ReplayAudit m_audit;
    ReplayAudit::Tensor m_watch;
    std::optional<TensorReplay> m_replay;
};

} // namespace deltascope
