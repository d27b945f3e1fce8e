#pragma once

#include "deltascope/app/view/operation_view.h"
#include "deltascope/app/view/run_view.h"

#include "terminal.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace deltascope::cli {

/// Prints what is new in a watched run: steps on stdout, all else on stderr.
class RunPrinter {
public:
    RunPrinter(Style style, bool json)
        : m_style(style)
        , m_json(json)
    {
    }
    void show(const app::RunView& run);

private:
    void showContact(const app::RunView& run);
    void showSteps(const app::RunView& run);
    void showReplicas(const app::RunView& run);

    Style m_style;
    bool m_json;
    bool m_begun = false;
    bool m_isLost = false; ///< the source could not be looked at lately
    std::map<std::pair<int, std::int64_t>, std::string> m_steps; ///< epoch and step: what was said of it
    std::set<std::tuple<std::string, std::int64_t, std::string>>
        m_problems; ///< code, step, object: texts grow with the run
    std::map<std::string, std::string> m_replicas; ///< id: what was said of it
    std::set<std::tuple<std::string, std::int64_t, std::string>> m_notes; ///< actor, time, text
};

/// Prints what is new in a publication: steps on stdout, notices on stderr.
class PublicationPrinter {
public:
    PublicationPrinter(Style style, bool json)
        : m_style(style)
        , m_json(json)
    {
    }
    void show(const app::PublishView& view);

private:
    Style m_style;
    bool m_json;
    bool m_begun = false;
    std::uint64_t m_steps = 0; ///< shown so far
    std::uint64_t m_notices = 0;
};

} // namespace deltascope::cli
