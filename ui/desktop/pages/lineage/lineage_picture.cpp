#include "pages/lineage/lineage_picture.h"

#include "look/format.h"
#include "look/marks.h"

#include <QCoreApplication>

#include <algorithm>

namespace deltascope::desktop {

namespace {

enum Field : std::size_t { Kind, State, Step, Epoch, Verify, Size, Ref, Note };

/// A row as a filter reads it.
struct QueriedRow {
    const app::LineageRowView& row;
    const LineageRemark& remark;

    std::optional<double> number(std::size_t field) const
    {
        switch (field) {
        case Step:
            return static_cast<double>(row.step->step);
        case Epoch:
            return row.step->epoch;
        case Verify: // not checked is below every level
            return isHole(*row.step) ? std::nullopt : std::optional<double>(row.verified ? row.verified->level : -1);
        case Size:
            return isHole(*row.step) ? std::nullopt : std::optional(static_cast<double>(row.step->wireBytes));
        default:
            return std::nullopt;
        }
    }
    bool hasWord(std::size_t field, const Query::WordTest& test) const
    {
        switch (field) {
        case Kind:
            return test(QString::fromStdString(row.step->kind));
        case State:
            return test(QString::fromStdString(row.step->state)) || (isBroken(row) && test(QStringLiteral("broken")));
        case Ref:
            return std::any_of(row.refs.begin(), row.refs.end(),
                               [&](const std::string& ref) { return test(QString::fromStdString(ref)); });
        case Note:
            return test(remark.note);
        default:
            return false;
        }
    }
    bool contains(const QString& text) const
    {
        const auto in = [&](const QString& part) { return part.contains(text, Qt::CaseInsensitive); };
        return in(QString::number(row.step->step)) || in(QString::fromStdString(row.step->kind))
            || in(QString::fromStdString(row.step->state)) || in(remark.served) || in(remark.note) || in(remark.alert)
            || std::any_of(row.refs.begin(), row.refs.end(), [&](const std::string& ref) { return in(safeName(ref)); })
            || std::any_of(row.step->problems.begin(), row.step->problems.end(), [&](const app::ProblemView& problem) {
                   return in(QString::fromStdString(problem.code)) || in(safeName(problem.text));
               });
    }
};

void append(QString& list, const QString& word)
{
    if (!list.isEmpty())
        list += QStringLiteral(", ");
    list += word;
}

}

bool isHole(const app::StepView& step) { return step.state == "gap"; }
bool isAnchor(const app::StepView& step) { return step.kind == "anchor"; }
bool isBroken(const app::LineageRowView& row)
{
    const app::StepView& step = *row.step;
    const bool published = step.state == "complete" || step.state == "noop";
    return step.state == "broken" || (row.verified && row.verified->result == "damaged")
        || (published && !step.restorable && !isLost(row));
}

bool isLost(const app::LineageRowView& row) { return row.lane > 0 && !row.step->restorable; }

const std::vector<QueryField>& lineageFields()
{
    static const std::vector<QueryField> fields {
        { QStringLiteral("kind"), false }, { QStringLiteral("state"), false }, { QStringLiteral("step"), true },
        { QStringLiteral("epoch"), true }, { QStringLiteral("verify"), true }, { QStringLiteral("size"), true },
        { QStringLiteral("ref"), false },  { QStringLiteral("note"), false },
    };
    return fields;
}

LineagePicture::LineagePicture(RunPointer snapshot, const std::vector<app::AlertView>& alerts, const Query& query)
    : m_view(app::makeLineage(std::move(snapshot)))
{
    remarkRows(alerts);
    gatherChains();
    m_versions = static_cast<std::uint64_t>(
        std::count_if(rows().begin(), rows().end(), [](const auto& row) { return !isHole(*row.step); }));
    if (query.isEmpty())
        return;
    m_kept.emplace();
    for (std::size_t at = 0; at < rows().size(); ++at) {
        if (query.matches(QueriedRow { rows()[at], remark(at) }))
            m_kept->push_back(at);
    }
}

void LineagePicture::remarkRows(const std::vector<app::AlertView>& alerts)
{
    const std::shared_ptr<const app::RunView>& run = snapshot().run;
    if (!run || run->epochs.empty())
        return;
    const int newest = run->epochs.back().epoch; // of what names a step and no epoch
    const auto at = [&](int epoch, std::int64_t step) -> LineageRemark* {
        const std::optional<std::size_t> row = find({ epoch, step });
        return row ? &m_remarks[*row] : nullptr;
    };
    for (const app::ReplicaView& replica : run->replicas) {
        if (LineageRemark* remark = replica.step ? at(newest, *replica.step) : nullptr)
            append(remark->served, safeName(replica.id));
    }
    for (const app::NoteView& note : run->notes) {
        if (LineageRemark* remark = note.step ? at(newest, *note.step) : nullptr)
            append(remark->note, safeName(note.text));
    }
    for (const app::DriftView& drift : run->drift) {
        if (LineageRemark* remark = at(drift.epoch, drift.step))
            remark->differs = drift.differs;
    }
    for (const app::AlertView& alert : alerts) {
        LineageRemark* remark = alert.step ? at(newest, *alert.step) : nullptr;
        if (!remark)
            continue;
        QString text = safeName(alert.rule);
        if (alert.replica)
            text += QLatin1Char(' ') + safeName(*alert.replica);
        if (alert.state == app::AlertState::Cleared)
            text += QCoreApplication::translate("Lineage", ", cleared");
        remark->alert =
            remark->alert.isEmpty() ? QStringLiteral("⚑ ") + text : remark->alert + QStringLiteral(" · ") + text;
    }
}

void LineagePicture::gatherChains()
{
    for (std::size_t at = 0; at < rows().size(); ++at) {
        const app::LineageRowView& row = rows()[at];
        if (at == 0 || row.chain != rows()[at - 1].chain)
            m_chains.push_back({ at, at, 0, 0, 0, std::nullopt, true });
        LineageChain& chain = m_chains.back();
        chain.to = at + 1;
        chain.bytes += row.step->wireBytes;
        const bool sound = row.verified && isSound(row.verified->result);
        if (sound) {
            chain.leastLevel =
                chain.checked == 0 ? row.verified->level : std::min(chain.leastLevel, row.verified->level);
            ++chain.checked;
            if (isAnchor(*row.step))
                chain.anchorLevel = row.verified->level;
        }
        const bool seen = (row.step->state == "complete" || row.step->state == "noop") && row.refs.empty();
        chain.plain = chain.plain && seen && !isBroken(row);
    }
}

std::size_t LineagePicture::chainOf(std::size_t row) const
{
    const auto after = std::upper_bound(m_chains.begin(), m_chains.end(), row,
                                        [](std::size_t at, const LineageChain& chain) { return at < chain.from; });
    return static_cast<std::size_t>(after - m_chains.begin()) - 1;
}

const LineageRemark& LineagePicture::remark(std::size_t row) const
{
    static const LineageRemark none;
    const auto found = m_remarks.find(row);
    return found == m_remarks.end() ? none : found->second;
}

StepId LineagePicture::idOf(std::size_t row) const { return { rows()[row].step->epoch, rows()[row].step->step }; }

std::optional<std::size_t> LineagePicture::find(const StepId& id) const
{
    const auto found =
        std::lower_bound(rows().begin(), rows().end(), id, [](const app::LineageRowView& row, const StepId& wanted) {
            return row.step->epoch != wanted.epoch ? row.step->epoch > wanted.epoch : row.step->step > wanted.step;
        });
    if (found == rows().end() || found->step->epoch != id.epoch || found->step->step != id.step)
        return std::nullopt;
    return static_cast<std::size_t>(found - rows().begin());
}

std::vector<std::size_t> LineagePicture::replayPath(std::size_t row) const
{
    std::vector<std::size_t> path { row };
    // What a step builds on is older and so further down; anything else would be a loop.
    for (std::optional<std::size_t> next = rows()[row].base; next && *next > path.back(); next = rows()[*next].base)
        path.push_back(*next);
    return path;
}

} // namespace deltascope::desktop
