#include "hub_follower.h"

#include "../../base/percent_code.h"
#include "../../http/header_text.h"
#include "hub_names.h"

#include <algorithm>

namespace deltascope::hub {

namespace {

constexpr int MostSessionsWithoutReady = 3;
constexpr std::chrono::milliseconds ProbeWithin { 30'000 };

std::string resumeQuery(const ResumePoint& resume)
{
    const std::string value = percentEncode(resume.value);
    if (resume.kind == ResumePoint::Kind::Cursor)
        return "?cursor=" + value;
    return resume.kind == ResumePoint::Kind::Since && !value.empty() ? "?since=" + value : "";
}

} // namespace

/// One stream. Its methods are called by the thread of the HTTP client; the follower looks when that is over.
class HubFollower::Session final : public http::Sink {
public:
    Session(ResumePoint& resume, HubSignal& signal, const std::string& front)
        : m_resume(resume)
        , m_signal(signal)
        , m_front(front)
    {
    }

    void begin(const http::Response& head) override
    {
        const std::string type(head.headers.find("Content-Type").value_or(""));
        isStream = http::isSameName(type.substr(0, std::string_view("text/event-stream").size()), "text/event-stream");
        m_parser = SseParser();
    }

    Result<void> take(ByteSpan bytes) override
    {
        if (!isStream)
            return fail(Code::Unsupported, "this is no stream of events");
        std::vector<ServerEvent> events;
        const Result<void> outcome = m_parser.take(asText(bytes), events);
        for (const ServerEvent& event : events) {
            handle(parseFollowEvent(event));
            if (isOver)
                return fail(Code::Canceled, "the stream has ended");
        }
        if (!outcome) { // what was too large to read may have been anything
            m_resume = {};
            isOver = true;
        }
        return outcome;
    }

    bool isStream = false;
    bool isReady = false;
    bool isOver = false; ///< a healthy end
    bool mayHaveMissed = false; ///< told when it is ready

private:
    void handle(const FollowEvent& event)
    {
        using Kind = FollowEvent::Kind;
        if (event.kind == Kind::Other || (event.kind == Kind::Changes && concerns(event, m_front)))
            m_signal.raise();
        if (event.kind == Kind::Ready) {
            isReady = true;
            if (mayHaveMissed)
                m_signal.raise();
            mayHaveMissed = false;
        }
        if (event.kind == Kind::Reset)
            m_resume = {};
        else if (event.cursor && event.kind != Kind::Other)
            m_resume = { ResumePoint::Kind::Cursor, *event.cursor };
        isOver = event.kind == Kind::Reset || event.kind == Kind::Reconnect;
    }

    ResumePoint& m_resume;
    HubSignal& m_signal;
    const std::string& m_front;
    SseParser m_parser;
};

HubFollower::HubFollower(std::shared_ptr<const BucketApi> bucket, std::string front, std::shared_ptr<HubSignal> signal,
                         const FollowTimes& times, std::string since)
    : m_bucket(std::move(bucket))
    , m_front(std::move(front))
    , m_signal(std::move(signal))
    , m_times(times)
{
    if (!since.empty())
        m_resume = { ResumePoint::Kind::Since, std::move(since) };
}

void HubFollower::run(TaskContext& task)
{
    int notReady = 0;
    std::chrono::milliseconds backoff = m_times.firstPause;
    while (!task.stopRequested()) {
        std::optional<std::chrono::milliseconds> wanted;
        const Ended ended = follow(task, wanted);
        if (ended == Ended::Unfollowable) {
            poll(task, std::nullopt);
            return;
        }
        if (ended == Ended::Healthy) {
            notReady = 0;
            backoff = m_times.firstPause;
            pause(m_times.reconnect, task);
            continue;
        }
        if (ended == Ended::NotReady && ++notReady >= MostSessionsWithoutReady) {
            notReady = 0;
            backoff = m_times.firstPause;
            m_resume = {};
            poll(task, m_times.streamAgain);
            continue;
        }
        pause(wanted ? std::min(*wanted, m_times.longestPause) : backoff, task);
        backoff = std::min(backoff * 2, m_times.longestPause);
    }
}

HubFollower::Ended HubFollower::follow(TaskContext& task, std::optional<std::chrono::milliseconds>& wanted)
{
    if (m_resume.kind == ResumePoint::Kind::None) {
        // In this order: the stream tells what changes after the time, a listing what was before.
        const std::string since = updatedAt(task, wanted);
        m_resume = { since.empty() ? ResumePoint::Kind::Live : ResumePoint::Kind::Since, since };
        m_signal->raise();
    }
    m_mayHaveMissed |= m_resume.kind == ResumePoint::Kind::Live;
    http::Request request = m_bucket->hub().request("GET", m_bucket->route() + "/events" + resumeQuery(m_resume));
    request.headers.add("Accept", "text/event-stream"); // else 400
    request.stallWithin = m_times.silence;
    Session session(m_resume, *m_signal, m_front);
    session.mayHaveMissed = m_mayHaveMissed;
    request.destination = &session;
    const Result<http::Response> outcome = m_bucket->hub().direct()->send(request, task);
    m_mayHaveMissed = session.mayHaveMissed;
    if (outcome && !outcome->isGood())
        wanted = waitOf(*outcome);
    return endOf(outcome, session, task);
}

HubFollower::Ended HubFollower::endOf(const Result<http::Response>& outcome, const Session& session, TaskContext& task)
{
    if (session.isReady || session.isOver)
        return Ended::Healthy;
    if (outcome && outcome->isGood() && !session.isStream)
        return Ended::Unfollowable;
    if (!outcome && outcome.error().code == Code::Unsupported && !session.isStream)
        return Ended::Unfollowable;
    const int status = outcome ? outcome->status : 0;
    for (const int given : { 401, 403, 404, 405, 501 }) {
        if (status == given)
            return Ended::Unfollowable;
    }
    if (status == 400) {
        if (m_resume.kind == ResumePoint::Kind::Live || resumeQuery(m_resume).empty())
            return Ended::Unfollowable;
        stepBack(task);
        return Ended::Refused;
    }
    return Ended::NotReady;
}

/// The server does not take the point: a step back, and one look, since what lies between may be lost.
void HubFollower::stepBack(TaskContext& task)
{
    std::optional<std::chrono::milliseconds> wanted;
    const std::string since = m_resume.kind == ResumePoint::Kind::Cursor ? updatedAt(task, wanted) : "";
    m_resume = { since.empty() ? ResumePoint::Kind::Live : ResumePoint::Kind::Since, since };
    m_signal->raise();
}

/// `time`: nothing: for good.
void HubFollower::poll(TaskContext& task, std::optional<std::chrono::milliseconds> time)
{
    std::string known;
    bool isFirst = true; // since when the stream told nothing is not known
    bool wasAnswered = true;
    std::chrono::milliseconds passed { 0 };
    while (!task.stopRequested() && (!time || passed < *time)) {
        std::optional<std::chrono::milliseconds> wanted;
        const std::string now = updatedAt(task, wanted);
        const bool isAnswered = !now.empty();
        if (isFirst || (isAnswered && now != known) || isAnswered != wasAnswered)
            m_signal->raise();
        isFirst = false;
        wasAnswered = isAnswered;
        if (isAnswered)
            known = now;
        const auto rest = std::max(m_times.poll, wanted.value_or(m_times.poll));
        if (!pause(rest, task))
            return;
        passed += rest;
    }
}

/// Empty: it cannot be told; `wanted`: how long the server wants to be left alone.
std::string HubFollower::updatedAt(TaskContext& task, std::optional<std::chrono::milliseconds>& wanted) const
{
    http::Request request = m_bucket->hub().request("GET", m_bucket->route());
    request.finishWithin = ProbeWithin;
    const Result<http::Response> answer = m_bucket->hub().direct()->send(request, task);
    if (!answer)
        return {};
    if (!answer->isGood()) {
        wanted = waitOf(*answer);
        return {};
    }
    const Result<BucketInfo> info = parseBucketInfo(answer->body);
    return info ? info->updatedAt : std::string();
}

std::optional<std::chrono::milliseconds> HubFollower::waitOf(const http::Response& answer) const
{
    return http::waitWanted(answer.headers, m_bucket->hub().clock()->date());
}

/// False: it was asked to stop.
bool HubFollower::pause(std::chrono::milliseconds time, TaskContext& task) const
{
    return m_bucket->hub().clock()->pause(time, task).has_value();
}

} // namespace deltascope::hub
