#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "deltascope/engine/http.h"
#include "store/xet/access.h"

#include <memory>
#include <string>

namespace deltascope::xet {

/// Sends requests to a content-addressed store with the access it demands. Any thread.
class CasClient {
public:
    CasClient(std::shared_ptr<http::Sender> sender, std::shared_ptr<AccessSource> access)
        : m_sender(std::move(sender))
        , m_access(std::move(access))
    {
    }

    /// `request.url` is a path of the store ("/v1/…"). If the answer is 401, access is fetched again and the request is
    /// sent once more. Errors: those of Sender::send and AccessSource::access. The address in an answer's error is in
    /// `address`, if that is not null.
    Result<http::Response> send(Scope scope, http::Request request, TaskContext& task, std::string* address = nullptr);

    /// A request to another host, with no access: to a signed URL that the store gave. Errors: also Hostile (an address
    /// that is not as safe as that of the store).
    Result<http::Response> sendSigned(Scope scope, http::Request request, TaskContext& task);

private:
    std::shared_ptr<http::Sender> m_sender;
    std::shared_ptr<AccessSource> m_access;
};

} // namespace deltascope::xet
