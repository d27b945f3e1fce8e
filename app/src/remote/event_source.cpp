#include "event_source.h"

#include <condition_variable>
#include <mutex>

namespace deltascope::app {

namespace {

constexpr auto Silence = std::chrono::seconds(40); ///< a server sends something every 15
constexpr std::size_t MostEventBytes = std::size_t { 64 } << 20; ///< of one event

}

bool EventParser::take(std::string_view bytes, std::vector<ServerEvent>& events)
{
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        m_rest.append(bytes.substr(0, end));
        if (m_rest.size() + m_event.data.size() > MostEventBytes)
            return false;
        if (end == std::string_view::npos)
            return true;
        if (m_rest.ends_with('\r'))
            m_rest.pop_back();
        takeLine(m_rest, events);
        m_rest.clear();
        bytes.remove_prefix(end + 1);
    }
    return true;
}

void EventParser::takeLine(std::string_view line, std::vector<ServerEvent>& events)
{
    if (line.empty()) {
        if (!m_event.data.empty())
            events.push_back(std::move(m_event));
        m_event = {};
        return;
    }
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' '))
        value.remove_prefix(1);
    if (name == "event")
        m_event.type = value;
    else if (name == "data")
        m_event.data += (m_event.data.empty() ? "" : "\n") + std::string(value);
}

/// What the thread of the client hands over.
struct EventSource::State final : http::Sink {
    explicit State(Wire& theWire, const std::string& topics)
        : wire(theWire)
        , exchange(wire.listen("events", { { "topics", topics } }, *this, Silence))
    {
    }

    void begin(const http::Response& head) override
    {
        const std::lock_guard lock(mutex);
        isOpen = head.status == 200;
        changed.notify_all();
    }
    Result<void> take(ByteSpan bytes) override
    {
        const std::lock_guard lock(mutex);
        heardAt = std::chrono::system_clock::now();
        if (!parser.take(asText(bytes), events))
            return fail(Code::Unsupported, "an event is larger than any that a server sends");
        changed.notify_all();
        return {};
    }
    void end() override
    {
        const std::lock_guard lock(mutex);
        heardAt = std::chrono::system_clock::now(); // that it ended was heard, too
        isOver = true;
        changed.notify_all();
    }

    /// Why it is over.
    Error reason()
    {
        if (!ending) {
            const Result<http::Response> answer = exchange.take();
            if (!answer)
                ending = wire.noContact(answer.error().text);
            else if (answer->status != 200)
                ending = wire.errorOf(answer->status, answer->body);
            else
                ending = wire.noContact("it ended the connection");
        }
        return *ending;
    }

    Wire& wire;
    std::optional<Error> ending;

    std::mutex mutex; ///< guards what follows
    std::condition_variable changed;
    bool isOpen = false;
    bool isOver = false;
    EventParser parser;
    std::vector<ServerEvent> events;
    std::chrono::system_clock::time_point heardAt = std::chrono::system_clock::now();

    http::Exchange exchange; ///< last: it calls this object
};

EventSource::EventSource(std::unique_ptr<State> state)
    : m_state(std::move(state))
{
}

EventSource::~EventSource() = default;

Result<std::unique_ptr<EventSource>> EventSource::open(Wire& wire, const std::string& topics,
                                                       const Wire::Stopped& stopped)
{
    constexpr auto Pause = std::chrono::milliseconds(50);
    auto state = std::make_unique<State>(wire, topics);
    for (std::unique_lock lock(state->mutex); !state->isOpen;) {
        if (stopped())
            return fail(Code::Canceled, "stopped on request");
        if (state->isOver) {
            lock.unlock();
            return fail(state->reason());
        }
        state->changed.wait_for(lock, Pause);
    }
    return std::unique_ptr<EventSource>(new EventSource(std::move(state)));
}

std::int64_t EventSource::heardUs() const
{
    const std::lock_guard lock(m_state->mutex);
    return std::chrono::duration_cast<std::chrono::microseconds>(m_state->heardAt.time_since_epoch()).count();
}

Result<std::vector<ServerEvent>> EventSource::wait(std::chrono::milliseconds time)
{
    std::unique_lock lock(m_state->mutex);
    m_state->changed.wait_for(lock, time, [this] { return m_state->isOver || !m_state->events.empty(); });
    if (!m_state->events.empty() || !m_state->isOver)
        return std::exchange(m_state->events, {});
    lock.unlock();
    return fail(m_state->reason());
}

} // namespace deltascope::app
