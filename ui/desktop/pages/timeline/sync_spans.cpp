#include "pages/timeline/sync_spans.h"

#include "look/format.h"
#include "look/look.h"

#include <QPixmap>

#include <algorithm>
#include <cmath>
#include <set>

namespace deltascope::desktop {

namespace {

struct SyncColumn {
    enum : int { Phase, Start, Length, Bytes, Rate, Columns };
};

QString startText(double seconds)
{
    const double shown = std::round(seconds * 100) / 100;
    return QString::number(shown == 0 ? 0.0 : shown, 'f', 2); // never "-0.00"
}

QPixmap squareOf(PhaseGroup group)
{
    QPixmap square(10, 10);
    square.fill(color(tokenOf(group)));
    return square;
}

}

void SyncSpans::setBar(const app::TimelineView& view, const app::BarView& bar)
{
    beginResetModel();
    m_spans.clear();
    std::set<std::string> publishers;
    for (const app::SpanView& span : view.spans) {
        if (groupOf(span.phase) == PhaseGroup::Upload)
            publishers.insert(span.actor);
    }
    for (const app::SpanView& span : view.spans) {
        if (span.step == bar.step && (bar.actor.empty() || span.actor == bar.actor || publishers.contains(span.actor)))
            m_spans.push_back(span);
    }
    const auto visible = std::find_if(view.visible.begin(), view.visible.end(), [&](const app::PublicationView& mark) {
        return mark.step == bar.step && mark.tUs > 0;
    });
    m_fromVisible = visible != view.visible.end();
    m_originUs = m_fromVisible ? visible->tUs : bar.t0Us;
    endResetModel();
}

void SyncSpans::clear()
{
    beginResetModel();
    m_spans.clear();
    endResetModel();
}

int SyncSpans::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_spans.size());
}

int SyncSpans::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : SyncColumn::Columns; }

/// Work inside of a pause is part of it, whatever its name.
PhaseGroup SyncSpans::groupWithin(const app::SpanView& span) const
{
    const bool paused = std::any_of(m_spans.begin(), m_spans.end(), [&](const app::SpanView& other) {
        return groupOf(other.phase) == PhaseGroup::Pause && other.actor == span.actor && other.t0Us <= span.t0Us
            && span.t1Us <= other.t1Us;
    });
    return paused ? PhaseGroup::Pause : groupOf(span.phase);
}

QVariant SyncSpans::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const app::SpanView& span = m_spans[static_cast<std::size_t>(index.row())];
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter
                                   | (index.column() == SyncColumn::Phase ? Qt::AlignLeft : Qt::AlignRight));
    if (role == Qt::DecorationRole && index.column() == SyncColumn::Phase)
        return squareOf(groupWithin(span));
    if (role == Qt::ForegroundRole && (index.column() == SyncColumn::Start || index.column() == SyncColumn::Rate))
        return color(Token::Muted);
    if (role == Qt::ToolTipRole)
        return QStringLiteral("%1, %2, %3").arg(safeName(span.actor), safeName(span.phase), fullTimeText(span.t0Us));
    if (role != Qt::DisplayRole)
        return {};
    const double seconds = secondsOf(span.t1Us - span.t0Us);
    switch (index.column()) {
    case SyncColumn::Phase:
        return phaseText(span.phase);
    case SyncColumn::Start:
        return startText(secondsOf(span.t0Us - m_originUs));
    case SyncColumn::Length:
        return durationText(seconds);
    case SyncColumn::Bytes:
        return span.bytes > 0 ? bytesText(span.bytes) : QString();
    case SyncColumn::Rate:
        return span.bytes > 0 && seconds > 0 ? rateText(static_cast<double>(span.bytes) / seconds) : QString();
    default:
        return {};
    }
}

QVariant SyncSpans::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignVCenter | (section == SyncColumn::Phase ? Qt::AlignLeft : Qt::AlignRight));
    if (role != Qt::DisplayRole || orientation == Qt::Vertical)
        return {};
    switch (section) {
    case SyncColumn::Phase:
        return tr("phase");
    case SyncColumn::Start:
        return tr("start, s");
    case SyncColumn::Length:
        return tr("length");
    case SyncColumn::Bytes:
        return tr("bytes");
    case SyncColumn::Rate:
        return tr("rate");
    default:
        return {};
    }
}

} // namespace deltascope::desktop
