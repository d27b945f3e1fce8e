#pragma once

#include "task_record.h"

#include "deltascope/engine/file_system.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace deltascope::app {

/// Tasks on disk, so that they outlive the program: FOLDER/t12/task.json, replaced as a whole. The folder of a task is
/// locked by the process that works on it, so any number of processes may share the journal. Any thread.
class TaskJournal {
public:
    explicit TaskJournal(std::string folder); ///< created when needed; empty: nothing is kept

    /// What was kept and no other process works on, oldest first; forgets what is too old or too much. A record that
    /// cannot be read becomes a task that failed.
    std::vector<TaskRecord> readAll(std::int64_t nowUs);
    /// Errors: NotFound, Hostile, Io.
    Result<TaskRecord> read(const std::string& id) const;
    /// What happened since it was accepted; on return it outlives a power failure. What cannot be written is lost with
    /// the process: the task then shows as interrupted, where it last stood. One thread at a time. Errors: NoSpace,
    /// Auth, NotFound, Io.
    Result<void> write(const TaskRecord& record) const;

    /// Gives a new task its id; this process holds it. On return the record is on disk and outlives a power failure.
    /// Errors: NoSpace, Auth, Io; then there is no such task.
    Result<void> accept(TaskRecord& record);
    /// Whether it was not held before. Errors: Exists (another process works on the task).
    Result<bool> hold(const std::string& id);
    void release(const std::string& id);

private:
    std::string pathOf(const std::string& id) const { return m_folder + "/" + id; }
    std::vector<std::uint64_t> numbers() const; ///< ascending
    Result<std::string> newFolder();
    Result<void> writeFirst(const TaskRecord& record);
    std::string makeRoomText() const;

    std::string m_folder;
    std::unique_ptr<FileSystem> m_disk;
    mutable std::mutex m_mutex; ///< guards what follows
    std::map<std::string, std::unique_ptr<FolderLock>> m_held;
    std::uint64_t m_next = 1;
};

} // namespace deltascope::app
