#include "pages/timeline/lanes_painter.h"

#include "look/format.h"
#include "look/look.h"
#include "pages/timeline/time_ticks.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr double Names = 92, Head = 28, LanesRight = 12;
constexpr double TallestLane = 56, ShortestLane = 34;
constexpr double TickApart = 120; // pixels, at least
constexpr double MarkApart = 16; // pixels between publications
constexpr double TextRoom = 60; // pixels of a span from which it says what it is
constexpr std::int64_t Lagging = 3; // versions behind

QString laneText(const char* text, const char* note = nullptr)
{
    return QCoreApplication::translate("LanesPainter", text, note);
}
QString length(const app::SpanView& span) { return durationText(secondsOf(span.t1Us - span.t0Us)); }

/// What is readable on a group's color.
Token inkOn(PhaseGroup group)
{
    const bool pale = group == PhaseGroup::Other || (group == PhaseGroup::Diff && currentShade() == Shade::Light);
    return pale ? Token::Text : Token::OnAccent;
}

/// Fonts and metrics are looked up once per painting.
struct LanesPen {
    QPainter& painter;
    const LaneScene& scene;
    QFont label = typeFont(Type::Label);
    QFont bold = label;
    QFont name = typeFont(Type::TableTitle);
    QFontMetricsF labelMetrics { label };
    QFontMetricsF boldMetrics;

    LanesPen(QPainter& to, const LaneScene& what)
        : painter(to)
        , scene(what)
        , boldMetrics(label)
    {
        bold.setWeight(QFont::DemiBold);
        boldMetrics = QFontMetricsF(bold);
    }

    void text(const QRectF& rect, int flags, const QString& words, const QFont& font, Token token) const
    {
        painter.setFont(font);
        painter.setPen(color(token));
        painter.drawText(rect, flags | Qt::TextSingleLine, words);
    }
    double barHeight() const { return scene.laneHeight / 2; }
    QRectF barOf(std::size_t lane, double from, double to) const
    {
        return { from, std::round(scene.top(lane) + (scene.laneHeight - barHeight()) / 2), to - from, barHeight() };
    }
};

void paintTimes(const LanesPen& pen)
{
    const LaneScene& scene = pen.scene;
    const double perPixel = scene.window.lengthUs() / scene.plot.width();
    const std::int64_t every = timeTickUs(perPixel * TickApart);
    for (const std::int64_t tick : timeTicks(scene.window, every)) {
        const double x = std::round(scene.toPixel(static_cast<double>(tick))) + 0.5;
        pen.painter.setPen(color(Token::Grid));
        pen.painter.drawLine(QPointF(x, scene.plot.top()), QPointF(x, scene.plot.bottom()));
        if (x > scene.plot.left() + 64 && x < scene.plot.right() - 20)
            pen.text(QRectF(x - 60, 0, 120, Head), Qt::AlignCenter, timeTickText(tick, every), pen.label, Token::Muted);
    }
    const QDate day = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(scene.window.fromUs / 1000)).date();
    const bool today = day == QDateTime::fromMSecsSinceEpoch(scene.nowUs / 1000).date();
    pen.text(QRectF(12, 0, Names, Head), Qt::AlignVCenter | Qt::AlignLeft,
             today ? laneText("Wall clock") : day.toString(Qt::ISODate), pen.name, Token::Text);
}

void paintName(const LanesPen& pen, std::size_t at)
{
    const Lane& lane = pen.scene.model->lanes[at];
    const double top = pen.scene.top(at);
    const double bottom = std::round(top + pen.scene.laneHeight) - 0.5;
    pen.painter.setPen(color(Token::Border));
    pen.painter.drawLine(QPointF(0, bottom), QPointF(pen.scene.plot.right(), bottom));
    const QString name = lane.bucket ? laneText("bucket")
        : lane.actor.empty()         ? laneText("publisher")
                                     : safeName(lane.actor);
    const QString shown = QFontMetricsF(pen.name).elidedText(name, Qt::ElideMiddle, Names - 20);
    const bool late = lane.behind && *lane.behind > 0;
    const double half = pen.scene.laneHeight / 2;
    pen.text(QRectF(12, late ? top + half - 17 : top, Names - 16, late ? 17 : pen.scene.laneHeight),
             Qt::AlignVCenter | Qt::AlignLeft, shown, pen.name, Token::Text);
    if (!late)
        return;
    const QString behind = laneText("%1 behind").arg(*lane.behind);
    const bool lagging = *lane.behind >= Lagging;
    pen.text(QRectF(12, top + half, Names - 16, 16), Qt::AlignVCenter | Qt::AlignLeft,
             lagging ? QStringLiteral("⚑ ") + behind : behind, pen.label, lagging ? Token::Text : Token::Muted);
}

void paintPublication(const LanesPen& pen, double x, double y)
{
    QPen dotted(color(Token::Muted), 1);
    dotted.setDashPattern({ 2, 3 });
    pen.painter.setPen(dotted);
    const double line = std::round(x) + 0.5;
    pen.painter.drawLine(QPointF(line, y + 7), QPointF(line, pen.scene.plot.bottom()));
    const std::array corners = { QPointF(x, y - 7), QPointF(x + 7, y + 6), QPointF(x - 7, y + 6) };
    pen.painter.setPen(Qt::NoPen);
    pen.painter.setBrush(color(Token::Text));
    pen.painter.setRenderHint(QPainter::Antialiasing);
    pen.painter.drawConvexPolygon(corners.data(), static_cast<int>(corners.size()));
    pen.painter.setRenderHint(QPainter::Antialiasing, false);
}

/// Publications, each with a line down through the lanes of the replicas. Where they are close only some are shown,
/// and a name only where it has room.
void paintPublications(const LanesPen& pen, std::size_t lane)
{
    const LaneScene& scene = pen.scene;
    const double y = std::round(scene.top(lane) + scene.laneHeight / 2);
    const std::vector<app::PublicationView>& all = scene.model->clock.visible;
    const auto place = [&](std::size_t at) { return scene.toPixel(static_cast<double>(all[at].tUs)); };
    double last = -1e9;
    for (std::size_t at = 0; at < all.size(); ++at) {
        const double x = place(at);
        const bool own = all[at].step == scene.selected;
        if (all[at].tUs <= 0 || x < scene.plot.left() - 120 || x > scene.plot.right() + 8
            || (!own && x - last < MarkApart))
            continue;
        paintPublication(pen, x, y);
        last = x;
        const QString words = laneText("%1 visible").arg(all[at].step);
        const double wide = (own ? pen.boldMetrics : pen.labelMetrics).horizontalAdvance(words) + 2;
        std::size_t next = at + 1;
        while (next < all.size() && place(next) - x < MarkApart)
            ++next;
        const double free = next < all.size() ? std::min(place(next) - 8, scene.plot.right()) : scene.plot.right();
        if (x + 13 + wide < free)
            pen.text(QRectF(x + 13, y - 10, wide, 20), Qt::AlignVCenter | Qt::AlignLeft, words,
                     own ? pen.bold : pen.label, own ? Token::Text : Token::Muted);
    }
}

void paintSpans(const LanesPen& pen, std::size_t at)
{
    const LaneScene& scene = pen.scene;
    for (const app::SpanView& span : scene.model->lanes[at].spans) {
        const double from = scene.toPixel(static_cast<double>(span.t0Us));
        const double to = scene.toPixel(static_cast<double>(span.t1Us));
        if (to < scene.plot.left() || from > scene.plot.right())
            continue;
        const PhaseGroup group = groupOf(span.phase);
        const QRectF bar = pen.barOf(at, from, std::max(from + 1, to - 1));
        fillPhase(pen.painter, bar, group);
        const double begin = std::max(from, scene.plot.left()) + 8;
        const double room = std::min(to, scene.plot.right()) - begin - 6;
        if (room < TextRoom)
            continue;
        QString words =
            QStringLiteral("%1 %2, %3").arg(phaseText(span.phase), QString::number(span.step), length(span));
        if (span.bytes > 0)
            words += QStringLiteral(", ") + bytesText(span.bytes);
        pen.text(QRectF(begin, bar.top(), room, bar.height()), Qt::AlignVCenter | Qt::AlignLeft,
                 pen.labelMetrics.elidedText(words, Qt::ElideRight, room), pen.label, inkOn(group));
    }
}

/// Where the actor does something again after a pause.
double nextWork(const LaneScene& scene, const Lane& lane, std::size_t number)
{
    const std::int64_t end = lane.pauses[number].t1Us;
    std::int64_t next = INT64_MAX;
    if (number + 1 < lane.pauses.size())
        next = lane.pauses[number + 1].t0Us;
    for (const app::SpanView& span : lane.spans) {
        if (span.t0Us >= next)
            break;
        if (span.t1Us > end)
            next = std::max(end, span.t0Us);
    }
    return scene.toPixel(static_cast<double>(next));
}

void paintPause(const LanesPen& pen, std::size_t at, std::size_t number)
{
    const LaneScene& scene = pen.scene;
    const Lane& lane = scene.model->lanes[at];
    const app::SpanView& pause = lane.pauses[number];
    const double from = scene.toPixel(static_cast<double>(pause.t0Us));
    const double to = std::max(from + 2, scene.toPixel(static_cast<double>(pause.t1Us)));
    if (from > scene.plot.right())
        return;
    const double next = std::min(scene.plot.right(), nextWork(scene, lane, number));
    const QRectF bar = pen.barOf(at, from, to);
    if (to > scene.plot.left()) {
        fillPhase(pen.painter, bar, PhaseGroup::Pause);
        const QString words = bar.width() > 110 ? laneText("paused %1").arg(length(pause)) : length(pause);
        const double wide = pen.boldMetrics.horizontalAdvance(words) + 8;
        if (wide < bar.width() - 4) {
            const QRectF plate(bar.center().x() - wide / 2, bar.center().y() - 8, wide, 16);
            pen.painter.fillRect(plate, color(Token::Surface));
            pen.text(plate, Qt::AlignCenter, words, pen.bold, Token::Text);
        }
    }
    const QString words = laneText("generating on %1").arg(pause.step);
    const double begin = std::max(to, scene.plot.left());
    if (next - begin < pen.labelMetrics.horizontalAdvance(words) + 40)
        return;
    if (to > scene.plot.left())
        pen.painter.fillRect(QRectF(to + 4, bar.center().y() - 3, 6, 6), color(Token::Text));
    pen.text(QRectF(begin + 17, bar.top(), next - begin - 17, bar.height()), Qt::AlignVCenter | Qt::AlignLeft, words,
             pen.label, Token::Muted);
}

void paintSelected(const LanesPen& pen)
{
    const LaneScene& scene = pen.scene;
    if (!scene.selected)
        return;
    std::optional<TimeWindow> own;
    for (const app::BarView& bar : scene.model->clock.bars) {
        if (bar.step != *scene.selected)
            continue;
        const TimeWindow time { static_cast<double>(bar.t0Us), static_cast<double>(bar.t1Us) };
        own = own ? TimeWindow { std::min(own->fromUs, time.fromUs), std::max(own->toUs, time.toUs) } : time;
    }
    if (!own)
        return;
    QColor ground = color(Token::Selection);
    ground.setAlphaF(0.55F);
    const double from = scene.toPixel(own->fromUs);
    pen.painter.fillRect(QRectF(from, scene.plot.top(), scene.toPixel(own->toUs) - from, scene.plot.height()), ground);
}

}

double LaneScene::toPixel(double us) const
{
    return plot.left() + (us - window.fromUs) / std::max(1.0, window.lengthUs()) * plot.width();
}

double LaneScene::toUs(double x) const { return window.fromUs + (x - plot.left()) / plot.width() * window.lengthUs(); }

int LaneScene::laneAt(double y) const
{
    const auto lane = static_cast<int>(std::floor((y - plot.top()) / laneHeight));
    return model && lane >= 0 && lane < static_cast<int>(model->lanes.size()) ? lane : -1;
}

const app::SpanView* LaneScene::spanAt(const QPointF& point) const
{
    const int lane = laneAt(point.y());
    if (lane < 0 || point.x() < plot.left())
        return nullptr;
    const Lane& hit = model->lanes[static_cast<std::size_t>(lane)];
    const double grip = window.lengthUs() / plot.width() * 2; // two pixels: short spans can be hit too
    const double us = toUs(point.x());
    for (const std::vector<app::SpanView>* spans : { &hit.pauses, &hit.spans }) {
        for (auto span = spans->rbegin(); span != spans->rend(); ++span) {
            if (static_cast<double>(span->t0Us) - grip <= us && us <= static_cast<double>(span->t1Us) + grip)
                return &*span;
        }
    }
    return nullptr;
}

QRectF lanePlot(double width, double laneHeight, std::size_t count)
{
    return { Names, Head, std::max(1.0, width - Names - LanesRight), laneHeight * static_cast<double>(count) };
}

double laneHeightFor(double height, std::size_t count)
{
    return std::clamp(std::floor((height - Head) / static_cast<double>(std::max<std::size_t>(1, count))), ShortestLane,
                      TallestLane);
}

int leastLanesHeight(std::size_t count)
{
    return static_cast<int>(Head + ShortestLane * static_cast<double>(std::max<std::size_t>(3, count)));
}

void paintLanes(QPainter& painter, const LaneScene& scene)
{
    const LanesPen pen(painter, scene);
    paintTimes(pen);
    painter.save();
    painter.setClipRect(scene.plot, Qt::IntersectClip);
    paintSelected(pen);
    painter.restore();
    for (std::size_t at = 0; at < scene.model->lanes.size(); ++at)
        paintName(pen, at);
    painter.save();
    painter.setClipRect(scene.plot, Qt::IntersectClip);
    for (std::size_t at = 0; at < scene.model->lanes.size(); ++at) {
        const Lane& lane = scene.model->lanes[at];
        if (lane.bucket) {
            paintPublications(pen, at);
            continue;
        }
        paintSpans(pen, at);
        for (std::size_t number = 0; number < lane.pauses.size(); ++number)
            paintPause(pen, at, number);
    }
    painter.restore();
}

} // namespace deltascope::desktop
