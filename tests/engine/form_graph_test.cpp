#include "deltascope/engine/form_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace deltascope;

namespace {

constexpr StateId Nothing = FormGraph::Nothing;

/// Every simple path from Nothing, one after the other.
class AllPaths {
public:
    explicit AllPaths(const FormGraph& graph)
        : m_graph(graph)
        , m_used(graph.states(), false)
    {
    }

    template <class Use> void each(Use use)
    {
        m_used[Nothing] = true;
        from(Nothing, use);
    }

private:
    template <class Use> void from(StateId state, Use use)
    {
        for (const FormId id : m_graph.formsOn(state)) {
            const StateId to = m_graph.forms()[id].to;
            if (m_used[to])
                continue;
            m_path.push_back(id);
            m_used[to] = true;
            use(to, m_path);
            from(to, use);
            m_used[to] = false;
            m_path.pop_back();
        }
    }

    const FormGraph& m_graph;
    std::vector<FormId> m_path;
    std::vector<bool> m_used;
};

struct Worth {
    Evidence weakest = Evidence::None;
    std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
    std::size_t forms = 0;

    auto key() const { return std::tuple(weakest, cost, forms); }
};

Worth worthOf(const FormGraph& graph, const std::vector<FormId>& path)
{
    Worth worth { Evidence::Digest, 0, path.size() };
    for (const FormId id : path) {
        worth.weakest = std::max(worth.weakest, graph.forms()[id].evidence);
        worth.cost += graph.forms()[id].cost;
    }
    return worth;
}

/// Chains with gaps, squashes, complete forms, outside bases (a state of its own), circles, and forms side by side.
FormGraph randomGraph(std::mt19937& random)
{
    const auto below = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); };
    const std::uint32_t states = 2 + below(6);
    std::vector<Form> forms;
    for (std::uint32_t i = below(13); i > 0; --i) {
        Form form;
        form.to = 1 + below(states - 1);
        form.from = below(3) == 0 ? below(states) : below(form.to);
        form.cost = below(4) == 0 ? 0 : below(40);
        form.evidence = static_cast<Evidence>(below(static_cast<std::uint32_t>(EvidenceKinds)));
        forms.push_back(form);
    }
    return FormGraph(states, std::move(forms));
}

}

TEST(PathTree, HasTheBestEvidenceThenTheLeastCostThenTheFewestForms)
{
    std::mt19937 random(17);
    std::size_t reached = 0;
    for (int round = 0; round < 20'000; ++round) {
        const FormGraph graph = randomGraph(random);
        std::vector<Worth> best(graph.states());
        AllPaths(graph).each([&](StateId to, const std::vector<FormId>& path) {
            const Worth worth = worthOf(graph, path);
            if (best[to].forms == 0 || worth.key() < best[to].key())
                best[to] = worth;
        });
        const PathTree tree(graph);
        for (StateId state = 1; state < graph.states(); ++state) {
            const auto reach = tree.reach(state);
            const std::vector<FormId> path = tree.pathTo(state);
            ASSERT_EQ(reach.has_value(), best[state].forms > 0) << "round " << round << ", state " << state;
            ASSERT_EQ(path.empty(), !reach);
            if (!reach)
                continue;
            ++reached;
            ASSERT_EQ(std::tuple(reach->weakest, reach->cost, reach->forms), best[state].key()) << "round " << round;
            const Worth worth = worthOf(graph, path);
            ASSERT_EQ(std::tuple(worth.weakest, worth.cost, worth.forms), best[state].key()) << "round " << round;
            StateId at = Nothing;
            for (const FormId id : path) {
                ASSERT_EQ(graph.forms()[id].from, at);
                at = graph.forms()[id].to;
            }
            ASSERT_EQ(at, state);
        }
    }
    EXPECT_GT(reached, 20'000U);
}

TEST(PathTree, PrefersOneSquashWhereItIsCheaper)
{
    // 1 -2-> 2 -2-> 3, and a squash 1 -3-> 3.
    std::vector<Form> forms { { Nothing, 1, 100, Evidence::Root },
                              { 1, 2, 2, Evidence::Root },
                              { 2, 3, 2, Evidence::Root },
                              { 1, 3, 3, Evidence::Root } };
    const FormGraph graph(4, forms);
    EXPECT_EQ(PathTree(graph).pathTo(3), (std::vector<FormId> { 0, 3 }));
    forms[3].evidence = Evidence::FirstSight;
    const FormGraph doubtful(4, forms);
    EXPECT_EQ(PathTree(doubtful).pathTo(3), (std::vector<FormId> { 0, 1, 2 })) << "evidence comes before cost";
}

TEST(PathTree, ASumOfForeignSizesDoesNotWrap)
{
    const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
    const FormGraph graph(4, { { Nothing, 1, huge }, { 1, 2, huge }, { Nothing, 3, 5 }, { 3, 2, huge - 7 } });
    const PathTree tree(graph);
    ASSERT_TRUE(tree.reach(1));
    ASSERT_TRUE(tree.reach(2));
    EXPECT_EQ(tree.pathTo(2), (std::vector<FormId> { 2, 3 }));
}

TEST(Losses, AreTheStatesThatNoOtherPathLeadsTo)
{
    std::mt19937 random(18);
    std::uint64_t lost = 0;
    for (int round = 0; round < 5'000; ++round) {
        const FormGraph graph = randomGraph(random);
        std::vector<std::uint32_t> weights(graph.states());
        for (std::uint32_t& weight : weights)
            weight = static_cast<std::uint32_t>(random() % 3);
        std::vector<bool> reached(graph.states(), false);
        // avoided[form][state]: a path leads to the state without the form
        std::vector<std::vector<bool>> avoided(graph.forms().size(), std::vector<bool>(graph.states(), false));
        AllPaths(graph).each([&](StateId to, const std::vector<FormId>& path) {
            reached[to] = true;
            for (FormId form = 0; form < graph.forms().size(); ++form) {
                if (std::find(path.begin(), path.end(), form) == path.end())
                    avoided[form][to] = true;
            }
        });
        const std::vector<std::uint64_t> losses = lossesByForm(graph, weights);
        for (FormId form = 0; form < graph.forms().size(); ++form) {
            std::vector<StateId> expected;
            std::uint64_t weight = 0;
            for (StateId state = 1; state < graph.states(); ++state) {
                if (!reached[state] || avoided[form][state])
                    continue;
                expected.push_back(state);
                weight += weights[state];
            }
            ASSERT_EQ(statesLostWithout(graph, std::span(&form, 1)), expected) << "round " << round;
            ASSERT_EQ(losses[form], weight) << "round " << round << ", form " << form;
            lost += weight;
        }
    }
    EXPECT_GT(lost, 5'000U);
}

TEST(Losses, OfTwoFormsTogetherCanBeMoreThanOfEach)
{
    const FormGraph graph(3, { { Nothing, 1, 1 }, { Nothing, 1, 1 }, { 1, 2, 1 } });
    EXPECT_EQ(lossesByForm(graph, { 0, 1, 1 }), (std::vector<std::uint64_t> { 0, 0, 1 }));
    EXPECT_EQ(statesLostWithout(graph, std::vector<FormId> { 0, 1 }), (std::vector<StateId> { 1, 2 }));
}

TEST(Losses, AChainOfAHundredThousandFormsNeedsNoStack)
{
    constexpr StateId Length = 100'000;
    std::vector<Form> forms;
    for (StateId state = 1; state <= Length; ++state)
        forms.push_back({ state - 1, state, 1 });
    const FormGraph graph(Length + 1, std::move(forms));
    const std::vector<std::uint64_t> losses = lossesByForm(graph, std::vector<std::uint32_t>(Length + 1, 1));
    EXPECT_EQ(losses.front(), Length);
    EXPECT_EQ(losses.back(), 1U);
    EXPECT_EQ(PathTree(graph).pathTo(Length).size(), Length);
}
