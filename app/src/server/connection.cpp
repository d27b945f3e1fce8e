#include "connection.h"

#include "answer.h"
#include "event_stream.h"
#include "problem.h"

#include <boost/asio/post.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

namespace deltascope::server {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace net = boost::asio;

namespace {

constexpr std::size_t kHeadLimit = 16'384;
constexpr std::size_t kSignInLimit = 4'096;
constexpr std::chrono::seconds kLinger { 2 };
constexpr std::size_t kStreamsOfSession = 16;
constexpr std::size_t kStreamsOfPrincipal = 128;
constexpr int kListenAgainSeconds = 10;

}

Connection::Connection(Core& core, net::generic::stream_protocol::socket socket, Peer peer, ConnectionSlots::Slot slot)
    : m_core(core)
    , m_stream(std::make_unique<ClientStream>(std::move(socket), peer.address ? core.tls.get() : nullptr))
    , m_peer(std::move(peer))
    , m_client(slot.client())
    , m_slot(std::move(slot))
    , m_buffer(2 * kHeadLimit)
{
}

void Connection::start()
{
    m_waitsSince = Clock::now();
    m_stream->expires_after(m_core.options.timeouts.head);
    m_stream->handshake([self = shared_from_this()](ErrorCode error) {
        if (error)
            return self->close();
        self->awaitRequest();
    });
}

void Connection::finish()
{
    if (!m_answering)
        close();
}

void Connection::close()
{
    m_stream->close();
    m_slot.reset();
    m_core.connections.erase(shared_from_this());
}

void Connection::awaitRequest()
{
    m_parser.emplace();
    m_parser->header_limit(kHeadLimit);
    m_parser->body_limit(m_core.options.bodyLimit);
    m_answering = false;
    m_waitsSince = Clock::now();
    if (m_core.stopping)
        return close();
    if (m_buffer.size() > 0)
        return readHead();
    m_stream->expires_after(m_core.options.timeouts.idle);
    m_stream->async_read_some(m_buffer.prepare(4'096), [self = shared_from_this()](ErrorCode error, std::size_t bytes) {
        if (error)
            return self->close();
        self->m_buffer.commit(bytes);
        self->readHead();
    });
}

void Connection::readHead()
{
    m_stream->expires_after(m_core.options.timeouts.head);
    http::async_read_header(*m_stream, m_buffer, *m_parser,
                            [self = shared_from_this()](ErrorCode error, std::size_t) { self->onHead(error); });
}

void Connection::onHead(ErrorCode error)
{
    if (!m_slot) // closed while this was on its way
        return;
    if (error)
        return refuse(error);
    m_answering = true;
    const RequestHead head = requestHead(m_parser->get(), m_core.proxies, m_peer);
    const std::uint64_t ended = m_core.auth.endedSessions();
    Admission admission = m_core.router.admit(head);
    closeEndedStreams(ended);
    m_isFramed = head.isFramed;
    if (auto* response = std::get_if<HttpResponse>(&admission)) {
        answer(std::move(*response));
    } else if (const auto* events = std::get_if<EventsCall>(&admission)) {
        openEvents(*events);
    } else if (auto* signIn = std::get_if<SignInCall>(&admission)) {
        readBody(kSignInLimit, [this, call = std::move(*signIn)](std::string body) {
            const std::uint64_t before = m_core.auth.endedSessions();
            answer(m_core.router.signIn(call, body));
            closeEndedStreams(before);
        });
    } else {
        readBody(m_core.options.bodyLimit,
                 [this, request = std::get<ApiCall>(std::move(admission)).request](std::string body) mutable {
                     request.body = std::move(body);
                     call(std::move(request));
                 });
    }
}

void Connection::readBody(std::size_t limit, std::function<void(std::string)> then)
{
    if (m_parser->content_length().value_or(0) > limit)
        return refuse(http::error::body_limit);
    m_parser->body_limit(limit);
    m_stream->expires_after(m_core.options.timeouts.body);
    http::async_read(*m_stream, m_buffer, *m_parser,
                     [self = shared_from_this(), then = std::move(then)](ErrorCode error, std::size_t) {
                         if (!self->m_slot)
                             return;
                         if (error)
                             return self->refuse(error);
                         then(std::move(self->m_parser->get().body()));
                     });
}

void Connection::refuse(ErrorCode error)
{
    m_answering = true;
    if (error == http::error::body_limit)
        return answer(problem(413, Code::Usage, "The body of the request is too large."));
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
        return answer(problem(431, Code::Usage, "The head of the request is too large."));
    if (error.category() == make_error_code(http::error::end_of_stream).category()
        && error != http::error::end_of_stream && error != http::error::partial_message)
        return answer(problem(400, Code::Usage, "The request is not HTTP/1.1."));
    close();
}

void Connection::call(HttpRequest request)
{
    m_waitsSince.reset();
    const http::fields& fields = m_parser->get();
    Wish wish { std::string(fields[http::field::accept_encoding]), std::string(fields[http::field::if_none_match]) };
    // The Reply owns nothing of this connection, and whoever made the answer prepares it.
    m_core.api.handle(request,
                      [io = m_core.io, weak = weak_from_this(), wish = std::move(wish)](HttpResponse response) {
                          net::post(*io, [weak, response = prepared(std::move(response), wish)]() mutable {
                              if (const std::shared_ptr<Connection> self = weak.lock())
                                  self->write(std::move(response));
                          });
                      });
}

/// Whether a session, or all that one principal has, listens as often as it may.
bool Connection::mayListen(const EventsCall& call) const
{
    std::size_t ofSession = 0;
    std::size_t ofPrincipal = 0;
    for (const std::shared_ptr<EventStream>& stream : m_core.streams) {
        ofPrincipal += stream->principal() == call.principal ? 1 : 0;
        ofSession += !call.credentials.session.empty() && stream->credentials().session == call.credentials.session;
    }
    return ofSession < kStreamsOfSession && ofPrincipal < kStreamsOfPrincipal;
}

/// Streams of sessions that end with a request end with it.
void Connection::closeEndedStreams(std::uint64_t endedBefore)
{
    if (m_core.auth.endedSessions() == endedBefore)
        return;
    const auto streams = m_core.streams;
    for (const std::shared_ptr<EventStream>& stream : streams) {
        if (!stream->credentials().session.empty() && !m_core.auth.identify(stream->credentials()))
            stream->close();
    }
}

void Connection::openEvents(const EventsCall& call)
{
    if (m_parser->get().method() == http::verb::head) {
        HttpResponse response;
        response.contentType = "text/event-stream";
        return answer(std::move(response));
    }
    if (!mayListen(call)) {
        HttpResponse response = problem(429, Code::Transient, "So many event streams are open that no more can be.",
                                        "Close pages that show this daemon, or ask for the runs every few seconds.");
        response.headers.emplace_back("Retry-After", std::to_string(kListenAgainSeconds));
        return answer(std::move(response));
    }
    const auto stream = std::make_shared<EventStream>(m_core, std::move(m_stream), std::move(*m_slot), call);
    m_core.streams.insert(stream);
    m_core.connections.erase(shared_from_this());
    stream->start();
}

void Connection::answer(HttpResponse response)
{
    const http::fields& fields = m_parser->get();
    write(prepared(
        std::move(response),
        { std::string(fields[http::field::accept_encoding]), std::string(fields[http::field::if_none_match]) }));
}

void Connection::write(HttpResponse response)
{
    m_waitsSince = Clock::now();
    const bool hasBody = response.status != 204 && response.status != 304;
    m_response = {};
    m_response.version(11);
    m_response.result(unsigned(response.status));
    for (const auto& [name, value] : m_core.router.guards().headers())
        m_response.insert(name, value);
    for (const auto& [name, value] : response.headers)
        m_response.insert(name, value);
    if (hasBody) {
        m_response.set(http::field::content_type, response.contentType);
        m_response.content_length(response.body.size());
    }
    // What is left of a refused request's body would look like the next request.
    m_response.keep_alive(m_isFramed && m_parser->is_done() && m_parser->keep_alive() && !m_core.stopping);
    if (hasBody && m_parser->get().method() != http::verb::head)
        m_response.body() = std::move(response.body);
    m_serializer.emplace(m_response);
    writeSome();
}

void Connection::writeSome()
{
    m_stream->expires_after(m_core.options.timeouts.write);
    http::async_write_some(*m_stream, *m_serializer, [self = shared_from_this()](ErrorCode error, std::size_t) {
        if (error && error != http::error::end_of_stream)
            return self->close();
        if (!self->m_serializer->is_done())
            return self->writeSome();
        if (self->m_response.keep_alive())
            return self->awaitRequest();
        self->linger();
    });
}

/// Takes what is still coming: closing a socket that has unread bytes would destroy the answer on its way.
void Connection::linger()
{
    m_answering = false;
    m_waitsSince = Clock::now();
    m_stream->expires_after(kLinger);
    m_stream->finishSending(
        [self = shared_from_this()](ErrorCode) { self->m_stream->drain([self](ErrorCode) { self->close(); }); });
}

} // namespace deltascope::server
