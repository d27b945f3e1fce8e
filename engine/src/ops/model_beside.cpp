#include "model_beside.h"

#include "correspondence.h"
#include "deltascope/engine/path_state.h"
#include "deltascope/engine/walk.h"
#include "judge_checkpoints.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <vector>

namespace deltascope {

namespace {

constexpr std::size_t MostCompared = 32; ///< checkpoints

/// Whether two states hold the same bits; reading ends with the first difference.
Result<bool> areEqual(const State& a, const State& b, const WalkMeans& means, TaskContext& task)
{
    if (!haveSameTensors(a, b))
        return false;
    DS_TRY(const std::unique_ptr<StateWalk> ofA, a.walk(largestFirst(a), { means }));
    DS_TRY(const std::unique_ptr<StateWalk> ofB, b.walk(largestFirst(a), { means }));
    std::atomic<bool> differs = false;
    const auto compare = [&](std::size_t, PairReader& reader) -> Result<void> {
        return forEachPair(reader, task, [&](ByteSpan x, ByteSpan y) -> Result<void> {
            if (!differs && means.backend->count(x, y, 1) == 0)
                return {};
            differs = true;
            return fail(Code::Canceled, "the states differ");
        });
    };
    const auto walked = walkPairs(*ofA, *ofB, means.threads, task, compare);
    if (!walked && !differs)
        return fail(walked.error());
    return !differs;
}

class ModelBeside {
public:
    ModelBeside(Workbench& bench, const Run& run, std::size_t at, TaskContext& task)
        : m_bench(bench)
        , m_run(run)
        , m_at(at)
        , m_task(task)
    {
    }

    /// Whether it is the state of a checkpoint. Nothing: one of them cannot be read.
    Result<std::optional<bool>> equals(std::size_t other)
    {
        using Answer = std::optional<bool>;
        const std::string& source = m_run.store->uri();
        const std::string question = toHex(xxh3(asBytes("beside\n" + m_run.versions[m_at].objects.identity() + '\n'
                                                        + m_run.versions[other].objects.identity())));
        if (m_bench.records) {
            if (const auto known = m_bench.records->continuity(source, question); known && *known)
                return Answer((*known)->continues);
        }
        Result<bool> same = compare(other);
        if (!same && (same.error().code == Code::Canceled || same.error().code == Code::Transient))
            return fail(std::move(same.error()));
        if (!same)
            return Answer();
        if (m_bench.records)
            static_cast<void>(m_bench.records->addContinuity( // else compared again
                source, question, { *same, *same ? "their bytes are equal" : "their bytes differ", m_bench.nowUs() }));
        return Answer(*same);
    }

private:
    Result<bool> compare(std::size_t other)
    {
        DS_TRY(const WalkMeans means, m_bench.means());
        DS_TRY(const PathPtr model, open(m_at));
        DS_TRY(const PathPtr checkpoint, open(other));
        return ifSound(areEqual(*checkpoint, *model, means, m_task), { checkpoint.get(), model.get() }, m_task);
    }

    Result<PathPtr> open(std::size_t at)
    {
        DS_TRY(const Plan plan, planFor(m_run, m_run.versions[at]));
        return openForFacts(m_bench, m_run, plan, m_task);
    }

    Workbench& m_bench;
    const Run& m_run;
    const std::size_t m_at;
    TaskContext& m_task;
};

}

Result<void> compareModelBeside(Workbench& bench, Run& run, std::uint64_t mostBytes, TaskContext& task)
{
    const auto found = std::find_if(run.versions.begin(), run.versions.end(), std::mem_fn(&Version::besideSteps));
    if (found == run.versions.end() || !isCheckpoint(*found) || 2 * aboutBytesOf(*found) > mostBytes)
        return {};
    const auto at = static_cast<std::size_t>(found - run.versions.begin());
    ModelBeside model(bench, run, at, task);
    std::vector<Error>& notes = found->objects.notes;
    std::size_t compared = 0;
    for (std::size_t i = run.versions.size(); i-- > 0 && compared < MostCompared;) {
        const Version& version = run.versions[i];
        if (version.besideSteps || !isCheckpoint(version))
            continue;
        ++compared;
        DS_TRY(const std::optional<bool> same, model.equals(i));
        if (!same.value_or(false))
            continue;
        std::string text =
            fmt::format("the {} is the state of step {}",
                        run.isFinalSave(*found) ? "final save" : "model beside the checkpoints", version.step());
        if (std::ranges::find(notes, text, &Error::text) == notes.end())
            notes.push_back(
                Error { Code::Repeated, std::move(text), found->objects.name, found->step(),
                        "Nothing to do: a trainer saves its last or its best state once more at the end." });
        return {};
    }
    return {};
}

} // namespace deltascope
