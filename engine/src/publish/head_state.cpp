#include "publish/head_state.h"

#include "ops/open_base.h"
#include "publish/head_check.h"
#include "publish/tensor_difference.h"

namespace deltascope {

namespace {

using HeadDifference = HeadState::Difference;

std::optional<HeadDifference> differenceOfForms(const RunEnd& head, const State& state, const State& other)
{
    std::optional<TensorDifference> tensors = differenceOfTensors(state, other);
    if (!tensors)
        return std::nullopt;
    return HeadDifference { fmt::format("{} (A is {}, B what was given to publish from)", tensors->reason,
                                        head.step > 0 ? "what the run holds" : "the base"),
                            std::move(tensors->remedy) };
}

}

Result<Run> HeadState::open(const RunEnd& head, TaskContext& task) const
{
    if (head.step > 0)
        return openRun(m_bench, m_run, m_base, task);
    if (!m_base.base)
        return fail(Code::BaseMissing,
                    "the first version is a delta onto a checkpoint outside of the run, which was not given",
                    m_run ? m_run->uri() : std::string());
    DS_TRY(const ExternalBase base, openBase(m_bench, m_base.base, task));
    OpenOptions plain;
    plain.layout = base.layout->word();
    DS_TRY(Run run, openRun(m_bench, m_base.base, plain, task));
    if (run.versions.size() != 1)
        return fail(Code::BaseMissing, "the folder given as base must hold one checkpoint", m_base.base->uri());
    return run;
}

bool HeadState::isBase(const RunEnd& head, const PathState& state, const State& from) const
{
    const StatePlace place = from.place();
    return head.step == 0 && place.step && place.isCheckpoint && place.where == state.place().where
        && place.step == state.place().step;
}

Result<std::optional<HeadDifference>> HeadState::differenceOf(const RunEnd& head, const State& other,
                                                              TaskContext& task) const
{
    const auto compare = [&](const PathPtr& state) -> Result<std::optional<Difference>> {
        if (isBase(head, *state, other))
            return std::optional<Difference>();
        if (std::optional<Difference> forms = differenceOfForms(head, *state, other))
            return forms;
        DS_TRY(const DiffReport report, diffStates(m_bench, *state, other, std::nullopt, task));
        if (report.elementsDifferent() == 0)
            return std::optional<Difference>();
        return std::optional(Difference {
            fmt::format("{} elements in {} tensors differ", report.elementsDifferent(), report.tensorsDifferent()),
            "publish from the state that the run ends with" });
    };
    return use(head, compare, task);
}

Result<void> HeadState::expect(const RunEnd& head, const State& from, TaskContext& task) const
{
    DS_TRY(const std::optional<Difference> difference, differenceOf(head, from, task));
    return difference ? Result<void>(fail(unlike(head, *difference))) : Result<void>();
}

Result<void> HeadState::expectSound(const RunEnd& head, const State* from, const WriterChoice& writers,
                                    TaskContext& task) const
{
    DS_TRY(const Run run, open(head, task));
    const Version* const newest = run.find(head.step);
    if (!newest)
        return fail(newestIsGone(run, head));
    Result<void> sound = expectSoundHead(m_bench, run, *newest, from, m_acceptRewritten, task);
    if (!sound && speaksOfAnObject(sound.error().code))
        return fail(cannotGoOn(sound.error(), writers));
    return sound;
}

std::optional<Error> HeadState::differenceInForm(const RunEnd& head, const State& from, TaskContext& task) const
{
    const auto compare = [&](const PathPtr& state) -> Result<std::optional<Error>> {
        const std::optional<Difference> difference = differenceOfForms(head, *state, from);
        return difference ? std::optional(unlike(head, *difference)) : std::nullopt;
    };
    return use(head, compare, task).value_or(std::nullopt);
}

Error HeadState::newestIsGone(const Run& run, const RunEnd& head)
{
    return { Code::NotFound, "the newest version of the run is gone", run.store->uri(), head.step, {} };
}

Error HeadState::unlike(const RunEnd& head, const Difference& difference) const
{
    if (head.step == 0)
        return { Code::BaseMismatch,
                 "the state to publish from is not the checkpoint given as base: " + difference.reason,
                 m_base.base->uri(), std::nullopt,
                 "Give the checkpoint to publish from as --base, or leave --base out" };
    return { Code::BaseMismatch,
             fmt::format("the state to publish from is not step {}, the newest of the run: {}", head.step,
                         difference.reason),
             m_run->uri(), head.step, difference.remedy };
}

} // namespace deltascope
