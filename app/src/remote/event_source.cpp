#include "event_source.h"

#include "curl_parts.h"

namespace deltascope::app {

namespace {

using Clock = std::chrono::steady_clock;
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

struct EventSource::State {
    Wire& wire;
    CurlMulti multi { curl_multi_init() };
    CurlEasy easy { curl_easy_init() };
    CurlHeaders headers;
    std::string url;
    std::string refusal; ///< body of an answer that is no stream
    EventParser parser;
    std::vector<ServerEvent> events;
    Clock::time_point heard = Clock::now();
    std::chrono::system_clock::time_point heardAt = std::chrono::system_clock::now();

    explicit State(Wire& theWire)
        : wire(theWire)
    {
    }
    ~State()
    {
        if (easy)
            curl_multi_remove_handle(multi.get(), easy.get());
    }

    long status() const
    {
        long code = 0;
        curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &code);
        return code;
    }

    static std::size_t takeBytes(char* bytes, std::size_t size, std::size_t count, void* to)
    {
        auto& state = *static_cast<State*>(to);
        state.heard = Clock::now();
        state.heardAt = std::chrono::system_clock::now();
        const std::string_view text(bytes, size * count);
        if (state.status() != 200) {
            state.refusal += text.substr(0, 64'000 - std::min<std::size_t>(state.refusal.size(), 64'000));
            return text.size();
        }
        return state.parser.take(text, state.events) ? text.size() : 0;
    }

    /// Errors: the connection ended.
    Result<void> turn(std::chrono::milliseconds time)
    {
        int running = 0;
        curl_multi_perform(multi.get(), &running);
        if (running > 0 && events.empty() && time.count() > 0) {
            curl_multi_poll(multi.get(), nullptr, 0, static_cast<int>(time.count()), nullptr);
            curl_multi_perform(multi.get(), &running);
        }
        if (running > 0)
            return Clock::now() - heard < Silence ? Result<void>() : fail(wire.noContact("it is silent"));
        heardAt = std::chrono::system_clock::now(); // that it ended was heard, too
        int left = 0;
        const CURLMsg* const end = curl_multi_info_read(multi.get(), &left);
        if (end && end->data.result != CURLE_OK)
            return fail(wire.noContact(curl_easy_strerror(end->data.result)));
        if (status() != 200)
            return fail(wire.errorOf(status(), refusal));
        return fail(wire.noContact("it ended the connection"));
    }
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
    auto state = std::make_unique<State>(wire);
    std::vector<std::string> lines = wire.headers();
    lines.emplace_back("Accept: text/event-stream");
    state->headers = curlHeaders(lines);
    state->url = wire.urlOf("events", { { "topics", topics } });
    CURL* const easy = state->easy.get();
    setCommon(easy, state->url, state->headers.get());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &State::takeBytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, state.get());
    curl_multi_add_handle(state->multi.get(), easy);
    while (state->status() != 200) {
        if (stopped())
            return fail(Code::Canceled, "stopped on request");
        DS_CHECK(state->turn(Pause));
    }
    return std::unique_ptr<EventSource>(new EventSource(std::move(state)));
}

std::int64_t EventSource::heardUs() const
{
    return std::chrono::duration_cast<std::chrono::microseconds>(m_state->heardAt.time_since_epoch()).count();
}

Result<std::vector<ServerEvent>> EventSource::wait(std::chrono::milliseconds time)
{
    const Result<void> alive = m_state->turn(time);
    if (!alive && m_state->events.empty())
        return fail(alive.error());
    return std::exchange(m_state->events, {});
}

} // namespace deltascope::app
