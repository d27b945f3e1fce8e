#pragma once

#include "bridge/background.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace deltascope::desktop {

/// Work off the GUI thread of which the newest result counts: makes view-models of big runs. While one calculation
/// runs, of those that are asked for only the last one waits. `done` is called on the GUI thread, never after the
/// destructor. GUI thread.
template <class T> class Calculation {
public:
    Calculation()
        : m_state(std::make_shared<State>())
    {
    }
    Calculation(const Calculation&) = delete;
    Calculation& operator=(const Calculation&) = delete;
    ~Calculation() { m_state->gone = true; }

    using Work = std::function<T()>;
    using Done = std::function<void(T)>;

    /// `work` must own all that it reads.
    void start(Work work, Done done)
    {
        if (m_state->running)
            m_state->next.emplace(std::move(work), std::move(done));
        else
            run(m_state, std::move(work), std::move(done));
    }
    bool isRunning() const { return m_state->running; }

private:
    struct State { ///< GUI thread
        bool gone = false;
        bool running = false;
        std::optional<std::pair<Work, Done>> next;
    };

    static void run(const std::shared_ptr<State>& state, Work work, Done done)
    {
        state->running = true;
        Background::start([state, work = std::move(work), done = std::move(done)]() mutable {
            auto result = std::make_shared<T>(work());
            Background::tell([state, result, done = std::move(done)] {
                state->running = false;
                if (state->gone)
                    return;
                done(std::move(*result));
                if (state->gone || state->running || !state->next)
                    return;
                auto [nextWork, nextDone] = std::move(*state->next);
                state->next.reset();
                run(state, std::move(nextWork), std::move(nextDone));
            });
        });
    }

    std::shared_ptr<State> m_state;
};

} // namespace deltascope::desktop
