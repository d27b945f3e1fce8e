#include "../../base/errno_error.h"
#include "../../base/file_handle.h"
#include "credential_ways.h"
#include "deltascope/base/spawn_attributes.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT: POSIX declares it nowhere

namespace deltascope::s3 {

namespace {

constexpr std::size_t MostOutputBytes = std::size_t { 64 } << 10;
constexpr int LookMilliseconds = 50; // a task tells nobody that it is to stop

/// A program with its output in a pipe. Whatever is left of its group at the end of life is killed.
class KeyProgram {
public:
    KeyProgram() = default;
    KeyProgram(const KeyProgram&) = delete;
    KeyProgram& operator=(const KeyProgram&) = delete;
    ~KeyProgram()
    {
        if (m_process > 0) {
            ::kill(-m_process, SIGKILL);
            reap();
        }
    }

    Result<void> start(const std::string& command)
    {
        std::array<int, 2> ends {};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            return failErrno("pipe2", errno, "credential_process");
        m_output = FileHandle(ends[0]);
        const FileHandle input(ends[1]);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDOUT_FILENO);
        ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        SpawnAttributes attributes;
        attributes.setOwnGroup();
        std::string shell = "/bin/sh";
        std::string option = "-c";
        std::string text = command;
        const std::array<char*, 4> arguments { shell.data(), option.data(), text.data(), nullptr };
        const int failed =
            ::posix_spawn(&m_process, shell.c_str(), &actions, attributes.get(), arguments.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        if (failed != 0) {
            m_process = 0;
            return failErrno("posix_spawn", failed, "credential_process");
        }
        return {};
    }

    /// What it prints until it closes its output.
    Result<std::string> output(TaskContext& task)
    {
        std::string text;
        std::array<char, 4096> piece;
        for (;;) {
            DS_CHECK(task.checkpoint());
            pollfd waiting { m_output.get(), POLLIN, 0 };
            if (::poll(&waiting, 1, LookMilliseconds) <= 0)
                continue;
            const ssize_t got = ::read(m_output.get(), piece.data(), piece.size());
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return failErrno("read", errno, "credential_process");
            if (got == 0)
                return text;
            text.append(piece.data(), static_cast<std::size_t>(got));
            if (text.size() > MostOutputBytes)
                return fail(Code::Hostile, "the program of credential_process prints too much");
        }
    }

    /// Its exit status; waits for its end.
    Result<int> wait(TaskContext& task)
    {
        for (;;) {
            int status = 0;
            const pid_t ended = ::waitpid(m_process, &status, WNOHANG);
            if (ended == m_process || (ended < 0 && errno != EINTR)) {
                m_process = 0;
                return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 128;
            }
            DS_CHECK(task.checkpoint());
            ::poll(nullptr, 0, LookMilliseconds);
        }
    }

private:
    void reap() const noexcept
    {
        while (::waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) { }
    }

    FileHandle m_output;
    pid_t m_process = 0;
};

class ProcessKeys final : public CredentialProvider {
public:
    explicit ProcessKeys(std::string command)
        : m_command(std::move(command))
    {
    }

    Result<DatedCredentials> fetch(TaskContext& task) override
    {
        KeyProgram program;
        DS_CHECK(program.start(m_command));
        DS_TRY(const std::string text, program.output(task));
        DS_TRY(const int status, program.wait(task));
        if (status != 0)
            return fail(Code::Auth, fmt::format("the program of credential_process ends with status {}", status), {},
                        "Run it by hand and see what it says.");
        return keysOfJson(text, { "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration" },
                          "the program of credential_process");
    }

private:
    const std::string m_command;
};

} // namespace

std::unique_ptr<CredentialProvider> processKeys(std::string command)
{
    return std::make_unique<ProcessKeys>(std::move(command));
}

} // namespace deltascope::s3
