#include "pages/lineage/lineage_model.h"

#include "pages/lineage/lineage_text.h"

namespace deltascope::desktop {

namespace {

constexpr std::size_t MostRuns = 32; ///< of rows that come or go; beyond it a reset is cheaper

/// Neighboring items of one list that the other one lacks.
struct Run {
    std::size_t first;
    std::size_t count;
};

/// Items of `list` that are not in `other`. Both are in the order of isAbove().
std::vector<Run> missing(const std::vector<LineageItem>& list, const std::vector<LineageItem>& other)
{
    std::vector<Run> runs;
    std::size_t there = 0;
    for (std::size_t at = 0; at < list.size(); ++at) {
        while (there < other.size() && other[there].isAbove(list[at]))
            ++there;
        if (there < other.size() && other[there].isSame(list[at]))
            continue;
        if (!runs.empty() && runs.back().first + runs.back().count == at)
            ++runs.back().count;
        else
            runs.push_back({ at, 1 });
    }
    return runs;
}

int asInt(std::size_t n) { return static_cast<int>(n); }

}

void LineageModel::show(LineagePointer picture, std::optional<StepId> a, std::optional<StepId> b)
{
    m_aId = a;
    m_bId = b;
    change(std::move(picture));
}

void LineageModel::setMarks(std::optional<StepId> a, std::optional<StepId> b)
{
    if (m_aId == a && m_bId == b)
        return;
    m_aId = a;
    m_bId = b;
    change(m_picture);
}

void LineageModel::setOpen(std::size_t chain, bool open)
{
    if (!m_picture || !LineageFolding::canFold(*m_picture, chain))
        return;
    m_folding.set(*m_picture, chain, open);
    change(m_picture);
}

void LineageModel::setAllOpen(bool open)
{
    m_folding.setAll(open);
    change(m_picture);
}

void LineageModel::keepNewestOpen()
{
    if (m_picture && !m_picture->chains().empty() && isOpen(0))
        m_folding.set(*m_picture, 0, true);
}

bool LineageModel::isOpen(std::size_t chain) const { return m_folding.isOpen(*m_picture, chain, m_a, m_b); }

void LineageModel::change(LineagePointer picture)
{
    m_a = picture && m_aId ? picture->find(*m_aId) : std::nullopt;
    m_b = picture && m_bId ? picture->find(*m_bId) : std::nullopt;
    std::vector<LineageItem> next;
    if (picture)
        next = lineageItems(*picture, m_folding, m_a, m_b);
    if (!insertAndRemove(picture, next)) {
        beginResetModel();
        m_picture = std::move(picture);
        m_items = std::move(next);
        findMarks();
        endResetModel();
        return;
    }
    findMarks();
    if (!m_items.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

bool LineageModel::insertAndRemove(LineagePointer picture, std::vector<LineageItem> next)
{
    if (!m_picture || !picture || m_picture->snapshot().id != picture->snapshot().id)
        return false;
    const std::vector<Run> gone = missing(m_items, next);
    const std::vector<Run> come = missing(next, m_items);
    if (gone.size() + come.size() > MostRuns)
        return false;
    const auto place = [](std::vector<LineageItem>& items, std::size_t at) {
        return items.begin() + static_cast<std::ptrdiff_t>(at);
    };
    for (auto run = gone.rbegin(); run != gone.rend(); ++run) {
        beginRemoveRows({}, asInt(run->first), asInt(run->first + run->count) - 1);
        m_items.erase(place(m_items, run->first), place(m_items, run->first + run->count));
        endRemoveRows();
    }
    // What is left is in both lists; from here on it speaks of the new picture.
    m_picture = std::move(picture);
    std::vector<LineageItem> kept;
    kept.reserve(m_items.size());
    std::size_t at = 0;
    for (const Run& run : come) {
        kept.insert(kept.end(), place(next, at), place(next, run.first));
        at = run.first + run.count;
    }
    kept.insert(kept.end(), place(next, at), next.end());
    m_items = std::move(kept);
    for (const Run& run : come) {
        beginInsertRows({}, asInt(run.first), asInt(run.first + run.count) - 1);
        m_items.insert(place(m_items, run.first), place(next, run.first), place(next, run.first + run.count));
        endInsertRows();
    }
    return true;
}

void LineageModel::findMarks()
{
    m_lines = {};
    m_brackets = {};
    m_path = {};
    if (!m_picture)
        return;
    m_lines.build(*m_picture, m_items);
    m_brackets.build(*m_picture, m_items);
    if (m_b)
        m_path = shownPath(m_items, *m_picture, *m_b);
}

std::optional<StepId> LineageModel::versionOf(const QModelIndex& index) const
{
    if (!index.isValid() || item(index.row()).kind != LineageItem::Kind::Row)
        return std::nullopt;
    const LineageItem& shown = item(index.row());
    return isHole(*m_picture->rows()[shown.row].step) ? std::nullopt : std::optional(m_picture->idOf(shown.row));
}

QModelIndex LineageModel::indexOf(const StepId& id) const
{
    const std::optional<std::size_t> row = m_picture ? m_picture->find(id) : std::nullopt;
    const std::optional<std::size_t> found = row ? itemOfRow(m_items, *m_picture, *row) : std::nullopt;
    return found ? index(asInt(*found), 0) : QModelIndex();
}

int LineageModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : asInt(m_items.size()); }
int LineageModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant LineageModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !m_picture)
        return {};
    const LineageItem& shown = item(index.row());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        return lineageText(*m_picture, shown, static_cast<Column>(index.column()));
    case Qt::ToolTipRole:
        return lineageTip(*m_picture, shown, static_cast<Column>(index.column()));
    case Qt::TextAlignmentRole:
        return headerData(index.column(), Qt::Horizontal, role);
    default:
        return {};
    }
}

QVariant LineageModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole) {
        const bool number =
            section == Step || section == Age || section == Changed || section == Bytes || section == Restore;
        return QVariant::fromValue(Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Chain:
        return tr("chain");
    case Step:
        return tr("step");
    case Kind:
        return tr("kind");
    case Age:
        return tr("age");
    case Changed:
        return tr("changed");
    case Bytes:
        return tr("bytes");
    case Verified:
        return tr("verified");
    case Refs:
        return tr("refs and note");
    case Restore:
        return tr("to materialize");
    default:
        return {};
    }
}

} // namespace deltascope::desktop
