#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "store/xet/cas_client.h"
#include "store/xet/hash.h"

#include <atomic>
#include <memory>

namespace deltascope::xet {

/// Brings xorbs into a content-addressed store: to the address that the store grants (hf_xet 1.8), or, where it has no
/// grants or the address does not work, by POST /v1/xorbs. Any thread.
class XorbPost {
public:
    explicit XorbPost(CasClient& cas)
        : m_cas(cas)
    {
    }

    /// Returns once the store has it. `checksum`: crc64Nvme of the body.
    Result<void> send(const Hash& xorb, const std::shared_ptr<const http::Body>& body, std::uint64_t checksum,
                      TaskContext& task);

private:
    enum class Way { Done, GrantAnew, Post };

    /// What to do next after one grant. Errors: Canceled, Auth.
    Result<Way> tryGrant(const Hash& xorb, const std::shared_ptr<const http::Body>& body, std::uint64_t checksum,
                         TaskContext& task);
    Result<Way> useGrant(const Hash& xorb, std::string_view grant, const std::shared_ptr<const http::Body>& body,
                         TaskContext& task);
    Result<void> post(const Hash& xorb, const std::shared_ptr<const http::Body>& body, TaskContext& task);

    CasClient& m_cas;
    std::atomic<bool> m_hasGrants = true;
};

} // namespace deltascope::xet
