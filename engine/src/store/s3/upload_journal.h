#pragma once

#include "../../base/file_handle.h"
#include "deltascope/base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace deltascope::s3 {

/// An upload in parts that was begun and must be ended.
struct NotedUpload {
    std::string store; ///< its canonical address
    std::string key; ///< of the store
    std::string uploadId;
};

/// Notes uploads under way, one small file each, so that what a killed process left can be aborted by another one: what
/// is not noted is never touched. A file is locked as long as its upload lives; the kernel releases the lock on any
/// death. Any thread.
class UploadJournal {
public:
    /// One noted upload; still noted at the end of life unless done() was called.
    class Note {
    public:
        Note() = default;
        Note(std::string path, FileHandle file)
            : m_path(std::move(path))
            , m_file(std::move(file))
        {
        }
        /// The upload is complete or aborted.
        void done() noexcept;

    private:
        std::string m_path;
        FileHandle m_file;
    };

    /// `folder` is made with its parents when something is noted. Empty: nothing is ever noted.
    explicit UploadJournal(std::string folder)
        : m_folder(std::move(folder))
    {
    }

    /// Errors: Auth, NoSpace, Io.
    Result<Note> note(const NotedUpload& upload) const;
    /// Calls `end` for the uploads to `store` whose process has ended, and forgets those for which it answers true.
    /// Errors: Auth, Io, and those of `end`.
    Result<void> forEachOrphan(std::string_view store,
                               const std::function<Result<bool>(const NotedUpload& upload)>& end) const;

private:
    std::string m_folder;
};

} // namespace deltascope::s3
