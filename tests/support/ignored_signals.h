#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <string>

namespace deltascope::test {

/// As the command line ignores signals: SIGPIPE and SIGXFSZ. SIGUSR1 stands for what a user ignores.
class IgnoredSignals {
public:
    IgnoredSignals()
    {
        for (std::size_t i = 0; i < Signals.size(); ++i)
            m_before[i] = std::signal(Signals[i], SIG_IGN);
    }
    ~IgnoredSignals()
    {
        for (std::size_t i = 0; i < Signals.size(); ++i)
            std::signal(Signals[i], m_before[i]);
    }
    IgnoredSignals(const IgnoredSignals&) = delete;
    IgnoredSignals& operator=(const IgnoredSignals&) = delete;

private:
    static constexpr std::array Signals = { SIGPIPE, SIGXFSZ, SIGUSR1 };
    std::array<void (*)(int), Signals.size()> m_before {};
};

/// Whether a signal is one of `mask`, a field of /proc/PID/status.
inline bool isIn(const std::string& mask, int signal)
{
    return ((std::stoull(mask, nullptr, 16) >> (signal - 1)) & 1U) != 0;
}

} // namespace deltascope::test
