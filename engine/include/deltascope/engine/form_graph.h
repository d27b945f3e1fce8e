#pragma once

#include "deltascope/engine/evidence.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace deltascope {

// Which states can be had in which ways, without a word of objects and stores: pure functions over numbers. What the
// numbers stand for is known to who builds the graph (Planner). Everything here may be used from any thread.

using StateId = std::uint32_t;
using FormId = std::uint32_t;

/// One way to have a state: what has to be read for it, and the state that this builds on.
struct Form {
    StateId from = 0; ///< FormGraph::Nothing: it is complete by itself
    StateId to = 0;
    std::uint64_t cost = 0; ///< bytes to read, requests counted as bytes (StoreTraits::requestBytes)
    Evidence evidence = Evidence::FirstSight; ///< what vouches for its bytes
};

/// States and the forms between them. Two forms may give one state; a hostile source may even make circles.
class FormGraph {
public:
    /// The state that holds nothing, which complete forms build on.
    static constexpr StateId Nothing = 0;

    /// States are numbered from 0 (Nothing) to `states` - 1; a form is known by its place in `forms`.
    FormGraph(std::size_t states, std::vector<Form> forms);

    std::size_t states() const noexcept { return m_leaving.size() - 1; }
    const std::vector<Form>& forms() const noexcept { return m_forms; }
    std::span<const FormId> formsOn(StateId state) const noexcept; ///< those that build on it
    std::span<const FormId> formsOf(StateId state) const noexcept; ///< those that give it

private:
    std::vector<Form> m_forms;
    std::vector<std::uint32_t> m_leaving; ///< where the forms of a state begin in m_byFrom; one more at the end
    std::vector<FormId> m_byFrom;
    std::vector<std::uint32_t> m_entering;
    std::vector<FormId> m_byTo;
};

/// The best path from Nothing to each state of a graph. The evidence of a path is that of its weakest form; the best
/// evidence wins, then the least cost, then the fewest forms. Paths are made when they are asked for.
class PathTree {
public:
    /// What a path amounts to.
    struct Reach {
        Evidence weakest = Evidence::None;
        std::uint64_t cost = 0;
        std::uint32_t forms = 0;
    };

    /// `graph` outlives it. One search for each grade of evidence that a state needs.
    explicit PathTree(const FormGraph& graph);

    /// Nothing if no path leads there.
    std::optional<Reach> reach(StateId state) const noexcept;
    /// In the order in which the forms are applied; empty if no path leads there.
    std::vector<FormId> pathTo(StateId state) const;

private:
    /// A search that may use forms down to a grade of evidence.
    struct Search {
        Evidence weakest;
        std::vector<std::uint64_t> cost;
        std::vector<std::uint32_t> forms;
        std::vector<FormId> last;
    };
    Search search(Evidence weakest) const;

    const FormGraph* m_graph;
    std::vector<Search> m_searches; ///< the best evidence first
    std::vector<std::uint8_t> m_searchOf; ///< by state
};

/// For each form, how many of the states with a weight cannot be had without it: the sum of their weights. Forms that
/// no path from Nothing leads to cost nothing.
std::vector<std::uint64_t> lossesByForm(const FormGraph& graph, const std::vector<std::uint32_t>& weights);

/// The states that can be had with all forms and cannot be had without some of them, in ascending order.
std::vector<StateId> statesLostWithout(const FormGraph& graph, std::span<const FormId> lost);

} // namespace deltascope
