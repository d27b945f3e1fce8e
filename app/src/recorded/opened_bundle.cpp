#include "recorded_monitor.h"

namespace deltascope::app {

namespace {

class ReadBundle final : public OpenedBundle {
public:
    explicit ReadBundle(RecordedRun recorded)
        : m_recorded(std::move(recorded))
        , m_service(m_recorded)
        , m_monitor(m_recorded, m_service)
    {
    }

    const BundleAbout& about() const noexcept override { return m_recorded.about; }
    Service& service() noexcept override { return m_service; }
    Monitor& monitor() noexcept override { return m_monitor; }

private:
    const RecordedRun m_recorded;
    RecordedService m_service;
    RecordedMonitor m_monitor;
};

}

Result<std::unique_ptr<OpenedBundle>> OpenedBundle::open(const std::string& path)
{
    DS_TRY(RecordedRun recorded, readBundle(path));
    return std::unique_ptr<OpenedBundle>(std::make_unique<ReadBundle>(std::move(recorded)));
}

} // namespace deltascope::app
