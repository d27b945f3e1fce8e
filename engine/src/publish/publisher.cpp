#include "deltascope/engine/publish.h"

#include "beside/lease/lease.h"
#include "deltascope/base/address.h"
#include "deltascope/engine/trace.h"
#include "lineage/health.h"
#include "lineage/placeholders.h"
#include "ops/adapter_settings.h"
#include "ops/judge_state.h"
#include "publish/head_state.h"
#include "publish/left_out.h"
#include "publish/publishable.h"
#include "publish/run_end.h"
#include "publish/step_facts.h"
#include "publish/tensor_difference.h"
#include "publish/version_build.h"
#include "publish/writer_choice.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace deltascope {

namespace {

/// "org/model@commit" where the base is a model of the Hub; else empty.
Result<std::string> modelOf(const ObjectStore* base, TaskContext& task)
{
    const std::optional<RemotePlace> place = base ? Address(base->uri()).remote() : std::nullopt;
    if (!place || place->kind != RemotePlace::Kind::HubModel)
        return std::string();
    DS_TRY(const std::string commit, base->revision(task));
    return place->bucket + "@" + commit;
}

}

struct Publisher::Session {
    Workbench& bench;
    std::shared_ptr<ObjectStore> store;
    OpenOptions base;
    PublishOptions options;
    WriterChoice writers;
    VersionBuild build;
    Lease lease;
    SpanWriter spans;
    RunEnd head = {}; ///< what was found, then what was put
    std::string baseModel = {}; ///< that a first delta builds on, as fact::BaseModel has it

    VersionFactMap facts(const std::string& origin) const
    {
        VersionFactMap facts { { std::string(fact::Form), "1" }, { std::string(fact::Run), head.runId } };
        if (!origin.empty())
            facts[std::string(fact::Origin)] = origin;
        if (head.step == 0 && !writers.hasAnchors() && !baseModel.empty())
            facts[std::string(fact::BaseModel)] = baseModel;
        if (!options.branch.empty() && head.step == 0)
            facts[std::string(fact::Branch)] = options.branch;
        if (options.restores)
            facts[std::string(fact::Restores)] = std::to_string(*options.restores);
        if (!store->traits().conditionalPut)
            facts[std::string(fact::SoleWriter)] = "1";
        return facts;
    }

    PublishedVersion next(const State& to, const std::string& origin) const
    {
        PublishedVersion version;
        version.step = head.step + 1;
        version.origin = origin;
        version.isAdapter = holdsAdapter(to);
        for (const TensorInfo& tensor : to.tensors())
            version.totalElements += tensor.elements();
        return version;
    }

    HeadState headState() const { return { bench, store, base, options.acceptRewritten }; }

    Result<void> expectFree(std::int64_t step, TaskContext& task)
    {
        for (const std::string& key : writers.committingKeys(step)) {
            const Result<ObjectInfo> there = store->stat(key, task);
            if (there)
                return fail(Error { Code::Exists, "somebody else has published this step", key, step,
                                    "find out who publishes here; start again to go on behind them" });
            if (there.error().code != Code::NotFound)
                return fail(there.error());
        }
        return {};
    }

    struct Times { ///< microseconds since 1970
        std::int64_t beganUs = 0;
        std::int64_t builtUs = 0;
        std::int64_t putUs = 0; ///< its first byte
    };
    /// Puts what was built, if everything that it was made from is as it was.
    Result<void> commit(VersionWriter& writer, const BuiltVersion& built, const State* from, const State& to,
                        PublishedVersion& version, const Times& times, TaskContext& task)
    {
        if (!version.anchor)
            DS_CHECK(writer.addFact(fact::Base, built.fromRoot));
        DS_CHECK(writer.addFact(fact::Root, built.toRoot));
        if (from)
            DS_CHECK(from->expectUnchanged(task));
        DS_CHECK(to.expectUnchanged(task));
        DS_CHECK(to.expectRecorded(built.toRoot, build.means(), task));
        DS_CHECK(lease.check(task));
        DS_CHECK(expectFree(version.step, task));
        DS_TRY(version.objects, writer.finish(*store, task));
        version.changedElements = built.changedElements;
        if (version.objects.empty())
            return {};
        std::uint64_t bytes = 0;
        for (const ObjectInfo& object : version.objects)
            bytes += object.sizeBytes;
        spans.add(Span { {},
                         "diff",
                         version.step,
                         head.epoch,
                         times.beganUs,
                         times.builtUs,
                         to.stateBytes(),
                         version.anchorReason });
        spans.add(Span { {}, "upload", version.step, head.epoch, times.putUs, bench.nowUs(), bytes, version.origin });
        head.step = version.step;
        head.base = version.anchor ? (head.epochBegun ? head.root : std::string()) : built.fromRoot;
        head.root = built.toRoot;
        head.beginsEpoch = !head.epochBegun;
        head.origin = version.origin;
        head.versionsSinceAnchor = version.anchor ? 0 : head.versionsSinceAnchor + 1;
        head.deltaBytes = version.anchor ? 0 : head.deltaBytes + bytes;
        VersionObjects put;
        put.objects = version.objects;
        head.identity = put.identity();
        head.isOwn = true;
        head.stateReads.clear();
        head.leftovers.clear();
        head.epochBegun = true;
        return {};
    }

    /// Whether states are judged before they are put. What a user chose by its step is not judged again.
    bool judges() const { return !options.allowSuspect && !options.restores && options.branch.empty(); }

    static tl::unexpected<Error> suspectValues(const std::string& reason, const std::string& origin)
    {
        return fail(Error { Code::SuspectValues, "its values are suspect: " + reason, origin, std::nullopt,
                            "publish a sound state; --allow-suspect publishes this one all the same" });
    }
    static Result<void> expectNoPlaceholders(const State* before, const State& to, const std::string& origin)
    {
        const std::string reason = placeholdersIn(to, before);
        return reason.empty() ? Result<void>() : suspectValues(reason, origin);
    }
    static Result<void> expectSound(const JudgedState& judged, const std::string& origin)
    {
        return judged.suspects.empty() ? Result<void>() : suspectValues(textOf(judged.suspects), origin);
    }

    /// Judges a state that becomes an anchor by the one that it follows, in a pass of its own: the anchor needs `to`
    /// alone. Whatever is judged, an epoch that has begun goes on with the same model. Errors: SuspectValues;
    /// BaseMismatch (it is another model).
    Result<void> judgeBeside(const State* from, const State& to, const std::string& origin, TaskContext& task)
    {
        const auto judge = [&](const State& before) -> Result<void> {
            if (head.epochBegun)
                DS_CHECK(expectSameTensors(before, to));
            if (!judges())
                return {};
            DS_CHECK(expectNoPlaceholders(&before, to, origin));
            DS_TRY(const WalkMeans means, bench.means());
            task.beginPhase("values", 2 * to.stateBytes());
            const StateBefore with { before, true, {} };
            DS_TRY(const JudgedState judged, judgeState(to, &with, means, task));
            return expectSound(judged, origin);
        };
        if (from)
            return judge(*from);
        return headState().use(
            head, [&](const PathPtr& state) -> Result<void> { return judge(*state); }, task);
    }

    /// `from`: the state with that root; null: it is that of the run. Errors: BaseMismatch, unless `root` is that of
    /// the newest state: why.
    Result<void> expectHead(const std::string& root, const State* from, TaskContext& task) const
    {
        if (head.root.empty() || root == head.root)
            return {};
        Error error { Code::BaseMismatch,
                      fmt::format("the state to publish from has root {}, step {}, the newest of the run, has root {}",
                                  root, head.step, head.root),
                      store->uri(), head.step, "publish from the state that the run ends with" };
        return fail(from ? reasonOf(std::move(error), *from, task) : std::move(error));
    }

    /// `error`; or, where that is the reason, that `from` has tensors of other names, dtypes or shapes than the run.
    Error reasonOf(Error error, const State& from, TaskContext& task) const
    {
        const bool mayBe =
            error.code == Code::BaseMismatch || error.code == Code::Unsupported || error.code == Code::SuspectValues;
        if (head.step == 0 || !mayBe)
            return error;
        return headState().differenceInForm(head, from, task).value_or(std::move(error));
    }

    /// Whether the newest version is the step from `from` to `to` already. Its roots say so, and its bytes must lead to
    /// `to`. Errors: Digest (they do not), those of the replay.
    Result<bool> isThere(const State& from, const State& to, TaskContext& task)
    {
        if (head.root.empty() || (options.newEpoch ? !head.beginsEpoch : head.base.empty()))
            return false;
        DS_TRY(const std::string root, build.rootOf(to, task));
        if (root != head.root)
            return false;
        if (!options.newEpoch) {
            DS_TRY(const std::string base, build.rootOf(from, task));
            if (base != head.base)
                return false;
        }
        DS_TRY(const std::optional<HeadState::Difference> difference, headState().differenceOf(head, to, task));
        if (!difference) {
            DS_CHECK(from.expectUnchanged(task));
            DS_CHECK(to.expectUnchanged(task));
            return true;
        }
        return fail(Error { Code::Digest,
                            fmt::format("step {} records that it is what was to be published, but its bytes give "
                                        "another state: {}",
                                        head.step, difference->reason),
                            store->uri(), head.step,
                            "verify the run; mend it, or begin a new epoch behind it with --new-epoch" });
    }

    /// Bytes that are not what is on record say more than what they lead to. Errors: also SuspectValues.
    Result<BuiltVersion> buildDelta(VersionWriter& writer, const State& from, const State& to,
                                    const std::string& origin, TaskContext& task)
    {
        const StateBefore before { from, true, {} };
        std::optional<StateJudge> judge;
        if (judges()) {
            DS_CHECK(expectSameTensors(from, to));
            DS_CHECK(expectNoPlaceholders(&from, to, origin));
            judge.emplace(&before, build.backend());
        }
        Result<BuiltVersion> built = build.delta(writer, from, to, judge ? &*judge : nullptr, task);
        if (!built)
            return fail(to.reasonOf(from.reasonOf(std::move(built.error()), task), task));
        if (judge)
            DS_CHECK(expectSound(judge->take(), origin));
        DS_CHECK(from.expectUnchanged(task));
        return built;
    }

    /// Puts what is next, under the names that it is published with.
    Result<PublishedVersion> put(const State* from, const State& to, const std::string& origin, TaskContext& task)
    {
        DS_CHECK(lease.check(task));
        const auto stateBytes = [&]() -> Result<std::uint64_t> { return to.stateBytes(); };
        DS_TRY(DueVersion due, dueVersion(head, writers, options, stateBytes));
        PublishedVersion version = next(to, origin);
        version.anchor = due.anchor;
        version.anchorReason = std::move(due.anchorReason);
        return due.anchor ? putAnchor(from, to, std::move(version), task)
                          : putDelta(from, to, std::move(version), task);
    }

    Result<PublishedVersion> putAnchor(const State* from, const State& to, PublishedVersion version, TaskContext& task)
    {
        if (from && head.step > 0 && head.epochBegun) {
            DS_TRY(const std::string root, build.rootOf(*from, task));
            DS_CHECK(expectHead(root, from, task));
        }
        const bool follows = from || (head.step > 0 && head.epochBegun);
        std::optional<StateJudge> judge;
        if (follows) {
            DS_CHECK(judgeBeside(from, to, version.origin, task));
        } else if (judges()) {
            DS_CHECK(expectNoPlaceholders(nullptr, to, version.origin));
            judge.emplace(nullptr, build.backend());
        }
        const std::int64_t startedUs = bench.nowUs();
        DS_TRY(const std::unique_ptr<VersionWriter> writer,
               writers.anchor(version.step, facts(version.origin), to.copyOfTensors()));
        const std::string anyRoot(2 * sizeof(Digest128), '0');
        const bool isStreamed = writer->putWhileAdding(*store, { { std::string(fact::Root), anyRoot } });
        const Result<BuiltVersion> built = build.anchor(*writer, to, judge ? &*judge : nullptr, task);
        if (!built && built.error().code != Code::SuspectValues)
            return fail(to.reasonOf(built.error(), task));
        if (judge)
            DS_CHECK(expectSound(judge->take(), version.origin));
        const Times times { startedUs, bench.nowUs(), isStreamed ? startedUs : bench.nowUs() };
        DS_CHECK(commit(*writer, *built, nullptr, to, version, times, task));
        return version;
    }

    Result<PublishedVersion> putDelta(const State* from, const State& to, PublishedVersion version, TaskContext& task)
    {
        struct Ready {
            std::unique_ptr<VersionWriter> writer;
            BuiltVersion built;
            PathPtr replayed; ///< null: from what the caller has
        };
        std::int64_t startedUs = bench.nowUs();
        const auto makeReady = [&](const State& state) -> Result<Ready> {
            startedUs = bench.nowUs();
            DS_TRY(std::unique_ptr<VersionWriter> writer,
                   writers.delta(version.step, facts(version.origin), build.backend()));
            DS_TRY(BuiltVersion built, buildDelta(*writer, state, to, version.origin, task));
            return Ready { std::move(writer), std::move(built), nullptr };
        };
        const auto replay = [&](PathPtr state) -> Result<Ready> {
            DS_TRY(Ready ready, makeReady(*state));
            ready.replayed = std::move(state);
            return ready;
        };
        if (from && head.root.empty() && (head.step > 0 || base.base)) // no root tells which state it is
            DS_CHECK(headState().expect(head, *from, task));
        const Result<Ready> ready = from ? makeReady(*from) : headState().use(head, replay, task);
        if (!ready)
            return fail(from ? reasonOf(ready.error(), *from, task) : ready.error());
        const std::int64_t builtUs = bench.nowUs();
        DS_CHECK(expectHead(ready->built.fromRoot, from, task));
        if (from && head.step > 0 && !head.root.empty() && !head.isOwn) // else it was read to its end, or just put
            DS_CHECK(headState().expectSound(head, from, writers, task));
        DS_CHECK(commit(*ready->writer, ready->built, from ? from : ready->replayed.get(), to, version,
                        { startedUs, builtUs, builtUs }, task));
        return version;
    }
};

Publisher::Publisher(std::unique_ptr<Session> session)
    : m_session(std::move(session))
{
}
Publisher::Publisher(Publisher&&) noexcept = default;
Publisher::~Publisher() = default;

Result<Publisher> Publisher::open(Workbench& bench, std::shared_ptr<ObjectStore> into, const OpenOptions& base,
                                  const PublishOptions& options, TaskContext& task)
{
    DS_TRY(WriterChoice writers, WriterChoice::of(options, bench.scratchFolder));
    DS_TRY(WalkMeans means, bench.means());
    DS_TRY(Lease lease, Lease::acquire(into, options.actor, bench.nowUs, options.lease, task));
    std::unique_ptr<Session> session(new Session { bench, into, base, options, std::move(writers),
                                                   VersionBuild(std::move(means)), std::move(lease),
                                                   SpanWriter(into, options.actor, &task) });
    DS_TRY(session->head, findRunEnd(bench, into, base, options, session->writers, task));
    DS_TRY(session->baseModel, modelOf(base.base.get(), task));
    return Publisher(std::move(session));
}

std::optional<std::int64_t> Publisher::headStep() const noexcept
{
    return m_session->head.step > 0 ? std::optional(m_session->head.step) : std::nullopt;
}

const std::string& Publisher::headOrigin() const noexcept { return m_session->head.origin; }

const std::string& Publisher::headRoot() const noexcept { return m_session->head.root; }

std::int64_t Publisher::publishedUs() const noexcept { return m_session->head.publishedUs; }

Result<PublishedVersion> Publisher::publish(const State* from, const State& to, const std::string& origin,
                                            TaskContext& task)
{
    const TaskContext::Patience patience(task);
    Session& session = *m_session;
    DS_CHECK(expectElements(to, origin));
    if (from && session.head.epochBegun)
        DS_CHECK(expectSameSettings(*from, to, origin, task));
    DS_TRY(const PublishedStep step, PublishedStep::of(from, to, session.options.prefixes));
    DS_CHECK(expectNamesOfBase(session.head, session.writers, step));
    return session.put(step.from(), step.to(), origin, task);
}

Result<PublishPlan> Publisher::plan(const StepToPublish& step, bool onlyFind, TaskContext& task) const
{
    const Session& session = *m_session;
    return planStep(session.head, session.writers, session.options, session.store.get(), step, onlyFind, task);
}

Result<std::vector<PublishedVersion>> Publisher::begin(const NamedState& from, const NamedState& to, TaskContext& task)
{
    const TaskContext::Patience patience(task);
    Session& session = *m_session;
    DS_CHECK(expectElements(from.state, from.origin));
    DS_CHECK(expectElements(to.state, to.origin));
    DS_CHECK(expectSameSettings(from.state, to.state, to.origin, task));
    DS_TRY(const PublishedStep step, PublishedStep::of(&from.state, to.state, session.options.prefixes));
    const std::int64_t startedUs = session.bench.nowUs();
    PublishedVersion delta = session.next(step.to(), to.origin);
    ++delta.step; // behind the anchor, which is put only once this is sure to follow
    DS_TRY(const std::unique_ptr<VersionWriter> writer,
           session.writers.delta(delta.step, session.facts(to.origin), session.build.backend()));
    DS_TRY(const BuiltVersion built, session.buildDelta(*writer, *step.from(), step.to(), to.origin, task));
    const std::int64_t builtUs = session.bench.nowUs();
    DS_CHECK(step.to().expectRecorded(built.toRoot, session.build.means(), task)); // before anything is put
    DS_TRY(PublishedVersion anchor, session.put(nullptr, *step.from(), from.origin, task));
    DS_CHECK(session.expectHead(built.fromRoot, nullptr, task)); // the very state that was put
    const std::int64_t putUs = session.bench.nowUs();
    DS_CHECK(session.commit(*writer, built, step.from(), step.to(), delta, { startedUs, builtUs, putUs }, task));
    return std::vector<PublishedVersion> { std::move(anchor), std::move(delta) };
}

Result<std::optional<PublishedVersion>> Publisher::find(const NamedState& from, const NamedState& to, TaskContext& task)
{
    DS_TRY(const PublishedStep step, PublishedStep::of(&from.state, to.state, m_session->options.prefixes));
    DS_TRY(const bool there, m_session->isThere(*step.from(), step.to(), task));
    if (!there)
        return std::optional<PublishedVersion>();
    PublishedVersion version = m_session->next(step.to(), to.origin);
    version.step = m_session->head.step;
    version.wasThere = true;
    return std::optional(std::move(version));
}

Result<void> Publisher::keepAlive(TaskContext& task)
{
    m_session->spans.flush();
    return m_session->lease.check(task);
}

void Publisher::note(std::int64_t step, const std::string& text)
{
    const std::int64_t now = m_session->bench.nowUs();
    m_session->spans.add(Span { {}, std::string(Span::Note), step, m_session->head.epoch, now, now, 0, text });
}

void Publisher::leaveOut(const std::string& origin, const Error& why)
{
    m_session->spans.add(leftOutSpan(origin, why, m_session->head.epoch, m_session->bench.nowUs()));
    m_session->spans.flush();
}

void Publisher::passOver(const std::vector<std::string>& origins, const std::string& why)
{
    note(headStep().value_or(-1), passedOverNote(origins, why));
}

Result<PastCheckpoints> Publisher::pastOf(const std::vector<std::string>& origins, TaskContext& task) const
{
    PastCheckpoints past;
    DS_TRY(const Trace trace, TraceReader().read(*m_session->store, task));
    const LeftOut leftOut(trace, m_session->head.epoch);
    for (const std::string& origin : origins) {
        if (const auto known = m_session->head.origins.find(origin); known != m_session->head.origins.end())
            past.published.insert(*known);
        else if (std::optional<Error> why = leftOut.find(origin))
            past.leftOut.emplace(origin, std::move(*why));
        else if (!leftOut.isPassedOver(origin))
            past.unknown.insert(origin);
    }
    return past;
}

Result<bool> Publisher::hasRoot(const State& state, const std::string& root, TaskContext& task) const
{
    const Result<PublishedStep> step = PublishedStep::of(nullptr, state, m_session->options.prefixes);
    if (!step && step.error().code == Code::BaseMismatch)
        return false; // it has other names
    if (!step)
        return fail(step.error());
    DS_TRY(const std::string now, m_session->build.rootOf(step->to(), task));
    return now == root;
}

} // namespace deltascope
