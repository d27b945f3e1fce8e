#pragma once

#include "hub_api.h"
#include "store/xet/access.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace deltascope::hub {

/// Tokens for the Xet servers of one bucket, or of one repository at a commit (huggingface_hub 2.4.0, utils/_xet.py):
/// asked for once, kept in memory alone, and renewed a minute before they end. Any thread.
class HubAccess final : public xet::AccessSource {
public:
    /// `route`: "/api/buckets/NS/NAME"; `tail`: what stands behind "/xet-read-token".
    HubAccess(std::shared_ptr<const HubApi> hub, std::string route, std::string tail, Subject subject);

    /// One request at a time for each scope; others wait for it. Where `refresh` is asked for, one that came after this
    /// call had begun is new enough.
    Result<xet::Access> access(xet::Scope scope, bool refresh, TaskContext& task) override;

private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    struct Slot {
        xet::Access access;
        SteadyTime came; ///< when the answer arrived
        SteadyTime asked; ///< when the request began
        bool isAsking = false;
        bool isThere = false;
    };

    bool isUsable(const Slot& slot) const;
    Result<xet::Access> ask(xet::Scope scope, TaskContext& task) const;

    const std::shared_ptr<const HubApi> m_hub;
    const std::string m_route, m_tail;
    const Subject m_subject;
    std::mutex m_mutex; ///< guards what follows
    std::condition_variable m_changed;
    Slot m_read, m_write;
};

} // namespace deltascope::hub
