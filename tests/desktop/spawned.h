#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace deltascope::desktop {

/// Another program. Not a QProcess: until it runs, that shares its memory with this one, which a thread sanitizer does
/// not survive. Throws std::system_error if it does not start.
class Spawned {
public:
    explicit Spawned(std::vector<std::string> words)
    {
        int ends[2] = {};
        if (::pipe2(ends, O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        std::vector<char*> arguments;
        for (std::string& word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const int failed = ::posix_spawnp(&m_pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        m_output = ::fdopen(ends[0], "r");
        if (failed) {
            std::fclose(m_output);
            throw std::system_error(failed, std::generic_category(), words.front());
        }
    }
    Spawned(const Spawned&) = delete;
    Spawned& operator=(const Spawned&) = delete;
    ~Spawned()
    {
        if (m_pid > 0) {
            ::kill(m_pid, SIGTERM);
            wait();
        }
        std::fclose(m_output);
    }

    /// The next line that it prints, without its end; empty at the end of what it prints.
    std::string readLine()
    {
        std::string line;
        for (int c = std::fgetc(m_output); c != EOF && c != '\n'; c = std::fgetc(m_output))
            line += static_cast<char>(c);
        return line;
    }
    /// Until it ends; what it still prints is dropped. Whether it said success.
    bool wait()
    {
        while (std::fgetc(m_output) != EOF)
            continue;
        int status = 0;
        ::waitpid(m_pid, &status, 0);
        m_pid = 0;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

private:
    pid_t m_pid = 0;
    std::FILE* m_output = nullptr;
};

} // namespace deltascope::desktop
