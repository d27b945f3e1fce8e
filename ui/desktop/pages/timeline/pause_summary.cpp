#include "pages/timeline/pause_summary.h"

#include "look/format.h"
#include "look/look.h"
#include "pages/timeline/phases.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

namespace deltascope::desktop {

namespace {

constexpr int SpaceBetween = 80; // pixels: the mark and the gaps between groups

/// The color of the pause, so that the line and the bars say the same.
class PauseMark final : public QWidget {
public:
    PauseMark() { setFixedSize(10, 10); }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        fillPhase(painter, rect(), PhaseGroup::Pause);
    }
};

}

PauseSummary::PauseSummary(QWidget* parent)
    : QWidget(parent)
    , m_mark(new PauseMark)
    , m_title(makeLabel({}, "muted"))
    , m_numbers(new QWidget)
    , m_sum(makeLabel({}, "section"))
    , m_share(makeLabel({}, "muted"))
    , m_p50(makeLabel({}, "section"))
    , m_p95(makeLabel({}, "section"))
    , m_worst(makeLabel({}, "section"))
    , m_go(makeButton({}, {}, "link"))
    , m_range(makeLabel({}, "muted"))
{
    setFixedHeight(44);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 0, 16, 0);
    row->setSpacing(7);
    row->addWidget(m_mark);
    row->addWidget(m_title);
    auto* numbers = new QHBoxLayout(m_numbers);
    numbers->setContentsMargins(0, 0, 0, 0);
    numbers->setSpacing(row->spacing());
    row->addWidget(m_numbers);
    const auto add = [&](QWidget* widget, int space = 0) {
        if (space > 0)
            numbers->addSpacing(space);
        numbers->addWidget(widget);
    };
    add(m_sum);
    add(m_share);
    add(makeLabel(tr("p50"), "muted"), 14);
    add(m_p50);
    add(makeLabel(tr("p95"), "muted"), 14);
    add(m_p95);
    add(makeLabel(tr("Worst"), "muted"), 14);
    add(m_worst);
    add(m_go);
    row->addStretch(1);
    row->addWidget(m_range);
    for (QLabel* label : { m_title, m_share, m_range }) // where there is little room they are cut
        label->setMinimumWidth(1);
    connect(m_go, &QPushButton::clicked, this, [this] { emit stepWanted(m_worstStep); });
}

void PauseSummary::show(const app::PauseSummaryView& summary, const QString& range)
{
    const bool known = summary.pauses > 0;
    m_mark->setVisible(known);
    m_numbers->setVisible(known);
    m_range->setText(range);
    m_title->setText(known ? tr("Paused, all replicas") : tr("No pause was reported in these steps."));
    if (!known)
        return fit();
    const double paused = secondsOf(summary.pausedUs);
    m_sum->setText(durationText(paused));
    m_share->setText(
        tr("%1 of %2")
            .arg(percentText(summary.wallUs > 0 ? std::optional(1e6 * paused / summary.wallUs) : std::nullopt),
                 durationText(summary.wallUs / 1e6)));
    m_share->setToolTip(
        tr("Of wall time, from the first begin to the last end, times the replicas that tell of pauses"));
    m_p50->setText(durationText(secondsOf(summary.p50Us)));
    m_p95->setText(durationText(secondsOf(summary.p95Us)));
    m_worstStep = summary.worst ? summary.worst->step : 0;
    m_worst->setText(summary.worst ? durationText(secondsOf(summary.worst->us)) : unknownText());
    m_go->setVisible(summary.worst.has_value());
    if (summary.worst) {
        m_go->setText(tr("%1, step %2").arg(shortened(safeName(summary.worst->actor), 24)).arg(m_worstStep));
        m_go->setAccessibleName(tr("Go to the worst pause, step %1").arg(m_worstStep));
    }
    fit();
}

/// Where there is little room the range goes first: the bars above show it.
void PauseSummary::fit()
{
    if (m_sum->isVisibleTo(this))
        m_title->setText(tr("Paused, all replicas"));
    int needed = layout()->contentsMargins().left() + layout()->contentsMargins().right() + SpaceBetween;
    for (const QLabel* label : findChildren<QLabel*>()) {
        if (label != m_range && label->isVisibleTo(this))
            needed += label->sizeHint().width() + layout()->spacing();
    }
    needed += m_go->isVisibleTo(this) ? m_go->sizeHint().width() : 0;
    m_range->setVisible(needed + m_range->sizeHint().width() <= width());
    if (needed > width() && m_sum->isVisibleTo(this))
        m_title->setText(tr("Paused"));
}

void PauseSummary::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fit();
}

QString PauseSummary::text() const
{
    QStringList words;
    for (const QLabel* label : findChildren<QLabel*>()) {
        if (label->isVisibleTo(this) && !label->text().isEmpty())
            words += label->text();
    }
    return words.join(QLatin1Char(' '));
}

} // namespace deltascope::desktop
