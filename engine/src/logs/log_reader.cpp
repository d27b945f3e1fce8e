#include "deltascope/engine/logs.h"

#include "logs/log_spans.h"
#include "logs/log_tail.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

namespace deltascope {

namespace {

constexpr std::uint64_t MostBytesPerRead = 64U << 20;
constexpr std::uint64_t BytesPerCheckpoint = 4U << 20;

std::string stemOf(const std::string& path) { return std::filesystem::path(path).stem().string(); }

std::optional<Error> problemOf(const Result<bool>& read)
{
    if (read)
        return std::nullopt;
    Error problem = read.error();
    problem.text = "this log cannot be read: " + problem.text;
    if (problem.action.empty())
        problem.action = "Check its path; what it would tell stays unknown.";
    return problem;
}

}

struct LogReader::File {
    LogTail tail;
    LogSpans spans;
    std::optional<Error> problem;
    std::uint64_t problemChanges = 0;
};

LogReader::LogReader(const std::vector<std::string>& files, std::function<std::int64_t()> nowUs)
    : m_nowUs(std::move(nowUs))
{
    const std::set<std::string> paths(files.begin(), files.end());
    std::map<std::string, int> stems;
    for (const std::string& path : paths)
        ++stems[stemOf(path)];
    for (const std::string& path : paths) {
        const std::string stem = stemOf(path);
        m_files.push_back(
            std::make_unique<File>(File { LogTail(path), LogSpans(stems[stem] > 1 ? path : stem), {}, 0 }));
    }
}

LogReader::~LogReader() = default;

Result<bool> LogReader::read(TaskContext& task)
{
    bool anyMore = false;
    for (const std::unique_ptr<File>& file : m_files) {
        const std::int64_t now = m_nowUs();
        const auto onLine = [&](std::string_view line, bool justWritten) {
            if (const std::optional<LogEvent> event = parseLogLine(line, now))
                file->spans.add(*event, justWritten ? std::optional(now) : std::nullopt);
        };
        Result<bool> more = true;
        for (std::uint64_t done = 0; more && *more && done < MostBytesPerRead; done += BytesPerCheckpoint) {
            DS_CHECK(task.checkpoint());
            more = file->tail.poll(BytesPerCheckpoint, onLine);
        }
        anyMore = anyMore || (more && *more);
        const std::optional<Error> problem = problemOf(more);
        file->problemChanges += file->problem != problem;
        file->problem = problem;
    }
    return anyMore;
}

std::vector<Span> LogReader::spans() const
{
    std::vector<Span> all;
    for (const std::unique_ptr<File>& file : m_files)
        all.insert(all.end(), file->spans.spans().begin(), file->spans.spans().end());
    std::stable_sort(all.begin(), all.end(), [](const Span& a, const Span& b) { return a.t1Us < b.t1Us; });
    return all;
}

std::vector<Error> LogReader::problems() const
{
    std::vector<Error> all;
    for (const std::unique_ptr<File>& file : m_files) {
        if (file->problem)
            all.push_back(*file->problem);
    }
    return all;
}

std::uint64_t LogReader::revision() const
{
    std::uint64_t sum = 0;
    for (const std::unique_ptr<File>& file : m_files)
        sum += file->spans.revision() + file->problemChanges;
    return sum;
}

} // namespace deltascope
