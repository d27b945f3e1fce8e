#pragma once

#include "deltascope/engine/trace.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// Reads what the processes of a run print into their log files, and follows the files: lines about a weight sync
/// become spans, all others are passed over. What is understood, and from where: docs/formats/framework-logs.md. An
/// actor is a file: its name without folder and extension, or its whole path where two files would share that name.
/// Files may grow, be truncated, be renamed and begun anew. Not thread-safe.
class LogReader {
public:
    /// `nowUs`: the clock; it dates lines that carry no time but are seen as they are written.
    LogReader(const std::vector<std::string>& files, std::function<std::int64_t()> nowUs);
    ~LogReader();
    LogReader(const LogReader&) = delete;
    LogReader& operator=(const LogReader&) = delete;

    /// Reads on in every file, whole lines only and at most 64 MiB of each. Says whether more is there already.
    /// Errors: Canceled. A file that cannot be read is a problem, not an error.
    Result<bool> read(TaskContext& task);

    /// Of all files, by end. At most 100,000 of each file, the newest. Lines know no epochs: `epoch` is 0 in all of
    /// them.
    std::vector<Span> spans() const;
    /// Why files cannot be read as of the last read(): NotFound, Auth, Io, Usage (no regular file, or a packed one).
    /// `where`: the path.
    std::vector<Error> problems() const;
    /// Grows when spans() or problems() say something else.
    std::uint64_t revision() const;

private:
    struct File;
    std::vector<std::unique_ptr<File>> m_files;
    std::function<std::int64_t()> m_nowUs;
};

} // namespace deltascope
