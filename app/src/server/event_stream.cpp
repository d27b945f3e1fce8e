#include "event_stream.h"

#include <boost/asio/write.hpp>

namespace deltascope::server {

namespace net = boost::asio;
using ErrorCode = boost::beast::error_code;

namespace {

constexpr std::size_t kBatchBytes = std::size_t(256) << 10; ///< in memory for one client that takes nothing
constexpr int kSocketBytes = 256 << 10; ///< the same in the system

}

EventStream::EventStream(Core& core, std::unique_ptr<ClientStream> stream, ConnectionSlots::Slot slot,
                         const EventsCall& call)
    : m_core(core)
    , m_stream(std::move(stream))
    , m_slot(std::move(slot))
    , m_filter(call.filter)
    , m_credentials(call.credentials)
    , m_principal(call.principal)
    , m_position(call.position)
    , m_timer(*core.io)
{
}

void EventStream::start()
{
    ErrorCode ignored;
    m_stream->socket().set_option(net::socket_base::send_buffer_size(kSocketBytes), ignored);
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
                       "X-Accel-Buffering: no\r\nConnection: close\r\n";
    for (const auto& [name, value] : m_core.router.guards().headers())
        head += name + ": " + value + "\r\n";
    head += "\r\nretry: 2000\n";
    std::vector<EventHub::Frame> frames { std::make_shared<std::string>(std::move(head)) };
    if (m_position != EventHub::kLost)
        frames.push_back(signOfLife());
    closeWhenClientGoes();
    send(std::move(frames));
    ping();
}

void EventStream::wake()
{
    if (!m_sending.empty())
        return;
    EventHub::Batch batch = m_core.hub.read(m_position, m_filter, kBatchBytes);
    m_position = batch.next;
    if (!batch.frames.empty())
        send(std::move(batch.frames));
}

void EventStream::close()
{
    m_stream->close();
    m_timer.cancel();
    m_slot.reset();
    m_core.streams.erase(shared_from_this());
}

void EventStream::send(std::vector<EventHub::Frame> frames)
{
    m_sending = std::move(frames);
    std::vector<net::const_buffer> buffers;
    buffers.reserve(m_sending.size());
    for (const EventHub::Frame& frame : m_sending)
        buffers.emplace_back(frame->data(), frame->size());
    m_stream->expires_after(m_core.options.timeouts.write);
    net::async_write(*m_stream, buffers, [self = shared_from_this()](ErrorCode error, std::size_t) {
        self->m_sending.clear();
        if (error)
            return self->close();
        self->wake();
    });
}

/// Tells the client that the daemon is there, and looks whether the client may still listen.
void EventStream::ping()
{
    m_timer.expires_after(m_core.options.timeouts.ping);
    m_timer.async_wait([self = shared_from_this()](ErrorCode error) {
        if (error)
            return;
        if (!self->m_core.auth.identify(self->m_credentials))
            return self->close();
        if (self->m_sending.empty())
            self->send({ self->signOfLife() });
        self->ping();
    });
}

/// Clients send nothing here, so whatever comes is the end.
void EventStream::closeWhenClientGoes()
{
    m_stream->socket().async_wait(net::socket_base::wait_read, [self = shared_from_this()](ErrorCode error) {
        if (!error)
            self->close();
    });
}

/// An id without data moves the client's position on: what its filter left out is not read again after a break.
EventHub::Frame EventStream::signOfLife() const
{
    return std::make_shared<std::string>("id: " + m_core.hub.idAt(m_position) + "\n: ping\n\n");
}

} // namespace deltascope::server
