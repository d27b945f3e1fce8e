#include "pages/timeline/phases.h"

#include "look/format.h"

#include <QCoreApplication>
#include <QPainter>

#include <string_view>
#include <utility>

namespace deltascope::desktop {

namespace {

constexpr double HatchedFrom = 8; // pixels of width
constexpr double HatchPeriod = 5;
constexpr double HatchWidth = 1.6;
constexpr double OutlineWidth = 1.5;

/// Stripes at 45 degrees, the same wherever the rectangle begins.
void hatch(QPainter& painter, const QRectF& rect)
{
    QColor stripe = color(Token::Surface);
    stripe.setAlphaF(0.45F);
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(stripe, HatchWidth));
    const double period = HatchPeriod * 1.4142;
    for (double x = rect.left(); x < rect.right() + rect.height(); x += period)
        painter.drawLine(QPointF(x, rect.top()), QPointF(x - rect.height(), rect.bottom()));
    painter.restore();
}

}

PhaseGroup groupOf(const std::string& phase)
{
    static constexpr std::array<std::pair<std::string_view, PhaseGroup>, 7> Known { {
        { "verify", PhaseGroup::Verify },
        { "fetch", PhaseGroup::Fetch },
        { "stage", PhaseGroup::Fetch },
        { "upload", PhaseGroup::Upload },
        { "diff", PhaseGroup::Diff },
        { "encode", PhaseGroup::Diff },
        { "resume", PhaseGroup::Resume },
    } };
    if (phase == "pause" || phase.starts_with("pause."))
        return PhaseGroup::Pause;
    for (const auto& [name, group] : Known) {
        if (phase == name)
            return group;
    }
    return PhaseGroup::Other;
}

Token tokenOf(PhaseGroup group)
{
    switch (group) {
    case PhaseGroup::Pause:
        return Token::Pause;
    case PhaseGroup::Verify:
        return Token::Verify;
    case PhaseGroup::Fetch:
        return Token::Fetch;
    case PhaseGroup::Upload:
        return Token::Upload;
    case PhaseGroup::Diff:
        return Token::Diff;
    case PhaseGroup::Resume:
        return Token::Resume;
    case PhaseGroup::Other:
        break;
    }
    return Token::Waiting;
}

QString groupText(PhaseGroup group)
{
    const auto text = [](const char* words) { return QCoreApplication::translate("Phases", words); };
    switch (group) {
    case PhaseGroup::Pause:
        return text("Paused");
    case PhaseGroup::Verify:
        return text("Verify");
    case PhaseGroup::Fetch:
        return text("Fetch, stage");
    case PhaseGroup::Upload:
        return text("Upload");
    case PhaseGroup::Diff:
        return text("Diff, encode");
    case PhaseGroup::Resume:
        return text("Resume");
    case PhaseGroup::Other:
        break;
    }
    return text("Waiting, other");
}

QString phaseText(const std::string& phase) { return safeName(phase.starts_with("pause.") ? phase.substr(6) : phase); }

std::vector<Stretch> stretchesOf(const app::BarView& bar)
{
    std::vector<Stretch> stretches;
    std::int64_t at = 0;
    for (const app::PhaseTimeView& time : bar.phases) {
        const PhaseGroup group = groupOf(time.phase);
        if (!stretches.empty() && stretches.back().group == group)
            stretches.back().toUs += time.us;
        else if (time.us > 0)
            stretches.push_back({ group, at, at + time.us });
        at += time.us;
    }
    return stretches;
}

bool hasNoBreakdown(const app::BarView& bar) { return bar.phases.size() == 1 && bar.phases.front().phase == "sync"; }

void fillPhase(QPainter& painter, const QRectF& rect, PhaseGroup group)
{
    QColor fill = color(tokenOf(group));
    if (group == PhaseGroup::Other)
        fill.setAlphaF(0.45F);
    painter.fillRect(rect, fill);
    if (group != PhaseGroup::Pause || rect.width() < HatchedFrom)
        return;
    hatch(painter, rect);
    const double inset = OutlineWidth / 2;
    QPen outline(color(Token::Pause), OutlineWidth);
    outline.setJoinStyle(Qt::MiterJoin);
    painter.setPen(outline);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect.adjusted(inset, inset, -inset, -inset));
}

} // namespace deltascope::desktop
