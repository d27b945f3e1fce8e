#pragma once

#include "core.h"
#include "request_head.h"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace deltascope::server {

/// One client and its requests, one after the other.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    using Clock = std::chrono::steady_clock;

    /// `slot` is given back when the socket is closed.
    Connection(Core& core, boost::asio::generic::stream_protocol::socket socket, Peer peer, ConnectionSlots::Slot slot);

    void start();
    /// Closes now, or after the answer that is being made.
    void finish();
    void close();

    const std::string& client() const noexcept { return m_client; }
    /// Since when this waits for its client: for the rest of a request, for an answer to be taken, or for the end;
    /// nothing while an answer is made.
    std::optional<Clock::time_point> waitsSince() const noexcept { return m_waitsSince; }

private:
    using ErrorCode = boost::beast::error_code;
    using StringBody = boost::beast::http::string_body;

    void awaitRequest();
    void readHead();
    void onHead(ErrorCode error);
    void readBody(std::size_t limit, std::function<void(std::string)> then);
    void refuse(ErrorCode error);
    void call(HttpRequest request);
    void openEvents(const EventsCall& call);
    bool mayListen(const EventsCall& call) const;
    void closeEndedStreams(std::uint64_t endedBefore);
    void answer(HttpResponse response);
    void write(HttpResponse response);
    void writeSome();
    void linger();

    Core& m_core;
    std::unique_ptr<ClientStream> m_stream;
    const Peer m_peer;
    const std::string m_client;
    std::optional<ConnectionSlots::Slot> m_slot; ///< nothing: closed
    boost::beast::flat_buffer m_buffer;
    std::optional<boost::beast::http::request_parser<StringBody>> m_parser;
    boost::beast::http::response<StringBody> m_response;
    std::optional<boost::beast::http::response_serializer<StringBody>> m_serializer;
    std::optional<Clock::time_point> m_waitsSince;
    bool m_answering = false;
    bool m_isFramed = true;
};

} // namespace deltascope::server
