#pragma once

#include "../base/file_handle.h"
#include "deltascope/base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// A put that leaves something in the store if it does not end.
struct NotedUpload {
    std::string store; ///< its canonical address
    std::string key; ///< of the store
    std::vector<std::string> pieces; ///< what it leaves, in words of the store: an upload in parts, xorbs
};

/// Notes uploads under way, one small file each, so that what a killed process left is found by another one: what is
/// not noted is never touched. A file is locked as long as its upload lives; the kernel releases the lock on any death.
/// Any thread.
class UploadJournal {
public:
    /// One noted upload; still noted at the end of life unless done() was called. One thread at a time.
    class Note {
    public:
        Note() = default;
        Note(std::string path, FileHandle file, std::uint64_t bytes)
            : m_path(std::move(path))
            , m_file(std::move(file))
            , m_bytes(bytes)
        {
        }
        /// One more piece. Errors: NoSpace, Io.
        Result<void> add(std::string_view piece);
        /// Nothing of it is left over: the upload is complete or aborted.
        void done() noexcept;

    private:
        std::string m_path;
        FileHandle m_file; ///< without: nothing is noted
        std::uint64_t m_bytes = 0; ///< of the file
    };

    /// `folder` is made with its parents when something is noted. Empty: nothing is ever noted.
    explicit UploadJournal(std::string folder)
        : m_folder(std::move(folder))
    {
    }

    /// Errors: Auth, NoSpace, Io.
    Result<Note> note(const NotedUpload& upload) const;
    /// Calls `end` for the uploads to `store` whose process has ended. It answers which pieces are left over; where
    /// none is, the upload is forgotten. Errors: Auth, NoSpace, Io, and those of `end`.
    using End = std::function<Result<std::vector<std::string>>(const NotedUpload& upload)>;
    Result<void> forEachOrphan(std::string_view store, const End& end) const;

private:
    std::string m_folder;
};

} // namespace deltascope
