#include "snapshot_changes.h"

#include "base64.h"
#include "io/text_writer.h"
#include "snapshot_description.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace deltascope::app {

namespace {

using StepKey = std::pair<int, std::int64_t>;

std::map<StepKey, const StepView*> stepsOf(const RunView& run)
{
    std::map<StepKey, const StepView*> steps;
    for (const EpochView& epoch : run.epochs) {
        for (const StepView& step : epoch.steps)
            steps.emplace_hint(steps.end(), StepKey { epoch.epoch, step.step }, &step);
    }
    return steps;
}

std::map<StepKey, const HeatColumnView*> columnsOf(const HeatView& heat)
{
    std::map<StepKey, const HeatColumnView*> columns;
    for (const HeatColumnView& column : heat.columns)
        columns.emplace_hint(columns.end(), StepKey { column.epoch, column.step }, &column);
    return columns;
}

std::map<StepKey, const VerifiedView*> verifiedOf(const VerifiedSteps& verified)
{
    std::map<StepKey, const VerifiedView*> all;
    for (const auto& [key, view] : verified)
        all.emplace_hint(all.end(), key, &view);
    return all;
}

bool sameColumn(const HeatColumnView& a, const HeatColumnView& b)
{
    const bool sameCodes = a.codes == b.codes || (a.codes && b.codes && *a.codes == *b.codes);
    return sameCodes && a.name == b.name && a.chainKey == b.chainKey && a.kind == b.kind && a.state == b.state
        && a.damaged == b.damaged;
}

bool sameRows(const std::vector<TensorRowView>& a, const std::vector<TensorRowView>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const TensorRowView& one, const TensorRowView& other) {
        return one.name == other.name && one.dtype == other.dtype && one.shape == other.shape;
    });
}

template <class T, class Same>
void stamp(std::map<StepKey, std::uint64_t>& stamps, const std::map<StepKey, const T*>& before,
           const std::map<StepKey, const T*>& now, Same same, std::uint64_t revision)
{
    for (const auto& [key, value] : now) {
        const auto old = before.find(key);
        if (old == before.end() || !same(*old->second, *value))
            stamps[key] = revision;
    }
    for (const auto& [key, value] : before) {
        if (!now.contains(key))
            stamps[key] = revision;
    }
}

/// What changed since, and {"epoch","step","gone"} for what is there no more.
template <class T, class ToJson>
ordered_json changed(const std::map<StepKey, std::uint64_t>& stamps, const std::map<StepKey, const T*>& now,
                     std::uint64_t since, ToJson toJson)
{
    ordered_json list = ordered_json::array();
    for (const auto& [key, revision] : stamps) {
        if (revision <= since)
            continue;
        if (const auto found = now.find(key); found != now.end())
            list.push_back(toJson(key, *found->second));
        else if (since > 0)
            list.push_back({ { "epoch", key.first }, { "step", key.second }, { "gone", true } });
    }
    return list;
}

/// The first entries stay as they were, these come behind.
template <class T> ordered_json changed(const ListChanges& changes, const std::vector<T>& now, std::uint64_t since)
{
    const std::size_t kept = since == 0 ? 0 : changes.keptSince(since, now.size());
    ordered_json added = ordered_json::array();
    for (std::size_t i = kept; i < now.size(); ++i)
        added.push_back(written(now[i]));
    return { { "keep", kept }, { "add", std::move(added) } };
}

ordered_json columnJson(const StepKey&, const HeatColumnView& column)
{
    CopiedColumn copied { column, std::nullopt };
    copied.column.codes.reset();
    if (column.codes)
        copied.codes = base64({ reinterpret_cast<const char*>(column.codes->data()), column.codes->size() });
    return written(copied);
}

ordered_json stepJson(const StepKey&, const StepView& step)
{
    JsonWriter writer;
    describeCopiedStep(writer, step);
    return writer.take();
}

ordered_json verifiedJson(const StepKey& key, const VerifiedView& verified)
{
    JsonWriter writer;
    writer("epoch", key.first);
    writer("step", key.second);
    describe(writer, verified);
    return writer.take();
}

HeatTotalsView totalsOf(const std::vector<TensorRowView>& rows)
{
    HeatTotalsView totals;
    for (const TensorRowView& row : rows) {
        totals.changedElements.push_back(row.changedElements);
        totals.lastChanged.push_back(row.lastChanged);
    }
    return totals;
}

const RunView& runOf(const RunSnapshot* snapshot)
{
    static const RunView none;
    return snapshot && snapshot->run ? *snapshot->run : none;
}
const HeatView& heatOf(const RunSnapshot* snapshot)
{
    static const HeatView none;
    return snapshot && snapshot->heat ? *snapshot->heat : none;
}
const VerifiedSteps& verifiedIn(const RunSnapshot* snapshot)
{
    static const VerifiedSteps none;
    return snapshot ? snapshot->verified : none;
}

}

std::size_t ListChanges::keptSince(std::uint64_t revision, std::size_t size) const
{
    const auto later = std::upper_bound(m_kept.begin(), m_kept.end(), revision,
                                        [](std::uint64_t value, const auto& entry) { return value < entry.first; });
    return later == m_kept.end() ? size : std::min(size, later->second);
}

void ListChanges::add(std::size_t kept, std::uint64_t revision)
{
    while (!m_kept.empty() && m_kept.back().second >= kept)
        m_kept.pop_back();
    m_kept.emplace_back(revision, kept);
}

void SnapshotChanges::advance(std::shared_ptr<const RunSnapshot> snapshot)
{
    if (m_snapshot && snapshot->revision <= m_snapshot->revision)
        return;
    const RunSnapshot* const before = m_snapshot.get();
    const std::shared_ptr<const RunSnapshot> old = std::exchange(m_snapshot, std::move(snapshot));
    if (!before || before->run != m_snapshot->run)
        advanceRun(runOf(before), runOf(m_snapshot.get()));
    if (!before || before->heat != m_snapshot->heat)
        advanceHeat(heatOf(before), heatOf(m_snapshot.get()));
    stamp(m_verified, verifiedOf(verifiedIn(before)), verifiedOf(m_snapshot->verified), std::equal_to<VerifiedView>(),
          m_snapshot->revision);
}

void SnapshotChanges::advanceRun(const RunView& before, const RunView& now)
{
    const std::uint64_t revision = m_snapshot->revision;
    stamp(m_steps, stepsOf(before), stepsOf(now), std::equal_to<StepView>(), revision);
    m_problems.advance(before.problems, now.problems, revision);
    m_events.advance(before.events, now.events, revision);
    m_drift.advance(before.drift, now.drift, revision);
    m_notes.advance(before.notes, now.notes, revision);
    m_spans.advance(before.spans, now.spans, revision);
}

void SnapshotChanges::advanceHeat(const HeatView& before, const HeatView& now)
{
    m_heat = m_snapshot->revision;
    if (!sameRows(before.rows, now.rows))
        m_rows = m_heat;
    stamp(m_columns, columnsOf(before), columnsOf(now), sameColumn, m_heat);
}

ordered_json SnapshotChanges::runChanges(const RunView& run, std::uint64_t since) const
{
    JsonWriter head;
    describeRunHead(head, run);
    ordered_json out = head.take();
    ordered_json epochs = ordered_json::array();
    for (const EpochView& epoch : run.epochs)
        epochs.push_back(epoch.epoch);
    out["epochs"] = std::move(epochs);
    out["steps"] = changed(m_steps, stepsOf(run), since, stepJson);
    out["problems"] = changed(m_problems, run.problems, since);
    out["events"] = changed(m_events, run.events, since);
    out["drift"] = changed(m_drift, run.drift, since);
    out["notes"] = changed(m_notes, run.notes, since);
    out["spans"] = changed(m_spans, run.spans, since);
    out["replicas"] = written(run.replicas);
    out["refs"] = written(run.refs);
    return out;
}

std::string SnapshotChanges::heatChanges(const HeatView& heat, std::uint64_t since) const
{
    return fmt::format(R"({{"rev":{},"tensors":{},"totals":{},"columns":{}}})", heat.revision,
                       m_rows > since ? writtenText(heat.rows) : "null",
                       m_heat > since ? writtenText(totalsOf(heat.rows)) : "null",
                       dump(changed(m_columns, columnsOf(heat), since, columnJson)));
}

std::string SnapshotChanges::toJson(std::uint64_t since, const std::string& cursor) const
{
    const RunSnapshot& now = *m_snapshot;
    JsonWriter head;
    head("cursor", cursor);
    head("whole", since == 0);
    head("rev", now.revision);
    head("id", now.id);
    describeSnapshotHead(head, now);
    ordered_json json = head.take();
    json["run"] = now.run ? runChanges(*now.run, since) : ordered_json(nullptr);
    std::string text = dump(json);
    text.pop_back();
    return text.append(",\"heat\":")
        .append(now.heat ? heatChanges(*now.heat, since) : "null")
        .append(",\"verified\":")
        .append(dump(changed(m_verified, verifiedOf(now.verified), since, verifiedJson)))
        .append("}");
}

} // namespace deltascope::app
