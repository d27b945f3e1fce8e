#include "deltascope/engine/publish.h"

#include "format/common/checkpoint_folders.h"
#include "format/common/object_names.h"
#include "publish/checkpoint_queue.h"
#include "publish/rewritten_checkpoints.h"
#include "publish/unread_folders.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace deltascope {

namespace {

constexpr std::int64_t SilentUs = 5'000'000; ///< for so long nobody wonders what the program waits for

/// The checkpoint itself went away or is being written again: another one will come.
bool concernsTheCheckpoint(Code code)
{
    return code == Code::Rewritten || code == Code::NotFound || code == Code::Truncated;
}

/// Whether an error is of an object of a checkpoint.
bool isOf(const Error& error, const std::string& label)
{
    return error.where == label || error.where.starts_with(label + "/");
}

/// "checkpoint-120" → 120.
std::int64_t numberIn(const std::string& label)
{
    if (const std::optional<std::int64_t> step = stepInName(splitKey(label).file))
        return *step;
    const std::size_t digits = label.find_last_not_of("0123456789");
    return parseNumber(std::string_view(label).substr(digits == std::string::npos ? 0 : digits + 1)).value_or(-1);
}

/// Publishes the checkpoints of one folder as they come, and says what it waits for and what it leaves out.
class CheckpointFollower {
public:
    CheckpointFollower(Workbench& bench, std::shared_ptr<ObjectStore> checkpoints, Publisher& publisher,
                       const FollowOptions& options)
        : m_bench(bench)
        , m_checkpoints(std::move(checkpoints))
        , m_publisher(publisher)
        , m_options(options)
        , m_queue(bench, m_checkpoints, options)
        , m_begun(publisher.headOrigin().empty() ? -1 : numberIn(publisher.headOrigin()))
        , m_last(m_begun)
        , m_rewritten(m_queue, publisher,
                      [this](const std::string& name, const std::string& why) { say({ name }, why); })
    {
    }

    Result<void> run(TaskContext& task)
    {
        DS_TRY(const std::unique_ptr<StoreWatch> changes, m_checkpoints->watch());
        for (;;) {
            if (Result<void> scanned = m_queue.scan(task); !scanned) {
                DS_CHECK(waitForTheFolder(std::move(scanned.error()), *changes, task));
                continue;
            }
            m_suspectSinceUs.reset();
            if (!std::exchange(m_isBegun, true)) {
                sayWhetherEmpty();
                DS_CHECK(namePast(task));
            }
            nameBehind();
            DS_CHECK(m_rewritten.look(task));
            m_backlogEnd = m_backlogEnd.value_or(m_queue.newestStep());
            if (m_queue.isOfEarlierRun(m_publisher.headOrigin()))
                return fail(
                    Code::Fork,
                    fmt::format("the newest published state is {}, which is of an earlier run than the newest "
                                "checkpoints here: one is not chained to the other",
                                m_publisher.headOrigin()),
                    m_checkpoints->uri(),
                    "Pass --new-epoch once: the newest run then begins behind what is published, with an anchor. "
                    "Or publish it into another folder.");
            DS_TRY(CheckpointQueue::Look look, m_queue.lookBehind(m_last, m_begun, task));
            leaveOut(look);
            if (!look.ready.empty() && !waitsForAnEarlierOne(look)) {
                DS_TRY(const bool isThere, publishNext(look, task));
                if (!isThere)
                    DS_CHECK(changes->wait(std::chrono::milliseconds(200), task));
                continue;
            }
            DS_CHECK(keepAlive(task));
            const bool waits = !look.unready.empty() || m_unread.waits() || m_rewritten.waits();
            if (m_options.once && !waits)
                return outcome();
            sayWhatFor(look.unready);
            DS_CHECK(changes->wait(std::chrono::milliseconds(waits ? 200 : 1000), task));
        }
    }

private:
    using Unready = CheckpointQueue::Unready;

    /// Whether somebody who waits for checkpoints waits for a store, too.
    bool isWaitedFor(const Error& error) const { return error.code == Code::Transient && !m_options.once; }

    /// Nothing is published meanwhile, and who publishes next finds out whether the lease is still ours.
    Result<void> keepAlive(TaskContext& task)
    {
        Result<void> kept = m_publisher.keepAlive(task);
        const bool wasCutOff = std::exchange(m_isCutOff, !kept && isWaitedFor(kept.error()));
        if (m_isCutOff && !wasCutOff && m_options.onWaiting)
            m_options.onWaiting(fmt::format("waiting for the run: {}", kept.error().text));
        return m_isCutOff ? Result<void>() : kept;
    }

    /// A folder is empty for a moment where its trainer keeps only the newest checkpoint, and for longer while its
    /// mount is away. Errors: `error`, where waiting mends nothing.
    Result<void> waitForTheFolder(Error error, StoreWatch& changes, TaskContext& task)
    {
        if (error.code != Code::ListSuspect && !isWaitedFor(error))
            return fail(std::move(error));
        const std::int64_t since = m_suspectSinceUs.value_or(m_bench.nowUs());
        const bool isNew = !std::exchange(m_suspectSinceUs, since);
        if (m_options.once && m_bench.nowUs() - since >= SilentUs)
            return fail(std::move(error));
        if (isNew && !m_options.once && m_options.onWaiting)
            m_options.onWaiting(fmt::format("waiting for the next checkpoint: {}", error.text));
        DS_CHECK(keepAlive(task));
        DS_CHECK(changes.wait(std::chrono::milliseconds(m_options.once ? 200 : 1000), task));
        return {};
    }

    void sayWhetherEmpty() const
    {
        if (m_queue.isEmpty() && m_options.onWaiting)
            m_options.onWaiting(fmt::format("{} holds no checkpoint{}", m_checkpoints->uri(),
                                            m_options.once ? "" : " yet; waiting for the first one"));
    }

    void say(const std::vector<std::string>& names, const std::string& why)
    {
        m_publisher.note(m_publisher.headStep().value_or(-1), fmt::format("{}: {}", fmt::join(names, ", "), why));
        if (m_options.onSkipped)
            m_options.onSkipped(names, why);
    }

    /// That a checkpoint is not published, once for each state of it.
    void fails(const Unready& checkpoint, const std::string& why)
    {
        const auto [known, isNew] = m_failed.try_emplace(checkpoint.name);
        if (!isNew && known->second.state == checkpoint.state)
            return;
        known->second = { checkpoint.number, checkpoint.state, *checkpoint.flaw };
        sayLeftOut(checkpoint.name, *checkpoint.flaw, why);
    }

    void sayLeftOut(const std::string& name, const Error& error, const std::string& why)
    {
        m_publisher.leaveOut(name, error);
        if (m_options.onSkipped)
            m_options.onSkipped({ name }, why);
    }

    /// Names what an act before this one left out or did not see, as far as it lies there and newer ones are published:
    /// this one will not look at it again.
    Result<void> namePast(TaskContext& task)
    {
        const std::map<std::string, std::int64_t> numbered = m_queue.numbered();
        std::vector<std::string> names;
        for (const auto& [name, number] : numbered) {
            if (number <= m_begun)
                names.push_back(name);
        }
        if (names.empty())
            return {};
        DS_TRY(const PastCheckpoints past, m_publisher.pastOf(names, task));
        for (const std::string& name : names) {
            const Version* const version = past.unknown.contains(name) ? m_queue.find(name) : nullptr;
            // What lay there when the newest version was put was seen then, whatever is left of the notes on that.
            if (!version || version->objects.publishedUs() <= m_publisher.publishedUs())
                m_done.insert(name);
        }
        m_rewritten.addPast(past.published);
        for (const auto& [name, why] : past.leftOut) {
            Failed& failed = m_failed[name];
            failed = { numbered.at(name), {}, why };
            failed.error.action =
                "Newer ones are published: remove it if nobody misses it, or publish it into another folder";
            if (m_options.onSkipped)
                m_options.onSkipped({ name }, fmt::format("not published, and left out before: {}", why.text));
        }
        return {};
    }

    /// Names checkpoints that came when ones with a higher number were published already.
    void nameBehind()
    {
        for (const auto& [name, number] : m_queue.numbered()) {
            if (number >= m_last || m_failed.contains(name) || m_done.contains(name) || !m_queue.find(name))
                continue;
            m_done.insert(name);
            Error error {
                Code::Fork,
                fmt::format("it came after {} was published, which has a higher number", m_publisher.headOrigin()),
                name, number,
                "Remove it if nobody misses it. If its run begins again, pass --new-epoch once, or publish it "
                "into another folder"
            };
            sayLeftOut(name, error, "not published: " + error.text);
            m_failed[name] = { number, {}, std::move(error) };
        }
    }

    /// Takes out of `look` what is not published as it lies there, and says so.
    void leaveOut(CheckpointQueue::Look& look)
    {
        std::vector<std::string> earlier;
        for (const Version* version : look.earlier) {
            if (m_earlier.insert(checkpointLabel(*version)).second)
                earlier.push_back(checkpointLabel(*version));
        }
        if (!earlier.empty())
            say(earlier, "not published: of an earlier run in the same folder than the newest checkpoints");
        std::erase_if(look.unread, [&](const UnreadFolder& folder) { return m_done.contains(folder.name); });
        for (const UnreadReport::News& news : m_unread.take(look.unread)) {
            for (const std::string& name : news.names)
                m_publisher.leaveOut(name, Error { Code::Layout, news.what, name, {}, {} });
            if (m_options.onSkipped)
                m_options.onSkipped(news.names, fmt::format("not published, {}; {}", news.what, news.remedy));
        }
        std::erase_if(look.unready, [&](const Unready& checkpoint) {
            if (m_done.contains(checkpoint.name) && !m_queue.find(checkpoint.name))
                return true; // its trainer takes it away piece by piece
            if (!checkpoint.flaw || !checkpoint.isSettled)
                return false;
            fails(checkpoint,
                  fmt::format("not published: {}; nothing in it has changed for {:g} s", checkpoint.flaw->text,
                              m_options.settleSeconds));
            return true;
        });
    }

    /// Whether a whole checkpoint of the backlog, in front of those that are ready, only has to stay quiet.
    bool waitsForAnEarlierOne(const CheckpointQueue::Look& look) const
    {
        const std::int64_t first = look.ready.front()->step();
        return m_options.marker.empty() && first <= *m_backlogEnd
            && std::any_of(look.unready.begin(), look.unready.end(), [&](const Unready& checkpoint) {
                   return !checkpoint.flaw && !checkpoint.isQuiet && m_queue.find(checkpoint.name)
                       && checkpoint.number < first;
               });
    }

    void sayWhatFor(const std::vector<Unready>& unready)
    {
        for (const Unready& checkpoint : unready) {
            const auto [known, isNew] = m_waited.try_emplace(checkpoint.name, Waited { m_bench.nowUs(), false });
            const bool isLong = m_bench.nowUs() - known->second.sinceUs >= SilentUs || checkpoint.isQuiet;
            if (!isLong || std::exchange(known->second.isSaid, true) || !m_options.onWaiting)
                continue;
            m_options.onWaiting(fmt::format("waiting for {}: {}; it is left out if nothing in it changes for {:g} s",
                                            checkpoint.name, checkpoint.why, m_options.settleSeconds));
        }
    }

    /// Publishes one of the checkpoints that are ready. False: it changed meanwhile.
    Result<bool> publishNext(const CheckpointQueue::Look& look, TaskContext& task)
    {
        const std::vector<const Version*>& ready = look.ready;
        const bool isBacklog = ready.front()->step() <= *m_backlogEnd;
        const Version& chosen = isBacklog ? *ready.front() : *ready.back();
        const std::string label = checkpointLabel(chosen);
        passOver(look, chosen, isBacklog);
        Result<PublishedVersion> version = publishChosen(chosen, task);
        if (!version && concernsTheCheckpoint(version.error().code)
            && version.error().step.value_or(chosen.step()) == chosen.step()) {
            DS_TRY(const bool isAsListed, m_queue.isAsListed(chosen, task));
            if (!isAsListed) {
                m_done.insert(label);
                say({ label }, "changed or vanished while it was read");
                return false;
            }
        }
        if (!version && isPassedOver(version.error(), label)) {
            m_last = chosen.step();
            m_done.insert(label);
            sayLeftOut(label, version.error(), whyPassedOver(version.error()));
            m_failed[label] = { chosen.step(), {}, std::move(version.error()) };
            return true;
        }
        if (!version) {
            Error error = std::move(version.error());
            if (error.where.empty())
                error.where = label;
            return fail(std::move(error));
        }
        m_last = chosen.step();
        m_done.insert(label);
        m_rewritten.add(chosen, m_publisher.headRoot());
        m_failed.erase(label);
        m_hasPublished = true;
        for (const Error& problem : chosen.problems) {
            if (problem.code == Code::TwoModels || problem.code == Code::Unlisted)
                say({ label }, problem.text);
        }
        if (m_options.onVersion)
            m_options.onVersion(*version);
        return true;
    }

    /// Says which checkpoints in front of the chosen one will not be published any more.
    void passOver(const CheckpointQueue::Look& look, const Version& chosen, bool isBacklog)
    {
        std::vector<std::string> names;
        for (const Version* version : look.ready) {
            if (!isBacklog && version != &chosen)
                names.push_back(checkpointLabel(*version));
        }
        for (const Unready& checkpoint : look.unready) {
            if (checkpoint.number < 0 || checkpoint.number >= chosen.step() || !m_queue.find(checkpoint.name))
                continue;
            if (checkpoint.flaw) {
                fails(checkpoint,
                      fmt::format("not published: it was not complete when {} was ({})", checkpointLabel(chosen),
                                  checkpoint.flaw->text));
                m_done.insert(checkpoint.name);
            } else {
                names.push_back(checkpoint.name);
            }
        }
        if (names.empty())
            return;
        m_done.insert(names.begin(), names.end());
        const std::string why =
            fmt::format("publishing takes longer than training; {} holds their changes too", checkpointLabel(chosen));
        m_publisher.passOver(names, why);
        if (m_options.onSkipped)
            m_options.onSkipped(names, "passed over, " + why);
    }

    Result<PublishedVersion> publishChosen(const Version& chosen, TaskContext& task)
    {
        const std::string label = checkpointLabel(chosen);
        DS_TRY(const PathPtr to, m_queue.open(chosen, task));
        DS_TRY(PublishedVersion version, publishState(*to, label, task));
        for (const std::string& key : to->rewritten())
            say({ label }, "rewritten since it was first seen, and used: " + key);
        for (const Error& notice : to->readNotices())
            say({ label }, fmt::format("{}: {}", notice.where, notice.text));
        return version;
    }

    Result<PublishedVersion> publishState(const State& to, const std::string& label, TaskContext& task)
    {
        const std::string origin = m_publisher.headOrigin();
        if (const Version* before = m_queue.find(origin)) {
            if (const Result<PathPtr> from = m_queue.open(*before, task)) {
                Result<PublishedVersion> version = m_publisher.publish(from->get(), to, label, task);
                if (version
                    || (version.error().code != Code::BaseMismatch && !concernsTheCheckpoint(version.error().code)
                        && !isOf(version.error(), origin)))
                    return version; // else that checkpoint is no longer what was published from it, or not there
            }
        }
        return m_publisher.publish(nullptr, to, label, task);
    }

    /// Whether an error speaks against the checkpoint alone, so that another one may be published.
    bool isPassedOver(const Error& error, const std::string& label) const
    {
        if (error.code == Code::SuspectValues)
            return true;
        if (error.code == Code::BaseMismatch) // of the first one: this run is not of this model
            return m_hasPublished;
        return (concernsOneObject(error.code) || isUnlikeRecord(error)) && isOf(error, label);
    }

    static bool isUnlikeRecord(const Error& error)
    {
        return error.code == Code::Rewritten || error.code == Code::Digest;
    }

    static std::string whyPassedOver(const Error& error)
    {
        return isUnlikeRecord(error) ? fmt::format("not published: {}: {}; {}", error.where, error.text, error.action)
                                     : "not published: " + error.text;
    }

    /// How an act ends that has published all it could.
    Result<void> outcome() const
    {
        if (m_failed.empty())
            return m_unread.outcome(m_checkpoints->uri(), !m_queue.hasNumbered() && m_last < 0);
        const auto first = std::min_element(m_failed.begin(), m_failed.end(), [](const auto& a, const auto& b) {
            return a.second.number < b.second.number;
        });
        Error error = first->second.error;
        if (error.code == Code::Unsupported)
            error.code = Code::Layout;
        std::vector<std::string> others = m_unread.namesOfCheckpoints();
        for (const auto& [name, failed] : m_failed) {
            if (name != first->first)
                others.push_back(name);
        }
        error.text = fmt::format("{} is not published: {}", first->first, error.text);
        if (!others.empty())
            error.text += fmt::format("; not published either: {}", fmt::join(others, ", "));
        return fail(std::move(error));
    }

    struct Waited {
        std::int64_t sinceUs = 0;
        bool isSaid = false;
    };
    struct Failed {
        std::int64_t number = -1;
        std::string state;
        Error error;
    };
    Workbench& m_bench;
    const std::shared_ptr<ObjectStore> m_checkpoints;
    Publisher& m_publisher;
    const FollowOptions& m_options;
    CheckpointQueue m_queue;
    const std::int64_t m_begun;
    std::int64_t m_last;
    std::optional<std::int64_t> m_backlogEnd; ///< the newest checkpoint that lay there at the beginning
    bool m_isBegun = false;
    bool m_hasPublished = false;
    UnreadReport m_unread;
    RewrittenCheckpoints m_rewritten;
    std::set<std::string> m_done; ///< published in this act, or passed over: they may be taken away piece by piece
    std::set<std::string> m_earlier; ///< those of an earlier run that were named
    std::map<std::string, Failed> m_failed; ///< by name; those that are not published
    std::map<std::string, Waited> m_waited; ///< by name
    bool m_isCutOff = false; ///< the run cannot be reached
    std::optional<std::int64_t> m_suspectSinceUs; ///< all checkpoints that were here are gone; nothing: they are not
};

}

Result<void> publishWatched(Workbench& bench, std::shared_ptr<ObjectStore> checkpoints, Publisher& publisher,
                            const FollowOptions& options, TaskContext& task)
{
    return CheckpointFollower(bench, std::move(checkpoints), publisher, options).run(task);
}

} // namespace deltascope
