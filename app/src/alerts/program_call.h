#pragma once

#include "alerts/delivery.h"

#include <atomic>
#include <string>

namespace deltascope::app {

/// Hands a message to a program on its standard input, without a shell. One thread calls; any may stop it.
class ProgramCall {
public:
    /// At most ten seconds, then it is killed. Delivered: the program ended with 0. Refused: it cannot be started.
    DeliveryTry call(const std::string& program, const std::string& message);
    /// What is under way ends at once, and so does everything later.
    void stop() { m_stopped = true; }

private:
    std::atomic<bool> m_stopped = false;
};

} // namespace deltascope::app
