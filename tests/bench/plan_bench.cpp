// deltascope-bench-plan: the plans of all versions of a long run, and what the loss of each of their forms would cost.
// Nothing is read: this is what a listing waits for beside its headers.

#include "deltascope/engine/form_graph.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace deltascope;

constexpr StateId Versions = 10'000;
constexpr std::array Grades { Evidence::Root, Evidence::Anchor, Evidence::FirstSight };

/// Four forms of each version: the delta, one delta in place of 10 and one in place of 50, and one in place of 100 or,
/// at every thousandth version, the whole state. What would begin before the run is the whole state, too. `grades`: of
/// evidence, at random; each grade that is needed costs a search.
std::vector<Form> madeForms(std::size_t grades)
{
    std::mt19937 random(1);
    std::vector<Form> forms;
    forms.reserve(std::size_t { 4 } * Versions);
    for (StateId version = 1; version <= Versions; ++version) {
        const auto add = [&](StateId steps, std::uint64_t megabytes) {
            const StateId from = steps < version ? version - steps : FormGraph::Nothing;
            const std::uint64_t cost = megabytes * 1'000'000 + random() % 1'000'000;
            forms.push_back({ from, version, cost, Grades[random() % grades] });
        };
        add(1, 10);
        add(10, 70);
        add(50, 250);
        version % 1000 == 1 ? add(version, 10'000) : add(100, 400);
    }
    return forms;
}

void plans(benchmark::State& state)
{
    const std::vector<Form> forms = madeForms(static_cast<std::size_t>(state.range(0)));
    std::size_t links = 0;
    for (auto _ : state) {
        links = 0;
        const FormGraph graph(Versions + 1, forms);
        const PathTree tree(graph);
        for (StateId version = 1; version <= Versions; ++version)
            links += tree.pathTo(version).size();
        benchmark::DoNotOptimize(links);
    }
    state.counters["links"] = static_cast<double>(links) / Versions;
}

void losses(benchmark::State& state)
{
    const std::vector<Form> forms = madeForms(Grades.size());
    const std::vector<std::uint32_t> weights(Versions + 1, 1);
    for (auto _ : state) {
        const FormGraph graph(Versions + 1, forms);
        benchmark::DoNotOptimize(lossesByForm(graph, weights));
    }
}

/// One complete state and a delta for each version behind it: the longest chain, in which every loss spreads.
void lossesOfAChain(benchmark::State& state)
{
    std::vector<Form> forms;
    for (StateId version = 1; version <= Versions; ++version)
        forms.push_back({ version - 1, version, 1 });
    const std::vector<std::uint32_t> weights(Versions + 1, 1);
    for (auto _ : state) {
        const FormGraph graph(Versions + 1, forms);
        benchmark::DoNotOptimize(lossesByForm(graph, weights));
    }
}

BENCHMARK(plans)->ArgName("grades")->Arg(1)->Arg(3)->Unit(benchmark::kMillisecond);
BENCHMARK(losses)->Unit(benchmark::kMillisecond);
BENCHMARK(lossesOfAChain)->Unit(benchmark::kMillisecond);

}

BENCHMARK_MAIN();
