#pragma once

#include "hub_api.h"
#include "hub_object.h"

#include <cstdint>
#include <memory>
#include <string>

namespace deltascope::hub {

/// A file as `resolve` finds it.
struct PlainFile {
    std::string route; ///< "/buckets/NS/NAME/resolve/PATH", "/ORG/MODEL/resolve/COMMIT/PATH"; encoded
    Subject subject;
    HubIdentity identity; ///< with a hash
    std::string commit; ///< that the answer must name; empty in buckets
};

/// Reads plain bytes: from the Hub itself, or behind a redirect to another host, which gets no token (huggingface_hub
/// 2.4.0, file_download.py, get_hf_file_metadata: X-Xet-Hash, X-Linked-Size, X-Linked-Etag, ETag, X-Repo-Commit).
///
/// The answer must say which bytes it leads to, and they must be those of the identity; the bytes themselves are only
/// compared where a whole file of a repository is read: with its SHA-256, or with the id of its git blob. Files that
/// lie in git itself are read whole for that, up to 16 MiB. Any thread.
class PlainReader {
public:
    explicit PlainReader(std::shared_ptr<const HubApi> hub)
        : m_hub(std::move(hub))
    {
    }

    /// Fills all of `out`, which lies within the file. Errors: Rewritten (other bytes by now), Truncated, Digest,
    /// NotFound, Auth, Unsupported (the answer does not say which bytes), Hostile, Transient, Io, Canceled.
    Result<void> read(const PlainFile& file, std::uint64_t offset, MutableByteSpan out, TaskContext& task) const;

private:
    struct Part {
        std::uint64_t offset = 0;
        MutableByteSpan out;
        bool isRetry = false; ///< it came wrong before; meters count that
    };

    Result<void> readPart(const PlainFile& file, Part part, TaskContext& task) const;
    Result<http::Response> resolve(const PlainFile& file, const Part& part, TaskContext& task) const;
    Result<void> fetch(const std::string& url, const PlainFile& file, const Part& part, TaskContext& task) const;
    Result<void> readWhole(http::Request request, const PlainFile& file, const Part& part, TaskContext& task) const;
    Result<void> accept(const http::Response& answer, const http::Request& request, const PlainFile& file,
                        const Part& part, TaskContext& task) const;
    static void aim(http::Request& request, const PlainFile& file, const Part& part);

    const std::shared_ptr<const HubApi> m_hub;
};

/// The id of a git blob with these bytes: the SHA-1 over "blob SIZE", a NUL and the bytes. Errors: Internal.
Result<std::string> gitBlobId(ByteSpan bytes);
/// In hexadecimal digits. Errors: Internal.
Result<std::string> sha256Text(ByteSpan bytes);

} // namespace deltascope::hub
