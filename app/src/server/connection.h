#pragma once

#include "core.h"
#include "request_head.h"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <string>

namespace deltascope::server {

/// One client and its requests, one after the other.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(Core& core, boost::asio::generic::stream_protocol::socket socket, std::string client);

    void start();
    /// Closes now, or after the answer that is being made.
    void finish();
    void close();

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
    void answer(HttpResponse response);
    void write(HttpResponse response);
    void writeSome();
    void linger();
    RequestHead head() const;

    Core& m_core;
    Stream m_stream;
    const std::string m_client;
    boost::beast::flat_buffer m_buffer;
    std::optional<boost::beast::http::request_parser<StringBody>> m_parser;
    boost::beast::http::response<StringBody> m_response;
    std::optional<boost::beast::http::response_serializer<StringBody>> m_serializer;
    bool m_answering = false;
};

} // namespace deltascope::server
