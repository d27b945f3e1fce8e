#pragma once

#include "credentials.h"
#include "deltascope/engine/http.h"
#include "deltascope/engine/http_url.h"
#include "replies.h"
#include "s3_settings.h"
#include "sigv4.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace deltascope::s3 {

/// One operation of the S3 API on the bucket of a store.
struct Call {
    std::string action; ///< as policies name it: "s3:GetObject"
    std::string method = "GET";
    std::string key; ///< in the bucket; empty: the bucket itself
    std::string shown; ///< what error texts call it
    Query query;
    http::Headers headers;
    std::shared_ptr<const http::Body> body;
    std::string payloadHash { EmptyPayloadHash };
    http::Destination destination;
    std::optional<http::ByteRange> range;
    std::optional<bool> repeatable;
    std::chrono::milliseconds finishWithin { 0 };
    bool isRetry = false; ///< counts as one
};

/// Sends calls: builds the URL, signs, and mends once each of what is only a matter of the signature: a clock that is
/// wrong, keys that have expired, another region. A read that is refused with an optional header is asked for once more
/// without it, and a server that answers then is never sent it again. Any thread.
class S3Client {
public:
    /// `settings`: completed and checked. `credentials` may be null for anonymous requests.
    S3Client(S3Settings settings, std::shared_ptr<http::Sender> sender, std::shared_ptr<CredentialSource> credentials,
             WallClock clock = std::chrono::system_clock::now);

    /// An answer with any status, but for those that were mended. Errors: those of Sender::send and of the credentials.
    Result<http::Response> send(const Call& call, TaskContext& task);
    /// The same through another sender.
    Result<http::Response> sendThrough(http::Sender& sender, const Call& call, TaskContext& task);

    http::Sender& sender() const noexcept { return *m_sender; }
    const S3Settings& settings() const noexcept { return m_settings; }

    /// What an answer that is not good means, for a person.
    Error errorOf(const Call& call, const http::Response& response) const;

private:
    struct Target {
        std::string scheme;
        std::string host; ///< with its port
        std::string path; ///< encoded
    };
    /// What was tried already for one call.
    struct Mended {
        bool skew = false;
        bool keys = false;
        bool region = false;
        bool optional = false; ///< sent without the optional header
    };

    Target targetOf(const std::string& key, const std::string& region) const;
    std::string region() const;
    std::string regionWanted(const http::Response& response, const ErrorReply& said) const;
    Result<bool> mend(const http::Response& response, const Credentials& keys, const std::string& usedRegion,
                      Mended& mended, TaskContext& task);
    bool mendSkew(const http::Response& response, const ErrorReply& said, bool isHead);

    const S3Settings m_settings;
    const std::shared_ptr<http::Sender> m_sender;
    const std::shared_ptr<CredentialSource> m_credentials;
    const WallClock m_clock;
    const http::Url m_endpoint; ///< empty: AWS's own
    std::atomic<bool> m_takesOptional = true; ///< until the server answers only without the optional header
    std::atomic<std::int64_t> m_skewSeconds = 0; ///< the server's clock minus ours
    mutable std::mutex m_mutex; ///< guards what follows
    std::string m_region;
    std::string m_keyTail; ///< last letters of the key id that was used last
};

/// Each request once, and whether the server may have carried out one whose answer was lost.
class LostReplies final : public http::Sender {
public:
    explicit LostReplies(http::Sender& inner)
        : m_inner(inner)
    {
    }
    Result<http::Response> send(const http::Request& request, TaskContext& task) override;
    http::Counters counters() const override { return m_inner.counters(); }
    bool mayHaveHappened() const noexcept { return m_mayHaveHappened; }

private:
    http::Sender& m_inner;
    bool m_mayHaveHappened = false;
};

} // namespace deltascope::s3
