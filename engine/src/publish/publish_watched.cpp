#include "deltascope/engine/publish.h"

#include "deltascope/engine/beside_keys.h"
#include "publish/unread_folders.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

/// The last component of a version's name: "checkpoint-120".
std::string labelOf(const Version& version)
{
    const std::string& name = version.objects.name;
    const std::size_t slash = name.find('/');
    return slash == std::string::npos ? name : name.substr(0, slash);
}

class CheckpointQueue {
public:
    CheckpointQueue(Workbench& bench, std::shared_ptr<ObjectStore> store, const FollowOptions& options)
        : m_bench(bench)
        , m_store(std::move(store))
        , m_options(options)
    {
    }

    /// Lists the folder anew. A folder without any checkpoint is no error: the trainer has not begun.
    Result<void> scan(TaskContext& task)
    {
        OpenOptions plain;
        plain.layout = "hf";
        Result<Run> opened = openRun(m_bench, m_store, plain, task);
        m_waiting = false;
        if (!opened && opened.error().code != Code::Layout)
            return fail(std::move(opened.error()));
        m_run = opened ? std::move(*opened) : Run();
        DS_TRY(std::vector<ObjectInfo> listing, listAll(*m_store, "", task));
        std::erase_if(listing, [](const ObjectInfo& object) { return object.key.starts_with(beside::Root); });
        m_unread = unreadFolders(listing, m_run);
        return {};
    }

    /// Folders behind `step` that nothing will be published from, without those that are still being written. The
    /// watched folder itself counts only where nothing was published from it before.
    Result<std::vector<UnreadFolder>> unreadBehind(std::int64_t step, TaskContext& task)
    {
        std::vector<UnreadFolder> unread;
        for (const UnreadFolder& folder : m_unread) {
            if (folder.number >= 0 ? folder.number <= step : folder.name == "." && step >= 0)
                continue;
            DS_TRY(const bool quiet, isQuiet(folder.number >= 0 ? folder.name : std::string(), folder.changedUs, task));
            if (quiet)
                unread.push_back(folder);
            m_waiting = m_waiting || (!quiet && folder.number >= 0);
        }
        return unread;
    }

    /// Complete checkpoints behind `step`, ascending.
    Result<std::vector<const Version*>> readyBehind(std::int64_t step, TaskContext& task)
    {
        std::vector<const Version*> ready;
        for (const Version& version : m_run.versions) {
            if (version.step() <= step
                || version.objects.name == ".") // the folder itself is what the trainer ends with
                continue;
            DS_TRY(const bool complete, isComplete(version, task));
            if (complete)
                ready.push_back(&version);
            else
                m_waiting = true;
        }
        return ready;
    }

    /// -1 in a folder without checkpoints.
    std::int64_t newestStep() const
    {
        std::int64_t newest = -1;
        for (const Version& version : m_run.versions)
            newest = std::max(newest, version.step());
        return newest;
    }

    /// Whether it holds a checkpoint whose name tells its place in the order.
    bool hasNumbered() const
    {
        return std::any_of(m_run.versions.begin(), m_run.versions.end(),
                           [](const Version& version) { return version.objects.name != "."; });
    }

    /// A checkpoint by its name, if it is still there.
    const Version* find(const std::string& label) const
    {
        for (const Version& version : m_run.versions) {
            if (labelOf(version) == label)
                return &version;
        }
        return nullptr;
    }

    /// Watched, but not held against records: what a trainer drops anew under an old name is a new checkpoint.
    Result<Chain> open(const Version& version, TaskContext& task) const
    {
        DS_TRY(const Plan plan, planFor(m_run, version));
        return Chain::open(m_run, plan, ReadRules { nullptr, false, m_bench.threads }, task);
    }

    /// Whether something lies there that is not complete yet.
    bool waiting() const noexcept { return m_waiting; }

private:
    Result<bool> isComplete(const Version& version, TaskContext& task) const
    {
        if (version.failure || version.beingWritten || version.obstacle)
            return false;
        const bool whole = std::none_of(version.objects.objects.begin(), version.objects.objects.end(),
                                        [](const ObjectInfo& object) { return object.hasUnwrittenPart; });
        if (!whole)
            return false;
        return isQuiet(labelOf(version), version.objects.publishedUs(), task);
    }

    /// Whether its trainer is done with a folder that it changed last at `changedUs`. `label`: empty where no marker is
    /// to be expected.
    Result<bool> isQuiet(const std::string& label, std::int64_t changedUs, TaskContext& task) const
    {
        if (m_options.marker.empty() || label.empty())
            return m_bench.nowUs() - changedUs >= static_cast<std::int64_t>(m_options.quietSeconds * 1e6);
        const Result<ObjectInfo> marker = m_store->stat(label + "/" + m_options.marker, task);
        if (!marker && marker.error().code != Code::NotFound)
            return fail(marker.error());
        return marker.has_value();
    }

    Workbench& m_bench;
    std::shared_ptr<ObjectStore> m_store;
    const FollowOptions& m_options;
    Run m_run;
    std::vector<UnreadFolder> m_unread;
    bool m_waiting = false;
};

/// The checkpoint itself went away or is being written again: another one will come.
bool concernsTheCheckpoint(Code code)
{
    return code == Code::Rewritten || code == Code::NotFound || code == Code::Truncated;
}

/// "checkpoint-120" → 120.
std::int64_t numberIn(const std::string& label)
{
    const std::size_t digits = label.find_last_not_of("0123456789");
    return parseNumber(std::string_view(label).substr(digits == std::string::npos ? 0 : digits + 1)).value_or(-1);
}

}

Result<void> publishWatched(Workbench& bench, std::shared_ptr<ObjectStore> checkpoints, Publisher& publisher,
                            const FollowOptions& options, TaskContext& task)
{
    CheckpointQueue queue(bench, checkpoints, options);
    DS_TRY(const std::unique_ptr<StoreWatch> changes, checkpoints->watch());
    std::int64_t last = publisher.headOrigin().empty() ? -1 : numberIn(publisher.headOrigin());
    const auto skip = [&](const std::vector<std::string>& names, const std::string& why) {
        publisher.note(publisher.headStep().value_or(-1), fmt::format("{}: {}", fmt::join(names, ", "), why));
        if (options.onSkipped)
            options.onSkipped(names, why);
    };
    const std::int64_t begun = last;
    UnreadReport unread;
    std::set<std::string> done; ///< published in this act, or passed over: they may be taken away piece by piece
    std::optional<Error> suspect; ///< the first checkpoint that was passed over for its values
    std::optional<std::int64_t> backlogEnd; ///< the newest checkpoint that lay there at the beginning
    for (;;) {
        DS_CHECK(queue.scan(task));
        backlogEnd = backlogEnd.value_or(queue.newestStep());
        DS_TRY(std::vector<UnreadFolder> unreadNow, queue.unreadBehind(begun, task));
        std::erase_if(unreadNow, [&](const UnreadFolder& folder) { return done.contains(folder.name); });
        for (const UnreadReport::News& news : unread.take(unreadNow))
            skip(news.names, news.why);
        DS_TRY(const std::vector<const Version*> ready, queue.readyBehind(last, task));
        if (ready.empty()) {
            DS_CHECK(publisher.keepAlive(task));
            const bool waiting = queue.waiting() || unread.waits();
            if (options.once && !waiting && suspect)
                return fail(std::move(*suspect));
            if (options.once && !waiting)
                return unread.outcome(checkpoints->uri(), !queue.hasNumbered() && last < 0);
            DS_CHECK(changes->wait(std::chrono::milliseconds(waiting ? 200 : 1000), task));
            continue;
        }
        const bool backlog = ready.front()->step() <= *backlogEnd;
        const Version& chosen = backlog ? *ready.front() : *ready.back();
        if (!backlog && ready.size() > 1) {
            std::vector<std::string> names;
            for (const Version* version : ready)
                names.push_back(labelOf(*version));
            names.pop_back();
            done.insert(names.begin(), names.end());
            skip(names,
                 fmt::format("passed over, publishing takes longer than training; {} holds their changes too",
                             labelOf(chosen)));
        }
        const std::string label = labelOf(chosen);
        const std::int64_t number = chosen.step();
        const auto publish = [&]() -> Result<PublishedVersion> {
            DS_TRY(const Chain to, queue.open(chosen, task));
            if (const Version* before = queue.find(publisher.headOrigin())) {
                if (const Result<Chain> from = queue.open(*before, task)) {
                    Result<PublishedVersion> version = publisher.publish(&*from, to, label, task);
                    if (version
                        || (version.error().code != Code::BaseMismatch && !concernsTheCheckpoint(version.error().code)))
                        return version; // else that checkpoint is no longer what was published from it, or no longer
                                        // there
                }
            }
            return publisher.publish(nullptr, to, label, task);
        };
        Result<PublishedVersion> version = publish();
        if (!version && concernsTheCheckpoint(version.error().code)
            && version.error().step.value_or(number) == number) {
            done.insert(label);
            skip({ label }, "changed or vanished while it was read");
            DS_CHECK(changes->wait(std::chrono::milliseconds(200), task));
            continue;
        }
        if (!version && version.error().code == Code::SuspectValues) {
            last = number;
            done.insert(label);
            skip({ label }, version.error().text);
            suspect = suspect.value_or(std::move(version.error()));
            continue;
        }
        if (!version) {
            Error error = std::move(version.error());
            if (error.where.empty())
                error.where = label;
            return fail(std::move(error));
        }
        last = number;
        done.insert(label);
        for (const Error& problem : chosen.problems) {
            if (problem.code == Code::TwoModels)
                skip({ label }, problem.text);
        }
        if (options.onVersion)
            options.onVersion(*version);
    }
}

} // namespace deltascope
