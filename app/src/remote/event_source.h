#pragma once

#include "wire.h"

#include "deltascope/base/result.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

/// An event of a server.
struct ServerEvent {
    std::string type;
    std::string data; ///< JSON
};

/// Cuts a text/event-stream into events; comments and ids are passed over.
class EventParser {
public:
    /// Appends the events that are complete by now. False: an event is larger than anything a server sends.
    bool take(std::string_view bytes, std::vector<ServerEvent>& events);

private:
    void takeLine(std::string_view line, std::vector<ServerEvent>& events);

    std::string m_rest; ///< of a line
    ServerEvent m_event;
};

/// The events of a server, while the connection lasts. One thread; wake() may be called from any.
class EventSource {
public:
    /// Waits until the server answers.
    static Result<std::unique_ptr<EventSource>> open(Wire& wire, const std::string& topics,
                                                     const Wire::Stopped& stopped);
    ~EventSource();

    /// What came since, at once if there is something, else within the time. Errors: Transient (the connection ended,
    /// or was silent for longer than a server ever is).
    Result<std::vector<ServerEvent>> wait(std::chrono::milliseconds time);

    /// When the server sent something last, be it that it is there.
    std::int64_t heardUs() const;

private:
    struct State;
    explicit EventSource(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace deltascope::app
