#pragma once

#include "core.h"

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::server {

/// One client that listens to events (text/event-stream).
class EventStream : public std::enable_shared_from_this<EventStream> {
public:
    EventStream(Core& core, std::unique_ptr<ClientStream> stream, ConnectionSlots::Slot slot, const EventsCall& call);

    void start();
    /// There may be something to send.
    void wake();
    void close();
    const Credentials& credentials() const noexcept { return m_credentials; }
    const std::string& principal() const noexcept { return m_principal; }

private:
    void send(std::vector<EventHub::Frame> frames);
    void ping();
    void closeWhenClientGoes();
    EventHub::Frame signOfLife() const;

    Core& m_core;
    const std::unique_ptr<ClientStream> m_stream;
    std::optional<ConnectionSlots::Slot> m_slot;
    const EventHub::Filter m_filter;
    const Credentials m_credentials;
    const std::string m_principal;
    std::uint64_t m_position;
    std::vector<EventHub::Frame> m_sending;
    boost::asio::steady_timer m_timer;
};

} // namespace deltascope::server
