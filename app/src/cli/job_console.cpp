#include "job_console.h"

#include "exit_codes.h"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

namespace deltascope::cli {

namespace {

// A signal handler can reach nothing but a static.
volatile std::sig_atomic_t interrupts = 0;

void onInterrupt(int)
{
    interrupts = interrupts + 1;
    if (interrupts > 1)
        ::_exit(InterruptedTwice);
}

using Clock = std::chrono::steady_clock;

/// One line that is rewritten on a terminal, else a line every ten seconds.
class ProgressLine {
public:
    explicit ProgressLine(const Style& style)
        : m_style(style)
    {
    }
    ~ProgressLine() { clear(); }

    void show(const app::JobView& job)
    {
        if (m_style.quiet || job.phase.empty())
            return;
        const Clock::time_point now = Clock::now();
        if (!m_style.progress) {
            if (now - m_last < std::chrono::seconds(10))
                return;
            m_last = now;
            writeErr(describe(job) + "\n");
            return;
        }
        writeErr("\r\x1b[K" + describe(job));
        m_shown = true;
    }

    void clear()
    {
        if (m_shown)
            writeErr("\r\x1b[K");
        m_shown = false;
    }

private:
    static std::string describe(const app::JobView& job)
    {
        std::string text = safe(job.phase);
        if (job.totalBytes > 0) {
            text += fmt::format(
                " {:3.0f} %",
                100.0 * std::min(1.0, static_cast<double>(job.doneBytes) / static_cast<double>(job.totalBytes)));
            text += fmt::format("  {} of {}", bytesText(job.doneBytes), bytesText(job.totalBytes));
        }
        if (job.bytesPerSecond > 0)
            text += fmt::format("  {}/s", bytesText(static_cast<std::uint64_t>(job.bytesPerSecond)));
        if (job.secondsLeft)
            text +=
                *job.secondsLeft < 1 ? "  finishing" : fmt::format("  about {} left", durationText(*job.secondsLeft));
        if (job.state == app::JobState::Paused)
            text += "  (paused)";
        return text;
    }

    const Style& m_style;
    Clock::time_point m_last = Clock::now();
    bool m_shown = false;
};

}

void installSignalHandlers()
{
    struct sigaction action = {};
    action.sa_handler = onInterrupt;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN); // the write reports it
    std::signal(SIGXFSZ, SIG_IGN); // so that a file size limit is an error like a full disk
}

bool interrupted() noexcept { return interrupts > 0; }

void waitForInterrupt()
{
    while (interrupts == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

Result<app::JobResult> waitForJob(app::Service& service, app::EventFeed& feed, app::JobId job, const Style& style,
                                  const JobListeners& listeners)
{
    ProgressLine line(style);
    const bool writes = listeners.onRun || listeners.onPublished;
    bool stopping = false;
    for (;;) {
        if (!stopping && (interrupts > 0 || (writes && isReaderGone()))) {
            stopping = true;
            service.cancel(job);
        }
        feed.wait(50);
        for (app::Event& event : feed.take()) {
            if (auto* progressed = std::get_if<app::JobProgressed>(&event)) {
                if (progressed->job.id == job)
                    line.show(progressed->job);
            } else if (auto* changed = std::get_if<app::RunChanged>(&event)) {
                line.clear();
                if (listeners.onRun)
                    listeners.onRun(*changed->run);
            } else if (auto* published = std::get_if<app::Published>(&event)) {
                line.clear();
                if (listeners.onPublished && published->job == job)
                    listeners.onPublished(*published->view);
            } else if (auto* finished = std::get_if<app::JobFinished>(&event); finished && finished->job == job) {
                line.clear();
                return std::move(finished->outcome);
            }
        }
    }
}

} // namespace deltascope::cli
