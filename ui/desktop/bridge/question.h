#pragma once

#include "bridge/service_bridge.h"

#include <QPointer>

#include <memory>
#include <optional>
#include <utility>

namespace deltascope::desktop {

/// A question to the service of which the newest counts: asked again, the job that runs is canceled and the new one
/// starts when it has ended, so that quick moves of a cursor pile up no jobs. GUI thread.
class Question final : public QObject {
public:
    using Start = std::function<app::JobId(app::Service&)>;

    explicit Question(ServiceBridge& bridge, QObject* parent = nullptr)
        : QObject(parent)
        , m_bridge(bridge)
    {
    }
    ~Question() override { drop(); }

    /// `answer` is called on the GUI thread, unless another question or drop() came first.
    void ask(Start start, ServiceBridge::Answer answer)
    {
        m_next.emplace(std::move(start), std::move(answer));
        if (m_running)
            cancel();
        else
            next();
    }
    /// Nobody wants to know any more.
    void drop()
    {
        m_next.reset();
        m_wanted = false;
        cancel();
    }
    bool isRunning() const { return (m_running && m_wanted) || m_next.has_value(); }

private:
    void cancel()
    {
        m_wanted = false;
        if (m_running)
            m_bridge.service().cancel(*m_running);
    }
    void next()
    {
        auto [start, answer] = std::move(*m_next);
        m_next.reset();
        m_wanted = true;
        const auto job = std::make_shared<app::JobId>();
        m_bridge.ask(
            this, [start = std::move(start), job](app::Service& service) { return *job = start(service); },
            [this, answer = std::move(answer)](const Result<app::JobResult>& result) {
                m_running.reset();
                if (std::exchange(m_wanted, false))
                    answer(result);
                if (m_next && !m_running)
                    next();
            });
        m_running = *job;
    }

    ServiceBridge& m_bridge;
    std::optional<app::JobId> m_running;
    bool m_wanted = false; ///< the answer of what runs
    std::optional<std::pair<Start, ServiceBridge::Answer>> m_next;
};

} // namespace deltascope::desktop
