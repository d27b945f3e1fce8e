#include "watching.h"

#include "affordable_reads.h"
#include "annotation_jobs.h"
#include "heat_columns.h"
#include "opening.h"
#include "view/make_views.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace deltascope::app {

namespace {

using Clock = std::chrono::steady_clock;
using IndexRange = std::pair<std::size_t, std::size_t>;

/// Whether a source that was seen once may be seen again, whatever keeps it away now.
bool mayPass(Code code)
{
    return code == Code::Transient || code == Code::Auth || code == Code::NotFound || code == Code::Io;
}

bool needsReplay(const Version& version) { return !version.facts && !version.failure && !version.beingWritten; }

/// Stretches from one anchor to the next that hold something unknown, the newest first.
std::vector<IndexRange> unknownChains(const Run& run)
{
    std::vector<IndexRange> chains;
    bool unknown = false;
    for (std::size_t i = 0, first = 0; i < run.versions.size(); ++i) {
        unknown = unknown || needsReplay(run.versions[i]);
        const bool last = i + 1 == run.versions.size() || run.versions[i + 1].kind == VersionKind::Anchor
            || run.versions[i + 1].epoch != run.versions[i].epoch;
        if (!last)
            continue;
        if (unknown)
            chains.emplace_back(first, i);
        first = i + 1;
        unknown = false;
    }
    std::reverse(chains.begin(), chains.end());
    return chains;
}

class Follower {
public:
    Follower(Workbench& bench, const SourceRequest& request, Depth depth, const WatchPeriods& periods,
             StateTensors& tensors, std::atomic<std::uint64_t>& revision, const TellRun& tell)
        : m_bench(bench)
        , m_request(request)
        , m_depth(depth)
        , m_periods(periods)
        , m_revision(revision)
        , m_tell(tell)
        , m_logs(request.logs, bench.nowUs)
        , m_listing(bench.nowUs)
        , m_heat(tensors)
    {
    }

    Result<void> follow(TaskContext& task)
    {
        DS_TRY(m_store, m_bench.stores->open(m_request.source));
        if (!isPolled()) {
            DS_TRY(m_changes, m_store->watch()); // before the first look, so that nothing is missed
        }
        for (;;) {
            DS_TRY(const bool moreLogged, m_logs.read(task));
            if (Result<void> looked = look(task); !looked) {
                if (!m_last || !mayPass(looked.error().code))
                    return looked;
                m_listing.suspect();
                tellLost(looked.error());
            }
            const auto pause = moreLogged ? std::chrono::milliseconds(0) : m_periods.poll;
            DS_TRY(m_changed, waitForChange(pause, task));
        }
    }

private:
    bool isRemote() const { return m_store->traits().keepsReads; }
    /// Nothing tells of changes, and looking for them costs requests: a look at its time is all there is.
    bool isPolled() const { return isRemote() && !m_store->traits().pushesChanges; }

    /// Whether something may have changed meanwhile.
    Result<bool> waitForChange(std::chrono::milliseconds time, TaskContext& task)
    {
        if (m_changes)
            return m_changes->wait(time, task);
        constexpr std::chrono::milliseconds Slice { 50 };
        for (const Clock::time_point end = Clock::now() + time; Clock::now() < end;) {
            DS_CHECK(task.checkpoint());
            std::this_thread::sleep_for(Slice);
        }
        return true;
    }

    Result<void> look(TaskContext& task)
    {
        Result<Run> run = openRequested(m_bench, m_request, task,
                                        isRemote() ? std::optional(KeptLook { m_listing, m_changed }) : std::nullopt);
        if (!run)
            m_listing.suspect();
        // A source whose first version is still on its way has no layout yet; one that was wiped may come back.
        if (!run && run.error().code != Code::Layout && run.error().code != Code::ListSuspect)
            return fail(std::move(run.error()));
        if (!run) {
            if (!m_last)
                tellNothing(run.error());
            else
                tellLost(run.error());
            return {};
        }
        DS_TRY(m_trace, m_reader.read(*m_store, run->beside, task));
        DS_TRY(m_annotations, annotationsOf(m_bench, *run, task));
        if (m_depth == Depth::Replayed)
            DS_CHECK(replay(*run, {}, task));
        if (m_depth == Depth::Progressive) {
            DS_TRY(const bool upToDate, replayProgressively(*run, task));
            if (!upToDate)
                return look(task);
        }
        return tellIfNew(*run, true, task);
    }

    Result<void> replay(Run& run, std::optional<IndexRange> range, TaskContext& task)
    {
        const std::vector<std::string> keys = chainKeys(run);
        AnalyzeOptions options;
        options.range = range;
        options.standAloneBytes = affordableBytes(run);
        options.onCounts = [&](std::size_t version, const std::vector<TensorCount>& counts) {
            m_heat.learn(keys[version], counts);
        };
        return analyzeRun(m_bench, run, options, task);
    }

    /// False: the source changed on the way. What is newer comes first; the catalog keeps what was replayed.
    Result<bool> replayProgressively(Run& run, TaskContext& task)
    {
        const std::vector<IndexRange> chains = unknownChains(run);
        if (chains.size() <= 1) {
            DS_CHECK(replay(run, {}, task));
            return true;
        }
        DS_CHECK(tellIfNew(run, false, task));
        Clock::time_point told = Clock::now();
        for (const IndexRange& chain : chains) {
            DS_CHECK(replay(run, chain, task));
            if (Clock::now() - told < m_periods.patience)
                continue;
            DS_CHECK(tellIfNew(run, false, task));
            told = Clock::now();
            if (!m_bench.catalog || isPolled())
                continue;
            DS_TRY(m_changed, m_changes->wait(std::chrono::milliseconds(0), task));
            if (m_changed)
                return false;
        }
        return true;
    }

    Result<void> tellIfNew(const Run& run, bool settled, TaskContext& task)
    {
        std::vector<Error> changed = changedSinceSeen(m_bench, run);
        std::string now = fingerprint(run) + (settled ? " settled" : "");
        for (const Error& change : changed)
            now += "\n" + change.where + " " + change.text;
        if (m_last && now == m_seen) {
            tellAgain();
            return {};
        }
        const SeenChanges changes = seenChanges(run, std::move(changed));
        if (m_depth != Depth::Headers) {
            Result<std::shared_ptr<const HeatView>> heat =
                m_heat.view(m_bench, run, changes.miscounted, m_revision + 1, task);
            if (!heat && heat.error().code == Code::Canceled)
                return fail(std::move(heat.error()));
            if (heat) // else the last one stays: the run itself tells what is wrong with it
                m_lastHeat = std::move(*heat);
        }
        m_seen = std::move(now);
        RunView view = runViewOf(run, changes, m_annotations, m_trace, m_logs, ++m_revision, m_bench.nowUs());
        view.settled = settled;
        view.meter = meterOf(*m_bench.stores, view.source);
        view.listedUs = m_listing.wholeAtUs();
        m_last = std::make_shared<const RunView>(std::move(view));
        m_told = Clock::now();
        m_tell(m_last, m_lastHeat);
        return {};
    }

    /// A quiet source that was looked at is another thing than one without contact.
    void tellAgain()
    {
        if (Clock::now() - m_told < m_periods.silence)
            return;
        m_told = Clock::now();
        m_tell(m_last, m_lastHeat);
    }

    void tellNothing(const Error& error)
    {
        if (m_seen == error.text)
            return;
        m_seen = error.text;
        RunView nothing = makeEmptyRunView(m_store->uri(), error);
        nothing.revision = ++m_revision;
        m_tell(std::make_shared<const RunView>(std::move(nothing)), nullptr);
    }

    /// The run as it was, with the reason why it cannot be seen any more.
    void tellLost(const Error& error)
    {
        if (m_seen == error.text)
            return;
        m_seen = error.text;
        RunView lost = *m_last;
        lost.lost = problemView(error);
        if (error.code == Code::ListSuspect)
            lost.events.push_back(*lost.lost);
        lost.revision = ++m_revision;
        m_tell(std::make_shared<const RunView>(std::move(lost)), m_lastHeat);
    }

    std::string fingerprint(const Run& run) const
    {
        std::string text;
        for (const Version& version : run.versions)
            text += fmt::format("{}{}{}{}\n", version.objects.identity(), word(version.state),
                                version.obstacle.has_value(), version.facts.has_value());
        for (const Error& notice : run.sourceNotices)
            text += notice.text + '\n';
        for (const GoneVersion& gone : run.gone)
            text += fmt::format("gone {}:{}\n", gone.epoch, gone.step);
        text += run.recordsLost ? "records lost\n" : "";
        for (const Heartbeat& replica : m_trace.replicas)
            text += fmt::format("{}{}{}{}{}{}\n", replica.id, replica.state, replica.step, replica.tUs,
                                isLate(replica, m_bench.nowUs()), isSaidForLong(replica, m_bench.nowUs()));
        for (const Ref& ref : m_annotations.refs)
            text += fmt::format("{} {} {}\n", ref.word(), ref.number, ref.isLocal);
        text += fmt::format("{} notes\n", m_annotations.notes.size());
        std::int64_t ends = 0; // an actor may tell late of what ended before the newest span
        for (const Span& span : m_trace.spans)
            ends ^= span.t1Us;
        return text + fmt::format("{} {} {}", m_trace.spans.size(), ends, m_logs.revision());
    }

    Workbench& m_bench;
    const SourceRequest& m_request;
    Depth m_depth;
    const WatchPeriods& m_periods;
    std::atomic<std::uint64_t>& m_revision;
    const TellRun& m_tell;
    LogReader m_logs;
    KeptListing m_listing;
    bool m_changed = true; ///< since the last look
    std::shared_ptr<ObjectStore> m_store;
    std::unique_ptr<StoreWatch> m_changes;
    TraceReader m_reader;
    Trace m_trace;
    Annotations m_annotations;
    HeatColumns m_heat;
    std::shared_ptr<const RunView> m_last;
    std::shared_ptr<const HeatView> m_lastHeat;
    std::string m_seen;
    Clock::time_point m_told;
};

}

Result<void> watchRun(Workbench& bench, const SourceRequest& request, Depth depth, const WatchPeriods& periods,
                      StateTensors& tensors, std::atomic<std::uint64_t>& revision, const TellRun& tell,
                      TaskContext& task)
{
    return Follower(bench, request, depth, periods, tensors, revision, tell).follow(task);
}

} // namespace deltascope::app
