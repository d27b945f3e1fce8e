#include "browser.h"

#include "deltascope/base/spawn_attributes.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace deltascope::cli {

namespace {

bool hasDesktop() { return std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY"); }

/// The program that opens a file with what the user has chosen for it.
void open(std::string file)
{
    std::string program = "xdg-open";
    std::array<char*, 3> words { program.data(), file.data(), nullptr };
    posix_spawn_file_actions_t silent;
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const SpawnAttributes attributes;
    pid_t child = 0;
    posix_spawnp(&child, program.c_str(), &silent, attributes.get(), words.data(), environ);
    posix_spawn_file_actions_destroy(&silent);
}

/// A new file that only its owner can read.
Result<void> write(const std::string& path, const std::string& text)
{
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    const ssize_t written = file < 0 ? -1 : ::write(file, text.data(), text.size());
    const int error = errno;
    if (file >= 0)
        ::close(file);
    if (written != static_cast<ssize_t>(text.size()))
        return fail(Code::Io, fmt::format("its page cannot be written: {}", std::strerror(error)), path);
    return {};
}

std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text)
        out += c == '&' ? "&amp;" : c == '"' ? "&quot;" : c == '<' ? "&lt;" : std::string(1, c);
    return out;
}

}

Result<BrowserPage> BrowserPage::show(const std::string& url, std::string file)
{
    if (!hasDesktop())
        return BrowserPage();
    std::error_code ignored; // what is missing then, the next call tells
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
    ::unlink(file.c_str()); // of a daemon that was killed
    BrowserPage page(std::move(file));
    DS_CHECK(write(page.m_file,
                   fmt::format("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Deltascope</title>\n"
                               "<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n"
                               "<a href=\"{0}\">Open the dashboard</a>\n",
                               escaped(url))));
    open(page.m_file);
    return page;
}

BrowserPage::BrowserPage(std::string file)
    : m_file(std::move(file))
{
}

BrowserPage::BrowserPage(BrowserPage&& other) noexcept
    : m_file(std::exchange(other.m_file, {}))
{
}

BrowserPage& BrowserPage::operator=(BrowserPage&& other) noexcept
{
    std::swap(m_file, other.m_file);
    return *this;
}

BrowserPage::~BrowserPage()
{
    if (!m_file.empty())
        ::unlink(m_file.c_str()); // if not: the code in it is worth nothing without the daemon
}

} // namespace deltascope::cli
