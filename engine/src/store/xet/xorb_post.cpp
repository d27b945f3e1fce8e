#include "store/xet/xorb_post.h"

#include "store/xet/xorb_grant.h"

#include <fmt/format.h>

namespace deltascope::xet {

namespace {

constexpr int Created = 201;
constexpr int BadRequest = 400;
constexpr int Forbidden = 403;
constexpr int NotThere = 404;
constexpr int Conflict = 409;
constexpr int AlreadyThere = 412;
constexpr int NotImplemented = 501;

/// A request of which nothing but the status matters.
http::Request postTo(std::string path, std::shared_ptr<const http::Body> body)
{
    http::Request request;
    request.method = "POST";
    request.url = std::move(path);
    request.body = std::move(body);
    request.repeatable = true; // what a xorb is called follows from its content
    return request;
}

bool endsSession(const Error& error) { return error.code == Code::Canceled || error.code == Code::Auth; }

}

Result<void> XorbPost::send(const Hash& xorb, const std::shared_ptr<const http::Body>& body, std::uint64_t checksum,
                            TaskContext& task)
{
    constexpr int MostGrants = 3;
    for (int i = 0; i < MostGrants && m_hasGrants; ++i) {
        DS_TRY(const Way way, tryGrant(xorb, body, checksum, task));
        if (way == Way::Done)
            return {};
        if (way == Way::Post)
            break;
    }
    return post(xorb, body, task);
}

Result<XorbPost::Way> XorbPost::tryGrant(const Hash& xorb, const std::shared_ptr<const http::Body>& body,
                                         std::uint64_t checksum, TaskContext& task)
{
    http::Request ask =
        postTo("/v1/xorb-grants/default/" + xorb.text(),
               http::bodyOf(fmt::format(R"({{"length":{},"checksum":{{"algo":"crc64nvme","value":"{}"}}}})",
                                        body->sizeBytes(), checksum)));
    ask.headers.add("Content-Type", "application/json");
    const Result<http::Response> answer = m_cas.send(Scope::Write, std::move(ask), task);
    if (!answer)
        return endsSession(answer.error()) ? Result<Way>(fail(answer.error())) : Way::Post;
    if (answer->status == NotThere || answer->status == NotImplemented)
        m_hasGrants = false;
    if (answer->status != Created)
        return answer->isGood() ? Way::Done : Way::Post; // it is there already
    return useGrant(xorb, answer->body, body, task);
}

Result<XorbPost::Way> XorbPost::useGrant(const Hash& xorb, std::string_view text,
                                         const std::shared_ptr<const http::Body>& body, TaskContext& task)
{
    const Result<XorbGrant> grant = parseXorbGrant(text);
    if (!grant)
        return Way::Post;
    http::Request put = postTo(grant->url, body);
    put.method = grant->method;
    put.headers = grant->headers;
    const Result<http::Response> sent = m_cas.sendSigned(Scope::Write, std::move(put), task);
    if (!sent)
        return endsSession(sent.error()) ? Result<Way>(fail(sent.error())) : Way::Post;
    if (sent->status == BadRequest || sent->status == Forbidden || sent->status == Conflict)
        return Way::GrantAnew;
    if (!sent->isGood() && sent->status != AlreadyThere)
        return Way::Post;
    const std::string path = fmt::format("/v1/xorb-commits/default/{}/grant/{}", xorb.text(), grant->id);
    const Result<http::Response> committed = m_cas.send(Scope::Write, postTo(path, nullptr), task);
    if (!committed)
        return endsSession(committed.error()) ? Result<Way>(fail(committed.error())) : Way::Post;
    if (committed->isGood())
        return Way::Done;
    return committed->status == NotThere ? Way::GrantAnew : Way::Post;
}

Result<void> XorbPost::post(const Hash& xorb, const std::shared_ptr<const http::Body>& body, TaskContext& task)
{
    http::Request request = postTo("/v1/xorbs/default/" + xorb.text(), body);
    request.headers.add("Content-Type", "application/octet-stream");
    request.stallWithin = std::chrono::minutes(5); // the store looks at all of it before it answers
    std::string address;
    DS_TRY(const http::Response response, m_cas.send(Scope::Write, std::move(request), task, &address));
    if (!response.isGood())
        return fail(http::errorOfStatus(response.status, address));
    return {};
}

} // namespace deltascope::xet
