#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/payload.h"
#include "deltascope/base/result.h"
#include "deltascope/base/task.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace deltascope::http {

struct Header {
    std::string name;
    std::string value;
};

/// Lines of a request or an answer, in their order. Names are the same in upper and lower case.
class Headers {
public:
    Headers() = default;
    Headers(std::initializer_list<Header> lines)
        : m_lines(lines)
    {
    }

    void add(std::string name, std::string value) { m_lines.push_back({ std::move(name), std::move(value) }); }
    void clear() noexcept { m_lines.clear(); }
    /// The value of the first line with this name; points into this object.
    std::optional<std::string_view> find(std::string_view name) const noexcept;
    const std::vector<Header>& lines() const noexcept { return m_lines; }

private:
    std::vector<Header> m_lines;
};

/// What a request carries.
using Body = Payload;

/// A Body that owns its bytes.
std::shared_ptr<const Body> bodyOf(std::string bytes);

struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0; ///< at least 1

    bool operator==(const ByteRange&) const = default;
};

struct Response;

/// Takes the body of an answer as it comes. Called on the thread of the client, which serves all requests: no method
/// may block or send a request.
class Sink {
public:
    virtual ~Sink() = default;
    /// A good answer begins: status and headers are known. If another one began before, it starts all over.
    virtual void begin(const Response& head) = 0;
    /// An error ends the exchange with it.
    virtual Result<void> take(ByteSpan bytes) = 0;
    /// Nothing comes any more, and the exchange is over in a moment. Called once, last, whatever happened.
    virtual void end() { }
};

/// Keeps the body in Response::body. A larger one is Code::Hostile.
struct Keep {
    std::size_t limitBytes = std::size_t { 1 } << 20;
};

/// Where the body of a good answer (2xx) goes. Memory and sink stay with the caller and must live until the exchange is
/// over. A body that is longer than the span is Code::Hostile.
using Destination = std::variant<Keep, MutableByteSpan, Sink*>;

/// What went over the wire so far. Any thread.
struct Meter {
    std::atomic<std::uint64_t> requests = 0; ///< retries are some of them
    std::atomic<std::uint64_t> retries = 0;
    std::atomic<std::uint64_t> bytesIn = 0; ///< as in Response
    std::atomic<std::uint64_t> bytesOut = 0;
};

/// How fast bodies may move. Called on the thread of the client: no method may block. Any thread.
class Pace {
public:
    virtual ~Pace() = default;
    /// How long nothing may move any more; 0: something may now.
    virtual std::chrono::milliseconds wait() const = 0;
    /// These bytes move now. May be more than was left: the next ones wait the longer.
    virtual void charge(std::uint64_t bytes) = 0;
};

struct Request {
    std::string method = "GET";
    std::string url; ///< http or https
    Headers headers;
    std::shared_ptr<const Body> body;
    Destination destination;
    /// Asks for these bytes alone. Only an answer that says it holds them, or fewer since the object ends before, goes
    /// to the destination.
    std::optional<ByteRange> range;
    /// Follows at most five redirects of a GET or HEAD: never from https to http, and Authorization and Cookie go to no
    /// other host. Else a redirect is an answer like any other.
    bool followRedirects = false;
    /// Lets the server compress the body; it arrives as it was before. Limits count what arrives.
    bool mayBeCompressed = false;
    /// The answer is over with its head, whatever its status: nothing of its body is read, and its connection is not
    /// used again.
    bool headAlone = false;
    /// Whether no harm is done if the server carries it out twice; empty: what the method promises (isRepeatable).
    std::optional<bool> repeatable;
    bool isRetry = false; ///< it was sent before; meters count those
    std::shared_ptr<Meter> meter; ///< counts this request too; null: none does but that of the client
    std::shared_ptr<Pace> pace; ///< of its bodies, in both directions; null: they move as fast as they can

    std::chrono::milliseconds connectWithin { 10'000 };
    /// From the start to the end of the answer, waiting for other requests included; 0: as long as bytes move.
    std::chrono::milliseconds finishWithin { 0 };
    /// A request stalls when fewer bytes than this, in both directions together, moved in `stallWithin`.
    /// Waiting for its pace is no stall.
    std::uint64_t stallBytes = 1;
    std::chrono::milliseconds stallWithin { 60'000 }; ///< 0: it may stand still for ever
};

/// Whether the request says that it may be carried out twice, or all of its method may be (all but POST and PATCH).
bool isRepeatable(const Request& request) noexcept;

/// What Content-Range says.
struct ContentRange {
    ByteRange range;
    std::optional<std::uint64_t> totalBytes; ///< of the whole object
};

struct Response {
    int status = 0;
    Headers headers;
    std::string body; ///< what is kept of it; of an answer that is not good, its first 64 KiB
    std::uint64_t takenBytes = 0; ///< of the body that went to the destination
    /// False: the rest of the body was not read: only the head was wanted, it is a long one of an answer that is not
    /// good, or other bytes than the range that was asked for.
    bool isWhole = true;
    std::optional<ContentRange> contentRange;
    std::uint64_t bytesIn = 0; ///< over the wire, headers included, encryption not
    std::uint64_t bytesOut = 0; ///< likewise

    bool isGood() const noexcept { return status >= 200 && status < 300; }
};

/// What a status other than a good one means where nothing else is known: Auth (401, 403), NotFound (404, 410),
/// Transient (408, 429, 500, 502, 503, 504), Unsupported (a redirect, 501, 505), Io. `url` is named without its
/// secrets.
Error errorOfStatus(int status, const std::string& url);

/// What went over the wire so far.
struct Counters {
    std::uint64_t requests = 0; ///< retries are some of them
    std::uint64_t retries = 0;
    std::uint64_t bytesIn = 0; ///< as in Response
    std::uint64_t bytesOut = 0;
};

/// Sends requests and waits for the answers. Any thread.
class Sender {
public:
    virtual ~Sender() = default;
    /// An answer with any status is a Response. An error is one of the connection: Transient (no connection, reset,
    /// deadline, stall, an answer that is cut short, so the request may have been carried out), Usage (URL or header),
    /// Hostile (headers or body larger than allowed), Unsupported (no HTTP, a redirect that must not be followed), Io
    /// (the certificate is not trusted, and what the system says), Canceled (by `task`, within a tenth of a second),
    /// and what Body and Sink answer. Texts name the host and never a secret.
    virtual Result<Response> send(const Request& request, TaskContext& task) = 0;
    virtual Counters counters() const = 0;
};

struct ClientOptions {
    /// Requests to one host that run at once; others wait in their order.
    std::size_t mostPerHost = 16;
    /// Certificates that are trusted (PEM). Empty: as the environment says (CURL_CA_BUNDLE, else SSL_CERT_FILE and
    /// SSL_CERT_DIR), else those of the system.
    std::string caFile;
};

class Transfer;

/// A request under way. Its end of life cancels it and waits until nothing of it is used any more. One thread at a
/// time; cancel() may be called from any.
class Exchange {
public:
    explicit Exchange(std::shared_ptr<Transfer> transfer);
    ~Exchange();
    Exchange(Exchange&&) noexcept = default;
    Exchange& operator=(Exchange&&) = delete;

    /// True once it is over, false when the time is.
    bool wait(std::chrono::milliseconds time) const;
    /// It is over soon, with Code::Canceled unless it was already.
    void cancel();
    /// Waits for the end. Once. Errors: those of Sender::send.
    Result<Response> take();

private:
    std::shared_ptr<Transfer> m_transfer;
};

/// HTTP/1.1 over connections that are kept and used again, by a thread of its own. Certificates are always checked.
/// Proxies are those of the environment (http_proxy, https_proxy, all_proxy, no_proxy), never for this machine itself.
/// Sends no Expect, and nothing twice that is not repeatable. Any thread.
class Client final : public Sender {
public:
    explicit Client(const ClientOptions& options = {});
    /// Everything that is under way ends with Code::Canceled.
    ~Client() override;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    Result<Response> send(const Request& request, TaskContext& task) override;
    Counters counters() const override; ///< moves while bytes do

    /// Returns at once. A request that is wrong is an exchange that is over.
    Exchange start(Request request);

private:
    class Loop;
    std::unique_ptr<Loop> m_loop;
};

} // namespace deltascope::http
