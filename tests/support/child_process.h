#pragma once

#include <array>
#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace deltascope::test {

/// Runs `body` in a forked child and returns its answer; false if the child died. For limits and faults that hold for a
/// whole process.
template <class Body> bool inChild(Body body)
{
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(body() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// From now on the system call SYS_… only ever fails with `errnoValue` in this process; for use in a child. False if
/// that cannot be had.
inline bool denyCall(unsigned call, unsigned errnoValue)
{
    std::array<sock_filter, 4> filter = { {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnoValue),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    } };
    const sock_fprog program = { static_cast<unsigned short>(filter.size()), filter.data() };
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

} // namespace deltascope::test
