#include "checkpoint_changes.h"

#include "stretches.h"

#include "deltascope/engine/plan.h"
#include "view/make_views.h"

#include <fmt/format.h>
#include <map>
#include <string_view>

namespace deltascope::app {

void countInto(StepChangeView& change, const std::vector<TensorCount>& counts, const TensorGlobs& meant,
               const TensorFinder& find)
{
    change.elements = 0;
    change.bytes = 0;
    change.tensors = 0;
    for (const TensorCount& count : counts) {
        if (count.changed == 0 || !meant.mean(count.name))
            continue;
        *change.elements += count.changed;
        ++*change.tensors;
        const TensorInfo* const tensor = find(count.name);
        if (!tensor)
            change.bytes.reset();
        else if (change.bytes)
            *change.bytes += (count.changed * bitsOf(tensor->dtype) + 7) / 8;
    }
}

CheckpointChanges::CheckpointChanges(Workbench& bench, const Run& run, const TensorGlobs& meant, std::uint32_t most)
    : m_bench(bench)
    , m_run(run)
    , m_meant(meant)
    , m_most(most)
    , m_source(catalogKey(run) + "|checkpoint before") // beside the facts of replays, which these are not
    , m_keys(chainKeys(run))
{
    for (const Version& version : run.versions)
        m_steps.push_back({ version.epoch, version.step(), {}, {}, {}, 0, {} });
    if (!bench.catalog)
        return;
    if (auto known = bench.catalog->facts(m_source))
        m_known = std::move(*known);
}

Result<void> CheckpointChanges::compare(TaskContext& task)
{
    for (std::size_t at = m_steps.size(); at-- > 0;) {
        if (!m_run.checkpointBefore(at))
            continue;
        ++m_view.pairs;
        if (m_view.pairs > m_most && m_ended.empty())
            m_ended = "not asked for";
        if (takeKnown(at))
            continue;
        if (!m_ended.empty()) {
            m_steps[at].why = m_ended;
            continue;
        }
        const Result<void> outcome = compareAt(at, task);
        if (outcome)
            continue;
        const Error& error = outcome.error();
        if (error.code == Code::Canceled)
            return outcome;
        m_steps[at].why = reasonOf(error);
        if (error.code == Code::Transient || error.code == Code::Auth) // the next one would end likewise
            m_ended = error.text;
    }
    return {};
}

bool CheckpointChanges::takeKnown(std::size_t at)
{
    const std::string& name = m_run.versions[at].objects.name;
    const auto known = m_known.find(name);
    if (known == m_known.end() || known->second.chain != m_keys[at])
        return false;
    const auto counts = m_bench.catalog->counts(m_source, name, m_keys[at]);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; counts && i < counts->size(); ++i)
        sum += (*counts)[i].changed;
    if (!counts || known->second.facts.changedVsPrevious != sum)
        return false;
    countInto(m_steps[at], *counts, m_meant, [](std::string_view) { return nullptr; });
    if (m_meant.meanAll())
        m_steps[at].bytes = known->second.facts.assigned;
    ++m_view.compared;
    ++m_view.known;
    return true;
}

Result<PathPtr> CheckpointChanges::open(std::size_t at, TaskContext& task) const
{
    DS_TRY(const Plan plan, planFor(m_run, m_run.versions[at]));
    return openChecked(m_bench, m_run, plan, false, task);
}

std::uint64_t CheckpointChanges::bytesOf(const PathState& state) const
{
    std::uint64_t bytes = 0;
    for (const TensorInfo& tensor : state.tensors())
        bytes += m_meant.mean(tensor.name) ? tensor.bytes() : 0;
    return bytes;
}

Result<void> CheckpointChanges::compareAt(std::size_t at, TaskContext& task)
{
    DS_TRY(PathPtr before, open(m_run.checkpointBefore(at).value(), task));
    DS_TRY(const PathPtr now, open(at, task));
    const std::uint64_t bytes = bytesOf(*before) + bytesOf(*now);
    if (m_view.mostBytes && m_view.readBytes + bytes > *m_view.mostBytes) {
        m_steps[at].why = m_ended = "too much to read unasked";
        return {};
    }
    DS_TRY(const DiffReport report, diffStates(m_bench, *before, *now, std::nullopt, task, { m_meant, false, {} }));
    if (report.tensorsCompared == 0) {
        const auto step = [&](std::size_t version) { return fmt::format("step {}", m_run.versions[version].step()); };
        m_steps[at].why = nothingInCommonText(report, !m_meant.meanAll(), step(*m_run.checkpointBefore(at)), step(at));
        return {};
    }
    before.reset(); // there may be a million tensors: it makes room for the counts
    m_view.readBytes += bytes;
    ++m_view.compared;
    std::vector<TensorCount> counts;
    counts.reserve(report.tensors.size());
    for (const TensorDiff& tensor : report.tensors)
        counts.push_back({ tensor.tensor.name, tensor.different });
    countInto(m_steps[at], counts, m_meant, [&](std::string_view name) { return now->find(name); });
    m_steps[at].unlike =
        static_cast<std::uint32_t>(report.reshaped.size() + report.onlyInA.size() + report.onlyInB.size());
    if (m_meant.meanAll() && m_steps[at].unlike == 0)
        remember(at, report, std::move(counts));
    return {};
}

/// A cache: that it cannot be written must not stop the work.
void CheckpointChanges::remember(std::size_t at, const DiffReport& report, std::vector<TensorCount> counts)
{
    if (!m_bench.catalog)
        return;
    VersionFacts facts;
    facts.changedVsPrevious = report.elementsDifferent();
    facts.assigned = *m_steps[at].bytes;
    static_cast<void>(
        m_bench.catalog->putFacts(m_source, m_run.versions[at].objects.name, { m_keys[at], facts }, counts));
}

} // namespace deltascope::app
