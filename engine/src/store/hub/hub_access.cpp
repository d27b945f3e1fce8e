#include "hub_access.h"

#include "deltascope/engine/http_url.h"
#include "hub_json.h"

namespace deltascope::hub {

namespace {

constexpr std::chrono::seconds EndsEarly { 60 };
/// A clock of this machine that is hours ahead makes every token look old. One that has just come is used so long; the
/// server refuses it if it is right.
constexpr std::chrono::seconds FreshFor { 15 };
constexpr std::chrono::milliseconds LookAtTask { 50 };

} // namespace

HubAccess::HubAccess(std::shared_ptr<const HubApi> hub, std::string route, std::string tail, Subject subject)
    : m_hub(std::move(hub))
    , m_route(std::move(route))
    , m_tail(std::move(tail))
    , m_subject(std::move(subject))
{
}

bool HubAccess::isUsable(const Slot& slot) const
{
    if (!slot.isThere)
        return false;
    return m_hub->clock()->date() + EndsEarly < slot.access.expires || m_hub->clock()->now() < slot.came + FreshFor;
}

Result<xet::Access> HubAccess::access(xet::Scope scope, bool refresh, TaskContext& task)
{
    std::unique_lock lock(m_mutex);
    Slot& slot = scope == xet::Scope::Write ? m_write : m_read;
    const SteadyTime begin = m_hub->clock()->now();
    const auto isGood = [&] { return isUsable(slot) && (!refresh || slot.asked > begin); };
    while (!isGood() && slot.isAsking) {
        DS_CHECK(task.going());
        m_changed.wait_for(lock, LookAtTask);
    }
    if (isGood())
        return slot.access;
    slot.isAsking = true;
    slot.asked = m_hub->clock()->now();
    lock.unlock();
    Result<xet::Access> access = ask(scope, task);
    lock.lock();
    slot.isAsking = false;
    // One that is only near its end goes on while no other can be had.
    const bool stillHolds = slot.isThere && !refresh && m_hub->clock()->date() < slot.access.expires;
    if (access) {
        slot.access = *access;
        slot.came = m_hub->clock()->now();
        slot.isThere = true;
    } else if (stillHolds && access.error().code == Code::Transient) {
        access = slot.access;
    } else {
        slot.isThere = false;
    }
    m_changed.notify_all();
    return access;
}

Result<xet::Access> HubAccess::ask(xet::Scope scope, TaskContext& task) const
{
    const char* const name = scope == xet::Scope::Write ? "/xet-write-token" : "/xet-read-token";
    const http::Request request = m_hub->request("GET", m_route + name + m_tail);
    DS_TRY(const http::Response answer, m_hub->ask(request, m_subject, task));
    DS_TRY(XetTokenReply reply, parseXetToken(answer.body));
    const Result<http::Url> cas = http::Url::parse(reply.casUrl);
    const bool isPlainHub = m_hub->endpoint().starts_with("http:");
    if (!cas || !cas->userInfo.empty() || (cas->scheme != "https" && !(cas->scheme == "http" && isPlainHub)))
        return fail(Code::Hostile, "the Hub names Xet servers that cannot be asked safely", m_hub->endpoint());
    return xet::Access { std::move(reply.accessToken),
                         std::chrono::system_clock::time_point(std::chrono::seconds(reply.expiresAtSeconds)),
                         std::move(reply.casUrl) };
}

} // namespace deltascope::hub
