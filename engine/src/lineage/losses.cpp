#include "deltascope/engine/form_graph.h"

#include <algorithm>
#include <limits>

namespace deltascope {

namespace {

constexpr std::uint32_t NoPlace = std::numeric_limits<std::uint32_t>::max();

/// What stands on every path to a state (its dominators, as compilers call them), over states and forms alike: a state
/// is numbered as in the graph, a form behind all states. Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
/// Algorithm" (2001).
class Dominators {
public:
    explicit Dominators(const FormGraph& graph)
        : m_graph(graph)
        , m_places(graph.states() + graph.forms().size(), NoPlace)
    {
        arrange();
        m_above.assign(m_order.size(), NoPlace);
        m_above[0] = 0;
        while (settle()) { }
    }

    /// States and forms that a path leads to, each behind one that leads to it; Nothing is the first.
    const std::vector<std::uint32_t>& order() const noexcept { return m_order; }
    /// The place in order() of the last one that stands on every path to the one in `place`, itself left out.
    std::uint32_t above(std::uint32_t place) const noexcept { return m_above[place]; }

private:
    std::uint32_t ofForm(FormId form) const { return static_cast<std::uint32_t>(m_graph.states()) + form; }

    /// Depth first, without recursion: chains are long. Sorted so that what is left last comes first.
    void arrange()
    {
        struct Visit {
            StateId state;
            std::size_t next;
        };
        std::vector<std::uint32_t> left;
        std::vector<bool> seen(m_graph.states(), false);
        std::vector<Visit> visits { { FormGraph::Nothing, 0 } };
        seen[FormGraph::Nothing] = true;
        while (!visits.empty()) {
            Visit& visit = visits.back();
            const std::span<const FormId> forms = m_graph.formsOn(visit.state);
            if (visit.next > 0)
                left.push_back(ofForm(forms[visit.next - 1])); // all behind it was seen
            if (visit.next == forms.size()) {
                left.push_back(visit.state);
                visits.pop_back();
                continue;
            }
            const StateId to = m_graph.forms()[forms[visit.next++]].to;
            if (!seen[to]) {
                seen[to] = true;
                visits.push_back({ to, 0 });
            }
        }
        m_order.assign(left.rbegin(), left.rend());
        for (std::uint32_t place = 0; place < m_order.size(); ++place)
            m_places[m_order[place]] = place;
    }

    /// Once over all; a second time changes something only where there are circles. Returns whether it did.
    bool settle()
    {
        bool changed = false;
        for (std::uint32_t place = 1; place < m_order.size(); ++place) {
            const std::uint32_t above = meet(m_order[place]);
            changed = changed || m_above[place] != above;
            m_above[place] = above;
        }
        return changed;
    }

    std::uint32_t meet(std::uint32_t item) const
    {
        if (item >= m_graph.states())
            return m_places[m_graph.forms()[item - m_graph.states()].from];
        std::uint32_t above = NoPlace;
        for (const FormId form : m_graph.formsOf(item)) {
            std::uint32_t other = m_places[ofForm(form)];
            if (other == NoPlace || m_above[other] == NoPlace)
                continue;
            if (above == NoPlace)
                above = other;
            while (above != other)
                (above > other ? above : other) = m_above[std::max(above, other)];
        }
        return above;
    }

    const FormGraph& m_graph;
    std::vector<std::uint32_t> m_places; ///< in m_order, of states and forms
    std::vector<std::uint32_t> m_order;
    std::vector<std::uint32_t> m_above; ///< by place
};

std::vector<bool> reachable(const FormGraph& graph, const std::vector<bool>& lost)
{
    std::vector<bool> reached(graph.states(), false);
    std::vector<StateId> open { FormGraph::Nothing };
    reached[FormGraph::Nothing] = true;
    while (!open.empty()) {
        const StateId state = open.back();
        open.pop_back();
        for (const FormId form : graph.formsOn(state)) {
            const StateId to = graph.forms()[form].to;
            if (lost[form] || reached[to])
                continue;
            reached[to] = true;
            open.push_back(to);
        }
    }
    return reached;
}

}

std::vector<std::uint64_t> lossesByForm(const FormGraph& graph, const std::vector<std::uint32_t>& weights)
{
    const Dominators dominators(graph);
    const std::vector<std::uint32_t>& order = dominators.order();
    std::vector<std::uint64_t> below(order.size(), 0);
    std::vector<std::uint64_t> losses(graph.forms().size(), 0);
    for (auto place = static_cast<std::uint32_t>(order.size()); place-- > 1;) {
        if (order[place] < graph.states())
            below[place] += weights[order[place]];
        else
            losses[order[place] - graph.states()] = below[place];
        below[dominators.above(place)] += below[place];
    }
    return losses;
}

std::vector<StateId> statesLostWithout(const FormGraph& graph, std::span<const FormId> lost)
{
    std::vector<bool> without(graph.forms().size(), false);
    const std::vector<bool> before = reachable(graph, without);
    for (const FormId form : lost)
        without[form] = true;
    const std::vector<bool> after = reachable(graph, without);
    std::vector<StateId> states;
    for (StateId state = 0; state < graph.states(); ++state) {
        if (before[state] && !after[state])
            states.push_back(state);
    }
    return states;
}

} // namespace deltascope
