#include "deltascope/engine/form_graph.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <tuple>

namespace deltascope {

namespace {

constexpr std::uint64_t Unreached = std::numeric_limits<std::uint64_t>::max();
constexpr FormId NoForm = std::numeric_limits<FormId>::max();
constexpr std::uint8_t NoSearch = std::numeric_limits<std::uint8_t>::max();

/// Sizes come from foreign headers: a sum stops below Unreached instead of passing it.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return b < Unreached - 1 - a ? a + b : Unreached - 1; }

}

PathTree::PathTree(const FormGraph& graph)
    : m_graph(&graph)
    , m_searchOf(graph.states(), NoSearch)
{
    std::array<bool, EvidenceKinds> grades {};
    for (const Form& form : graph.forms())
        grades[static_cast<std::size_t>(form.evidence)] = true;
    std::size_t missing = graph.states() - 1;
    for (std::size_t grade = 0; grade < EvidenceKinds && missing > 0; ++grade) {
        if (!grades[grade])
            continue;
        Search found = search(static_cast<Evidence>(grade));
        const std::size_t before = missing;
        for (StateId state = 1; state < graph.states(); ++state) {
            if (m_searchOf[state] != NoSearch || found.cost[state] == Unreached)
                continue;
            m_searchOf[state] = static_cast<std::uint8_t>(m_searches.size());
            --missing;
        }
        if (missing < before)
            m_searches.push_back(std::move(found));
    }
}

/// Dijkstra's algorithm over the forms that have this evidence or better.
PathTree::Search PathTree::search(Evidence weakest) const
{
    const std::size_t states = m_graph->states();
    Search found { weakest, std::vector<std::uint64_t>(states, Unreached), std::vector<std::uint32_t>(states, 0),
                   std::vector<FormId>(states, NoForm) };
    using Step = std::tuple<std::uint64_t, std::uint32_t, StateId>; // cost, forms, state
    std::priority_queue<Step, std::vector<Step>, std::greater<>> open;
    found.cost[FormGraph::Nothing] = 0;
    open.emplace(0, 0, FormGraph::Nothing);
    while (!open.empty()) {
        const auto [cost, forms, state] = open.top();
        open.pop();
        if (std::tie(cost, forms) > std::tie(found.cost[state], found.forms[state]))
            continue; // a better way was found meanwhile
        for (const FormId id : m_graph->formsOn(state)) {
            const Form& form = m_graph->forms()[id];
            if (form.evidence > weakest)
                continue;
            const std::pair<std::uint64_t, std::uint32_t> now { sum(cost, form.cost), forms + 1 };
            if (now >= std::pair(found.cost[form.to], found.forms[form.to]))
                continue;
            std::tie(found.cost[form.to], found.forms[form.to]) = now;
            found.last[form.to] = id;
            open.emplace(now.first, now.second, form.to);
        }
    }
    return found;
}

std::optional<PathTree::Reach> PathTree::reach(StateId state) const noexcept
{
    if (m_searchOf[state] == NoSearch)
        return std::nullopt;
    const Search& search = m_searches[m_searchOf[state]];
    return Reach { search.weakest, search.cost[state], search.forms[state] };
}

std::vector<FormId> PathTree::pathTo(StateId state) const
{
    std::vector<FormId> path;
    if (m_searchOf[state] == NoSearch)
        return path;
    const Search& search = m_searches[m_searchOf[state]];
    path.reserve(search.forms[state]);
    for (; state != FormGraph::Nothing; state = m_graph->forms()[path.back()].from)
        path.push_back(search.last[state]);
    std::reverse(path.begin(), path.end());
    return path;
}

} // namespace deltascope
