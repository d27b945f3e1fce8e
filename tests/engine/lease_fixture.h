#pragma once

#include "publish_fixture.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

// Leases of others: forged ones, and the processes that they name.

namespace deltascope::layout_test {

inline constexpr std::int64_t Minute = 60'000'000;

inline std::string leaseKey(std::int64_t number)
{
    return fmt::format(".deltascope/v1/lease/publisher-{:08}.json", number);
}

inline Json leaseOf(Publishing& p, std::int64_t number) { return Json::parse(readObject(*p.run, leaseKey(number))); }

/// The lease of somebody who holds the run: like one of this process, with some fields changed.
inline Json forged(Publishing& p, const Json& changes)
{
    Publishing other;
    EXPECT_TRUE(other.open()); // writes a lease and gives it back
    Json lease = leaseOf(other, 1);
    lease["released"] = false;
    lease["renewed_us"] = p.now;
    lease.update(changes);
    return lease;
}

inline void expectTaken(Publishing& p)
{
    auto publisher = p.open();
    ASSERT_TRUE(publisher) << publisher.error().text;
    EXPECT_TRUE(p.publish(*publisher, 1));
}

inline void expectRefused(Publishing& p)
{
    const Error error = errorOf(p.open());
    EXPECT_EQ(error.code, Code::Exists);
    EXPECT_FALSE(error.action.empty());
    EXPECT_TRUE(p.keys().empty());
}

/// A process that has ended; nothing has asked how as long as this lives.
class EndedProcess {
public:
    EndedProcess()
        : m_pid(::fork())
    {
        if (m_pid == 0)
            ::_exit(0);
        siginfo_t info {};
        EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED | WNOWAIT), 0);
        std::ifstream file(fmt::format("/proc/{}/stat", m_pid));
        const std::string stat(std::istreambuf_iterator<char>(file), {});
        std::istringstream fields(stat.substr(stat.rfind(')') + 1));
        for (int i = 3; i <= 22; ++i)
            fields >> m_started;
    }
    ~EndedProcess() { reap(); }
    EndedProcess(const EndedProcess&) = delete;
    EndedProcess& operator=(const EndedProcess&) = delete;
    void reap()
    {
        if (!std::exchange(m_reaped, true))
            ::waitpid(m_pid, nullptr, 0);
    }
    Json fields() const { return { { "pid", m_pid }, { "started", m_started } }; }

private:
    pid_t m_pid;
    std::string m_started;
    bool m_reaped = false;
};

} // namespace deltascope::layout_test
