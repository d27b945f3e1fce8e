#pragma once

#include "deltascope/engine/publish.h"
#include "publish/unread_folders.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// A folder of checkpoints that a trainer fills, as the last look found it.
class CheckpointQueue {
public:
    CheckpointQueue(Workbench& bench, std::shared_ptr<ObjectStore> store, const FollowOptions& options)
        : m_bench(bench)
        , m_store(std::move(store))
        , m_options(options)
    {
    }

    /// A checkpoint, or a folder in the place of one, that cannot be published as it is.
    struct Unready {
        std::string name;
        std::int64_t number = -1; ///< -1: its name tells no place in the order
        std::string state; ///< keys and identities: equal text, nothing has changed
        std::string why; ///< what it lacks
        std::optional<Error> flaw; ///< nothing where only time or the marker is missing
        bool isSettled = false; ///< nothing in it changed for FollowOptions::settleSeconds
        bool isQuiet = false; ///< nothing in it changed for FollowOptions::quietSeconds
    };
    struct Look {
        std::vector<const Version*> ready; ///< complete checkpoints behind a step, ascending
        std::vector<Unready> unready; ///< the other ones behind it, ascending
        std::vector<const Version*> earlier; ///< whole or not, those of an earlier run in the same folder
        std::vector<UnreadFolder> unread; ///< folders that nothing will be published from
    };

    /// Lists the folder again. A folder without any checkpoint is no error: the trainer has not begun.
    Result<void> scan(TaskContext& task);
    /// What lies behind the step `last`. Folders that are not understood count behind `begun`, the step at which the
    /// act began; the watched folder itself only where nothing was published from it before.
    Result<Look> lookBehind(std::int64_t last, std::int64_t begun, TaskContext& task);

    /// Whether the checkpoint that is called so is of an earlier run than the newest one here.
    bool isOfEarlierRun(const std::string& label) const;
    std::int64_t newestStep() const; ///< of the newest run; -1 in a folder without checkpoints
    bool isEmpty() const noexcept { return m_run.versions.empty() && m_unread.empty(); } ///< by the last look
    bool hasNumbered() const; ///< whether it holds a checkpoint whose name tells its place in the order
    std::map<std::string, std::int64_t> numbered() const; ///< steps of the newest run, read or not, by name
    const std::vector<Version>& versions() const noexcept { return m_run.versions; } ///< by the last look, ascending
    const Version* find(const std::string& label) const; ///< by its name, if it is still there; else null
    bool isQuiet(const Version& version); ///< nothing in it changed for FollowOptions::quietSeconds
    /// Errors: those of openChecked(): also Rewritten, where it is on record and was written again.
    Result<PathPtr> open(const Version& version, TaskContext& task) const;
    /// Whether the objects of a checkpoint are those that the last look found.
    Result<bool> isAsListed(const Version& version, TaskContext& task) const;

private:
    /// Since when a folder has been as it is: by its files, or by our own clock where those are still to come.
    std::int64_t unchangedSince(const std::string& name, const std::string& state, std::int64_t changedUs);
    bool isOlderThan(std::int64_t sinceUs, double seconds) const;
    /// Whether its trainer has put the marker; true where none is expected.
    Result<bool> isMarked(const std::string& name, TaskContext& task) const;
    Result<void> addVersion(const Version& version, Look& look, TaskContext& task);
    Result<void> addUnread(const UnreadFolder& folder, std::int64_t last, Look& look, TaskContext& task);

    struct Seen {
        std::string state;
        std::int64_t sinceUs = 0;
    };
    Workbench& m_bench;
    std::shared_ptr<ObjectStore> m_store;
    const FollowOptions& m_options;
    Run m_run;
    std::vector<UnreadFolder> m_unread;
    std::map<std::string, Seen> m_seen; ///< by name
};

} // namespace deltascope
