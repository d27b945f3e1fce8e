#include "session/demo_run.h"

#include "bridge/background.h"

#include <utility>

namespace deltascope::desktop {

DemoRun::DemoRun(ServiceBridge& bridge, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
{
}

Result<QString> DemoRun::start(double rate)
{
    if (!m_run.isEmpty())
        return m_run;
    m_request.rate = rate;
    DS_TRY(const app::DemoView demo, m_bridge.service().prepareDemo(m_request));
    const auto job = std::make_shared<app::JobId>();
    m_bridge.ask(
        this, [request = m_request, job](app::Service& service) { return *job = service.demo(request); },
        [this](const Result<app::JobResult>&) {
            m_job.reset();
            if (m_ended)
                remove();
        });
    m_job = *job;
    m_folder = QString::fromStdString(demo.folder);
    app::SourceRequest source;
    source.source = demo.bucket;
    m_run = QString::fromStdString(m_bridge.monitor().follow(source, "demo", true));
    return m_run;
}

void DemoRun::end(std::function<void(const Result<void>&)> done)
{
    m_ended = std::move(done);
    if (m_job)
        m_bridge.service().cancel(*m_job);
    else
        remove();
}

void DemoRun::restart(std::function<void(const Result<QString>&)> done)
{
    end([this, done = std::move(done)](const Result<void>& ended) {
        done(ended ? start(m_request.rate) : Result<QString>(fail(ended.error())));
    });
}

void DemoRun::remove()
{
    m_bridge.monitor().unfollow(m_run.toStdString());
    inBackground(
        this, [&service = m_bridge.service(), request = m_request] { return service.removeDemo(request); },
        [this](const Result<void>& removed) {
            m_run.clear();
            std::exchange(m_ended, nullptr)(removed);
        });
}

} // namespace deltascope::desktop
