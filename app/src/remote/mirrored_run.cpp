#include "mirrored_run.h"

#include "read_views.h"
#include "view/base64.h"
#include "view/snapshot_description.h"

#include <algorithm>

namespace deltascope::app {

namespace {

using StepKey = std::pair<int, std::int64_t>;

StepKey keyOf(const json& from) { return { read<int>(from, "epoch"), read<std::int64_t>(from, "step") }; }

bool isGone(const json& from) { return from.contains("gone"); }

/// {"keep": so many of the list stay, "add": [what comes behind them]}
template <class T> void readTail(const json& object, const char* key, std::vector<T>& list)
{
    const json& from = fieldOf(object, key);
    const auto kept = read<std::uint64_t>(from, "keep");
    if (kept > list.size())
        throw Unfit { std::string("\"") + key + "\" keeps more than there is" };
    list.resize(static_cast<std::size_t>(kept));
    for (const json& value : readArray(from, "add"))
        list.push_back(readAs<T>(value));
}

StepView readCopiedStep(const json& from)
{
    StepView step;
    JsonReader reader(from);
    describeCopiedStep(reader, step);
    return step;
}

HeatColumnView readColumn(const json& from, std::size_t rows)
{
    CopiedColumn copied = readAs<CopiedColumn>(from);
    if (copied.codes) {
        std::optional<std::vector<std::uint8_t>> codes = fromBase64(*copied.codes);
        if (!codes || codes->size() != rows)
            throw Unfit { "\"codes_b64\" is not one byte for each tensor" };
        copied.column.codes = std::make_shared<const std::vector<std::uint8_t>>(std::move(*codes));
    }
    return std::move(copied.column);
}

}

MirroredRun::MirroredRun(std::string id)
{
    auto snapshot = std::make_shared<RunSnapshot>();
    snapshot->id = std::move(id);
    snapshot->name = snapshot->id;
    snapshot->state = "opening";
    m_snapshot = std::move(snapshot);
}

Result<void> MirroredRun::apply(const std::string& changes)
{
    const Result<bool> done = readJson(changes, [this](const json& from) {
        read(from);
        return true;
    });
    if (done)
        return {};
    restart();
    return fail(done.error());
}

void MirroredRun::read(const json& changes)
{
    m_next = *m_snapshot;
    if (app::read<bool>(changes, "whole")) {
        m_steps.clear();
        m_columns.clear();
        m_rows.clear();
        m_run = {};
        m_next.verified.clear();
        m_next.run.reset();
        m_next.heat.reset();
    } else if (m_cursor.empty()) {
        throw Unfit { "\"whole\" is false at first" };
    }
    m_serverRevision = app::read<std::uint64_t>(changes, "rev");
    m_next.revision = std::max(m_snapshot->revision + 1, m_serverRevision);
    JsonReader reader(changes);
    describeSnapshotHead(reader, m_next);
    if (const json& run = fieldOf(changes, "run"); !run.is_null())
        readRun(run);
    if (const json& heat = fieldOf(changes, "heat"); !heat.is_null())
        readHeat(heat);
    readVerified(changes);
    m_cursor = app::read<std::string>(changes, "cursor");
    m_snapshot = std::make_shared<const RunSnapshot>(std::move(m_next));
}

void MirroredRun::readRun(const json& from)
{
    for (const json& step : readArray(from, "steps")) {
        if (isGone(step))
            m_steps.erase(keyOf(step));
        else
            m_steps[keyOf(step)] = readCopiedStep(step);
    }
    readTail(from, "problems", m_run.problems);
    readTail(from, "events", m_run.events);
    readTail(from, "drift", m_run.drift);
    readTail(from, "notes", m_run.notes);
    readTail(from, "spans", m_run.spans);
    m_run.replicas = readEach(from, "replicas", readAs<ReplicaView>);
    m_run.refs = from.contains("refs") ? readEach(from, "refs", readAs<RefView>) : std::vector<RefView>();
    const std::uint64_t before = m_run.revision;
    JsonReader head(from);
    describeRunHead(head, m_run);
    if (m_next.run && m_run.revision == before)
        return; // faces compare runs by their address
    auto run = std::make_shared<RunView>(m_run);
    for (const int epoch : readList<int>(from, "epochs"))
        run->epochs.push_back({ epoch, {} });
    auto at = run->epochs.begin();
    for (const auto& [key, step] : m_steps) {
        at = std::find_if(at, run->epochs.end(),
                          [wanted = key.first](const EpochView& epoch) { return epoch.epoch == wanted; });
        if (at == run->epochs.end())
            throw Unfit { "\"steps\" has an epoch that \"epochs\" has not" };
        at->steps.push_back(step);
    }
    m_next.run = std::move(run);
}

void MirroredRun::readHeat(const json& from)
{
    if (const json& tensors = fieldOf(from, "tensors"); !tensors.is_null()) {
        m_rows = readEach(from, "tensors", readAs<TensorRowView>);
        for (auto& [key, column] : m_columns) { // those that are known come with it
            if (column.codes && column.codes->size() != m_rows.size())
                column.codes.reset();
        }
    }
    const json& columns = readArray(from, "columns");
    const json& totals = fieldOf(from, "totals");
    if (totals.is_null() && columns.empty() && m_next.heat)
        return;
    if (!totals.is_null()) {
        const auto all = readAs<HeatTotalsView>(totals);
        if (all.changedElements.size() != m_rows.size() || all.lastChanged.size() != m_rows.size())
            throw Unfit { "\"totals\" is not of the tensors" };
        for (std::size_t i = 0; i < m_rows.size(); ++i) {
            m_rows[i].changedElements = all.changedElements[i];
            m_rows[i].lastChanged = all.lastChanged[i];
        }
    }
    for (const json& column : columns) {
        if (isGone(column))
            m_columns.erase(keyOf(column));
        else
            m_columns[keyOf(column)] = readColumn(column, m_rows.size());
    }
    auto heat = std::make_shared<HeatView>();
    heat->revision = app::read<std::uint64_t>(from, "rev");
    heat->catalogKey = m_next.id; // under which the server knows its counts
    heat->rows = m_rows;
    for (const auto& [key, column] : m_columns)
        heat->columns.push_back(column);
    m_next.heat = std::move(heat);
}

void MirroredRun::readVerified(const json& changes)
{
    for (const json& from : readArray(changes, "verified")) {
        if (isGone(from)) {
            m_next.verified.erase(keyOf(from));
            continue;
        }
        m_next.verified[keyOf(from)] = readAs<VerifiedView>(from);
    }
}

void MirroredRun::lose(const std::optional<ProblemView>& problem, std::int64_t contactUs)
{
    auto lost = std::make_shared<RunSnapshot>(*m_snapshot);
    ++lost->revision;
    lost->state = problem ? "error" : "lost";
    lost->error = problem;
    lost->contactUs = contactUs;
    m_snapshot = std::move(lost);
}

} // namespace deltascope::app
