#pragma once

#include "logs/log_parser.h"

#include "deltascope/engine/trace.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

/// Turns what the lines of one log say into spans of one actor. Lines without a step belong to the one that other lines
/// of the same sync name. Of several processes that tell of one phase of one step, the slowest counts.
class LogSpans {
public:
    explicit LogSpans(std::string actor);

    /// `seenUs`: when the line was read, if it was just written; it dates lines without a time stamp.
    void add(const LogEvent& event, std::optional<std::int64_t> seenUs);

    /// In the order of the log. The newest 100,000; those of a sync appear when it has ended. `note` names the
    /// framework.
    const std::vector<Span>& spans() const { return m_spans; }
    std::uint64_t revision() const { return m_revision; } ///< grows when spans() says something else

private:
    /// A weight sync whose end was not printed yet.
    struct Sync {
        bool begun = false;
        std::optional<std::int64_t> step;
        std::vector<Span> phases; ///< step is still missing
        std::optional<double> unpausedSeconds;
        std::optional<double> changedFraction;
        std::uint64_t bytes = 0;

        bool open() const { return begun || !phases.empty(); }
    };

    Span spanOf(const LogEvent& event, const LogPhase& phase, std::optional<std::int64_t> atUs) const;
    void takePause(const LogEvent& event);
    void takeNote(const LogEvent& event, std::optional<std::int64_t> atUs);
    void join(const LogEvent& event, std::optional<std::int64_t> atUs);
    void endSync();
    void keep(Span span);
    void beginIncarnation();

    std::string m_actor;
    std::vector<Span> m_spans;
    std::map<std::pair<std::string, std::int64_t>, std::size_t> m_known; ///< phase and step: where in m_spans
    std::int64_t m_lastStep = -1;
    std::uint64_t m_revision = 0;
    Sync m_sync;
    std::optional<std::int64_t> m_pausedUs; ///< when the engine stood still, while it does
    std::optional<std::int64_t> m_pausedStep; ///< what it loads meanwhile
    std::pair<std::string_view, std::int64_t> m_lastNote; ///< kind and step
};

} // namespace deltascope
