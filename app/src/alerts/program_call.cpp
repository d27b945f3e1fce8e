#include "alerts/program_call.h"

#include "deltascope/base/spawn_attributes.h"

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace deltascope::app {

namespace {

constexpr auto Longest = std::chrono::seconds(10);
constexpr auto Look = std::chrono::milliseconds(20);

/// A file in memory that holds the message, to be read from its begin; -1: there is no room.
int fileOf(const std::string& message)
{
    const int file = memfd_create("message", MFD_CLOEXEC);
    if (file < 0)
        return -1;
    if (write(file, message.data(), message.size()) == static_cast<ssize_t>(message.size())
        && lseek(file, 0, SEEK_SET) == 0)
        return file;
    close(file);
    return -1;
}

struct StartedProgram {
    pid_t child = 0;
    int error = 0; ///< why there is no child
};

StartedProgram start(const std::string& program, int input)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const std::array<char*, 2> words = { const_cast<char*>(program.c_str()), nullptr };
    const SpawnAttributes attributes;
    StartedProgram started;
    started.error = posix_spawn(&started.child, program.c_str(), &files, attributes.get(), words.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    return started;
}

std::string endOf(int status)
{
    return WIFSIGNALED(status) ? fmt::format("signal {} has ended the program", WTERMSIG(status))
                               : fmt::format("the program ends with status {}", WEXITSTATUS(status));
}

}

DeliveryTry ProgramCall::call(const std::string& program, const std::string& message)
{
    const int input = fileOf(message);
    if (input < 0)
        return { Delivery::Failed, "there is no room for the message" };
    const auto [child, error] = start(program, input);
    close(input);
    if (error != 0)
        return { Delivery::Refused, "the program cannot be started: " + std::generic_category().message(error) };
    const auto end = std::chrono::steady_clock::now() + Longest;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (m_stopped || std::chrono::steady_clock::now() >= end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return { Delivery::Failed, "the program has not ended within 10 seconds" };
        }
        std::this_thread::sleep_for(Look);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return {};
    return { Delivery::Failed, endOf(status) };
}

} // namespace deltascope::app
