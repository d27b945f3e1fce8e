#include "task_journal.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view RecordName = "task.json";
constexpr std::uint64_t MostRecordBytes = 8U << 20;
constexpr std::size_t MostRecords = 200;
constexpr std::int64_t OldestUs = 90LL * 24 * 3600 * 1'000'000; ///< of what is over

std::string idOf(std::uint64_t number) { return fmt::format("t{}", number); }

std::optional<std::uint64_t> numberOf(const std::string& id)
{
    std::uint64_t number = 0;
    const char* const end = id.data() + id.size();
    if (!id.starts_with('t') || std::from_chars(id.data() + 1, end, number).ptr != end || idOf(number) != id)
        return std::nullopt;
    return number;
}

TaskRecord unreadable(const std::string& id, const std::string& path, Error error)
{
    error.where = path;
    if (error.code == Code::Hostile)
        error.action = "it is of no use any more; remove this folder";
    TaskRecord record;
    record.view.id = id;
    record.view.plan.title = fmt::format("Task {} of an earlier start", id);
    record.view.state = "failed";
    record.view.problem = problemView(error);
    return record;
}

}

TaskJournal::TaskJournal(std::string folder)
    : m_folder(std::move(folder))
    , m_disk(makeFileSystem())
{
    if (m_folder.empty())
        return;
    std::error_code ignored; // then accept() tells
    fs::create_directories(m_folder, ignored);
    if (const std::vector<std::uint64_t> known = numbers(); !known.empty())
        m_next = known.back() + 1;
}

std::vector<std::uint64_t> TaskJournal::numbers() const
{
    std::vector<std::uint64_t> numbers;
    if (const Result<std::vector<std::string>> names = m_disk->list(m_folder)) {
        for (const std::string& name : *names) {
            if (const std::optional<std::uint64_t> number = numberOf(name))
                numbers.push_back(*number);
        }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

std::vector<TaskRecord> TaskJournal::readAll(std::int64_t nowUs)
{
    std::vector<TaskRecord> records;
    if (m_folder.empty())
        return records;
    std::vector<std::uint64_t> known = numbers();
    std::reverse(known.begin(), known.end());
    for (const std::uint64_t number : known) {
        const std::string id = idOf(number);
        Result<TaskRecord> record = read(id);
        const bool over = record && isOver(record->view);
        std::unique_ptr<FolderLock> lock;
        if (!over || nowUs - record->view.startedUs > OldestUs || records.size() == MostRecords) {
            Result<std::unique_ptr<FolderLock>> locked = m_disk->lock(pathOf(id));
            if (!locked)
                continue; // its process lives, this one or another
            lock = std::move(*locked);
        }
        const bool neverBegun = !record && record.error().code == Code::NotFound;
        if (neverBegun || (over && lock) || records.size() == MostRecords)
            static_cast<void>(m_disk->removeTree(pathOf(id)));
        else
            records.push_back(record ? std::move(*record) : unreadable(id, pathOf(id), std::move(record.error())));
    }
    std::reverse(records.begin(), records.end());
    return records;
}

Result<TaskRecord> TaskJournal::read(const std::string& id) const
{
    DS_TRY(const std::string text,
           readTextFile(*m_disk, fmt::format("{}/{}", pathOf(id), RecordName), MostRecordBytes));
    DS_TRY(TaskRecord record, readRecord(text));
    record.view.id = id;
    return record;
}

Result<void> TaskJournal::write(const TaskRecord& record) const
{
    if (m_folder.empty())
        return {};
    const std::string path = fmt::format("{}/{}", pathOf(record.view.id), RecordName);
    Result<void> written = replaceTextFile(*m_disk, path, recordText(record));
    if (!written) {
        written.error().text = "what happened to the task is not kept on disk: " + written.error().text;
        written.error().action = makeRoomText();
    }
    return written;
}

std::string TaskJournal::makeRoomText() const
{
    return fmt::format("make room in {} and let it be written, or set DELTASCOPE_HOME to another folder", m_folder);
}

/// The id of a folder that is new and locked by this process.
Result<std::string> TaskJournal::newFolder()
{
    const std::lock_guard lock(m_mutex);
    for (;;) {
        std::string id = idOf(m_next);
        const Result<void> made = m_disk->createFolder(pathOf(id));
        if (!made && made.error().code != Code::Exists)
            return tl::unexpected(made.error());
        ++m_next;
        if (!made) // of another process
            continue;
        Result<std::unique_ptr<FolderLock>> held = m_disk->lock(pathOf(id));
        if (held) {
            m_held[id] = std::move(*held);
            return id;
        }
        // Another process takes a folder without a record for one of a task that never began, and removes it.
        if (held.error().code != Code::Exists && held.error().code != Code::NotFound)
            return tl::unexpected(held.error());
    }
}

Result<void> TaskJournal::writeFirst(const TaskRecord& record)
{
    const std::string folder = pathOf(record.view.id);
    const std::string path = fmt::format("{}/{}", folder, RecordName);
    DS_CHECK(writeTextFile(*m_disk, path + ".new", recordText(record)));
    DS_CHECK(m_disk->renameNoReplace(path + ".new", path));
    DS_CHECK(m_disk->syncFolder(folder));
    DS_CHECK(m_disk->syncFolder(m_folder));
    return m_disk->syncFolder(fs::path(m_folder).parent_path().string());
}

Result<void> TaskJournal::accept(TaskRecord& record)
{
    if (m_folder.empty()) {
        const std::lock_guard lock(m_mutex);
        record.view.id = idOf(m_next++);
        return {};
    }
    Result<void> kept;
    if (Result<std::string> id = newFolder())
        record.view.id = std::move(*id);
    else
        kept = tl::unexpected(id.error());
    if (kept)
        kept = writeFirst(record);
    if (kept)
        return {};
    if (!record.view.id.empty()) {
        static_cast<void>(m_disk->removeTree(pathOf(record.view.id))); // the first error is the one to tell
        release(record.view.id);
    }
    Error error = std::move(kept.error());
    error.text = "the task is not begun, for it cannot be kept: " + error.text;
    error.action = makeRoomText();
    return fail(std::move(error));
}

Result<bool> TaskJournal::hold(const std::string& id)
{
    const std::lock_guard lock(m_mutex);
    if (m_folder.empty() || m_held.contains(id))
        return false;
    Result<std::unique_ptr<FolderLock>> held = m_disk->lock(pathOf(id));
    if (held)
        m_held[id] = std::move(*held);
    else if (held.error().code == Code::Exists)
        return fail(Code::Exists, "another process works on this task", pathOf(id), "wait for it or stop it there");
    return held.has_value();
}

void TaskJournal::release(const std::string& id)
{
    const std::lock_guard lock(m_mutex);
    m_held.erase(id);
}

} // namespace deltascope::app
