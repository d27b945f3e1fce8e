#pragma once

#include "deltascope/app/monitor.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace deltascope::app {

/// Who listens to a monitor. Any thread.
class Listeners {
public:
    using Call = std::function<void(const MonitorEvent&)>;

    /// `call` is called until the returned token is destroyed.
    std::shared_ptr<void> add(Call call);
    /// To be called without locks held, so that listeners may ask back.
    void tell(const std::vector<MonitorEvent>& events);

private:
    struct Listener {
        std::mutex mutex; ///< held while it is called
        Call call; ///< empty: its token is gone
    };
    void forget(const std::vector<std::shared_ptr<Listener>>& gone);

    std::mutex m_mutex;
    std::vector<std::shared_ptr<Listener>> m_all;
};

} // namespace deltascope::app
