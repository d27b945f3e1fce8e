#pragma once

#include "deltascope/engine/plan.h"
#include "publish/run_end.h"

#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace deltascope {

/// The state that a run ends with, replayed from the run itself; before the first version on an external base: that
/// base. What it is made of outlives it.
class HeadState {
public:
    HeadState(Workbench& bench, std::shared_ptr<ObjectStore> run, const OpenOptions& base, bool acceptRewritten)
        : m_bench(bench)
        , m_run(std::move(run))
        , m_base(base)
        , m_acceptRewritten(acceptRewritten)
    {
    }

    /// Does `act` with it, once more where a form on the way proves damaged. `act`: from a PathPtr to a Result.
    template <class Act>
    auto use(const RunEnd& head, const Act& act, TaskContext& task) const -> decltype(act(std::declval<PathPtr>()))
    {
        DS_TRY(const Run run, open(head, task));
        const Version* const newest = head.step > 0 ? run.find(head.step) : &run.versions.front();
        if (!newest)
            return fail(newestIsGone(run, head));
        DS_TRY(FallbackPlans plans, FallbackPlans::of(run, *newest));
        return tryPlans(plans, [&](const Plan& plan) -> decltype(act(std::declval<PathPtr>())) {
            DS_TRY(PathPtr state, openChecked(m_bench, run, plan, m_acceptRewritten, task));
            return act(std::move(state));
        });
    }

    struct Difference {
        std::string reason;
        std::string remedy;
    };
    /// How another state differs from it; nothing: in no bit.
    Result<std::optional<Difference>> differenceOf(const RunEnd& head, const State& other, TaskContext& task) const;
    /// Errors: BaseMismatch: `from` is another state.
    Result<void> expect(const RunEnd& head, const State& from, TaskContext& task) const;
    /// That the state on record stands behind it (expectSoundHead()). `from`: it, in another place; null: what is put
    /// is only planned. Errors: Rewritten; others say that the run cannot be continued.
    Result<void> expectSound(const RunEnd& head, const State* from, const WriterChoice& writers,
                             TaskContext& task) const;
    /// That `from` has tensors of other names, dtypes or shapes, as a BaseMismatch. Reads headers alone. Nothing also
    /// where they cannot be read.
    std::optional<Error> differenceInForm(const RunEnd& head, const State& from, TaskContext& task) const;

private:
    Result<Run> open(const RunEnd& head, TaskContext& task) const;
    /// Whether `from` is the very checkpoint that the run is going to build on.
    bool isBase(const RunEnd& head, const PathState& state, const State& from) const;
    Error unlike(const RunEnd& head, const Difference& difference) const;
    static Error newestIsGone(const Run& run, const RunEnd& head);

    Workbench& m_bench;
    std::shared_ptr<ObjectStore> m_run; ///< null: the folder is not there yet
    const OpenOptions& m_base;
    bool m_acceptRewritten;
};

} // namespace deltascope
