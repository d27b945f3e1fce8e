#pragma once

#include <csignal>
#include <spawn.h>

namespace deltascope {

/// How a program is started that knows nothing of ours: no signal is blocked, and those that this program ignores for
/// itself (SIGPIPE, SIGXFSZ) end it as usual. What the user ignores (`nohup`) stays ignored.
class SpawnAttributes {
public:
    SpawnAttributes()
    {
        ::posix_spawnattr_init(&m_attributes);
        sigset_t signals;
        ::sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&m_attributes, &signals);
        ::sigaddset(&signals, SIGPIPE);
        ::sigaddset(&signals, SIGXFSZ);
        ::posix_spawnattr_setsigdefault(&m_attributes, &signals);
        setFlags(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnAttributes() { ::posix_spawnattr_destroy(&m_attributes); }
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;

    /// In a process group of its own.
    void setOwnGroup()
    {
        ::posix_spawnattr_setpgroup(&m_attributes, 0);
        setFlags(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    }
    const posix_spawnattr_t* get() const noexcept { return &m_attributes; }

private:
    void setFlags(int flags) { ::posix_spawnattr_setflags(&m_attributes, static_cast<short>(flags)); }

    posix_spawnattr_t m_attributes {};
};

} // namespace deltascope
