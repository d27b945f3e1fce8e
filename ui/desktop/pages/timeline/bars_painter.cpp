#include "pages/timeline/bars_painter.h"

#include "look/format.h"
#include "look/look.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr double Left = 44, Top = 40, BarsRight = 16, Bottom = 40;
constexpr double WidestBar = 28;
constexpr double AnchorSide = 4; // half of a diamond
constexpr double GhostY = 14; // above the plot, where the ghost is off the scale

QString barText(const char* text) { return QCoreApplication::translate("BarsPainter", text); }

double totalUs(const app::BarView& bar) { return static_cast<double>(bar.t1Us - bar.t0Us); }

/// Fonts are looked up once per painting.
struct BarsPen {
    QPainter& painter;
    const BarScene& scene;
    QFont label = typeFont(Type::Label);
    QFont bold = label;

    BarsPen(QPainter& to, const BarScene& what)
        : painter(to)
        , scene(what)
    {
        bold.setWeight(QFont::DemiBold);
    }

    double y(double value) const { return scene.plot.bottom() - scene.axis.place(value) * scene.plot.height(); }
    double yOf(const app::BarView& bar, double us) const
    {
        return y(scene.unit == BarUnit::Seconds ? us / 1e6 : 100 * us / std::max(1.0, totalUs(bar)));
    }
    double left(std::size_t slot) const { return scene.plot.left() + static_cast<double>(slot) * scene.cell(); }
    double center(std::size_t slot) const { return left(slot) + scene.cell() / 2; }
    void text(const QPointF& middle, Qt::Alignment side, const QString& words, const QFont& font, Token token) const
    {
        const double wide = QFontMetricsF(font).horizontalAdvance(words) + 2;
        const double x = side & Qt::AlignRight ? middle.x() - wide
            : side & Qt::AlignHCenter          ? middle.x() - wide / 2
                                               : middle.x();
        painter.setFont(font);
        painter.setPen(color(token));
        painter.drawText(QRectF(x, middle.y() - 10, wide, 20), (side & Qt::AlignHorizontal_Mask) | Qt::AlignVCenter,
                         words);
    }
};

void paintGrid(const BarsPen& pen)
{
    const BarScene& scene = pen.scene;
    for (const double tick : scene.axis.ticks) {
        const double y = std::round(pen.y(tick)) + 0.5;
        pen.painter.setPen(color(tick == 0 ? Token::Border : Token::Grid));
        pen.painter.drawLine(QPointF(scene.plot.left(), y), QPointF(scene.plot.right(), y));
        pen.text({ scene.plot.left() - 8, y }, Qt::AlignRight, scene.axis.text(tick), pen.label, Token::Muted);
    }
    pen.text({ scene.plot.left() - 8, scene.plot.top() - 22 }, Qt::AlignRight,
             scene.unit == BarUnit::Seconds ? barText("s") : QStringLiteral("%"), pen.label, Token::Muted);
}

void paintBar(const BarsPen& pen, const app::BarView& bar, double x, double width)
{
    for (const Stretch& stretch : stretchesOf(bar)) {
        const double top = pen.yOf(bar, static_cast<double>(stretch.toUs));
        const double bottom = pen.yOf(bar, static_cast<double>(stretch.fromUs));
        const double gap = stretch.group != PhaseGroup::Pause && bottom - top > 3 && width > 3 ? 1 : 0;
        fillPhase(pen.painter, QRectF(x, top, width, std::max(0.5, bottom - top - gap)), stretch.group);
    }
    if (hasNoBreakdown(bar) && width > 3) {
        pen.painter.setBrush(Qt::NoBrush);
        pen.painter.setPen(QPen(color(Token::Waiting), 1, Qt::DashLine));
        const double top = pen.yOf(bar, totalUs(bar));
        pen.painter.drawRect(QRectF(x + 0.5, top + 0.5, width - 1, pen.y(0) - top - 1));
    }
}

/// Where several versions share a pixel, the longest sync stands for them.
void paintAll(const BarsPen& pen)
{
    const BarScene& scene = pen.scene;
    const double cell = scene.cell();
    const double width = std::clamp(cell * 0.72, 1.0, WidestBar);
    const auto paint = [&](std::size_t slot) {
        if (const app::BarView* bar = scene.bar(scene.model->syncs[slot]))
            paintBar(pen, *bar, cell >= 2 ? pen.center(slot) - width / 2 : std::floor(pen.left(slot)), width);
    };
    std::optional<std::size_t> longest;
    for (std::size_t slot = 0; slot < scene.model->syncs.size(); ++slot) {
        if (cell >= 2) {
            paint(slot);
            continue;
        }
        if (longest && std::floor(pen.left(slot)) != std::floor(pen.left(*longest))) {
            paint(*longest);
            longest.reset();
        }
        const app::BarView* bar = scene.bar(scene.model->syncs[slot]);
        const app::BarView* known = longest ? scene.bar(scene.model->syncs[*longest]) : nullptr;
        if (bar && (!known || totalUs(*bar) > totalUs(*known)))
            longest = slot;
    }
    if (longest)
        paint(*longest);
}

std::optional<std::size_t> slotOf(const BarScene& scene, std::optional<std::int64_t> step)
{
    if (!step)
        return std::nullopt;
    const auto& all = scene.model->syncs;
    const auto at = std::lower_bound(all.begin(), all.end(), *step,
                                     [](const BarSlot& slot, std::int64_t number) { return slot.step < number; });
    return at != all.end() && at->step == *step ? std::optional(static_cast<std::size_t>(at - all.begin()))
                                                : std::nullopt;
}

void paintColumn(const BarsPen& pen, std::optional<std::int64_t> step, Token token, double alpha)
{
    const auto slot = slotOf(pen.scene, step);
    if (!slot)
        return;
    QColor ground = color(token);
    ground.setAlphaF(static_cast<float>(alpha));
    const double width = std::max(2.0, pen.scene.cell());
    pen.painter.fillRect(QRectF(pen.center(*slot) - width / 2, pen.scene.plot.top() - 8, width,
                                pen.scene.plot.height() + 8 + Bottom - 6),
                         ground);
}

/// The longest pause says its length.
void paintLongest(const BarsPen& pen)
{
    const BarScene& scene = pen.scene;
    const app::BarView* longest = nullptr;
    std::size_t at = 0;
    for (std::size_t slot = 0; slot < scene.model->syncs.size(); ++slot) {
        const app::BarView* bar = scene.bar(scene.model->syncs[slot]);
        if (bar && bar->pauseUs.value_or(0) > 0 && (!longest || *bar->pauseUs > *longest->pauseUs)) {
            longest = bar;
            at = slot;
        }
    }
    if (!longest)
        return;
    const QString words = barText("%1 paused").arg(durationText(secondsOf(*longest->pauseUs)));
    const double half = QFontMetricsF(pen.bold).horizontalAdvance(words) / 2 + 2;
    if (scene.unit == BarUnit::Seconds && totalUs(*longest) / 1e6 > scene.axis.high)
        return; // it says how long it is as a whole
    const double x = std::clamp(pen.center(at), scene.plot.left() + half,
                                std::max(scene.plot.left() + half, scene.plot.right() - half));
    const double y = std::max(pen.yOf(*longest, totalUs(*longest)) - 11, scene.plot.top() - 6);
    pen.painter.fillRect(QRectF(x - half - 2, y - 8, 2 * half + 4, 16),
                         color(Token::Surface)); // above taller neighbors
    pen.text({ x, y }, Qt::AlignHCenter, words, pen.bold, Token::Text);
}

/// What one full checkpoint would take.
void paintGhost(const BarsPen& pen)
{
    const BarScene& scene = pen.scene;
    if (!scene.ghost || !scene.model->view.ghost || scene.unit != BarUnit::Seconds)
        return;
    const double seconds = scene.model->view.ghost->ms() / 1e3;
    const bool off = scene.isGhostOff();
    const double times = seconds / std::max(1e-9, scene.axis.high);
    const QString words = off ? barText("↑ full sync would take %1 per step, %2 times the height of this chart")
                                    .arg(durationText(seconds), QString::number(times, 'f', times < 10 ? 1 : 0))
                              : barText("full sync would take %1").arg(durationText(seconds));
    const double y = std::round(off ? GhostY : pen.y(seconds)) + 0.5;
    const double begin = scene.plot.left() + 44;
    const double end = begin + QFontMetricsF(pen.label).horizontalAdvance(words);
    QPen dashed(color(Token::Muted), 1);
    dashed.setDashPattern({ 4, 3 });
    pen.painter.setPen(dashed);
    if (!off) { // the words stand where there are no bars: above the chart
        pen.painter.drawLine(QPointF(scene.plot.left(), y), QPointF(scene.plot.right(), y));
        pen.text({ scene.plot.left(), GhostY }, Qt::AlignLeft, QStringLiteral("┄ ") + words, pen.label, Token::Muted);
        return;
    }
    pen.painter.drawLine(QPointF(scene.plot.left(), y), QPointF(begin - 8, y));
    if (end + 8 < scene.plot.right())
        pen.painter.drawLine(QPointF(end + 8, y), QPointF(scene.plot.right(), y));
    pen.text({ begin, y }, Qt::AlignLeft, words, pen.label, Token::Muted);
}

void paintSteps(const BarsPen& pen)
{
    const BarScene& scene = pen.scene;
    const auto& all = scene.model->syncs;
    const auto chosen = slotOf(scene, scene.selected);
    const double bottom = scene.plot.bottom();
    const std::int64_t widest = all.empty() ? 0 : all.back().step;
    const double apart = QFontMetricsF(pen.bold).horizontalAdvance(QString::number(widest)) + 18;
    const auto every = static_cast<std::int64_t>(roundDistance(std::max(1.0, apart / scene.cell())));
    double free = 0; // where the last label ends
    for (std::size_t slot = 0; slot < all.size(); ++slot) {
        const double x = pen.center(slot);
        if (all[slot].anchor && scene.cell() >= 3) {
            pen.painter.setPen(Qt::NoPen);
            pen.painter.setBrush(color(Token::Text));
            const QPointF middle(x, bottom + 9);
            const std::array corners = { middle + QPointF(0, -AnchorSide), middle + QPointF(AnchorSide, 0),
                                         middle + QPointF(0, AnchorSide), middle + QPointF(-AnchorSide, 0) };
            pen.painter.drawConvexPolygon(corners.data(), static_cast<int>(corners.size()));
        }
        const bool own = chosen == slot;
        const bool nearChosen = chosen && !own && std::abs(x - pen.center(*chosen)) < apart;
        const bool due = all[slot].step % every == 0 || all.size() <= 4;
        if (!own && (!due || nearChosen || x - apart / 2 < free))
            continue;
        pen.text({ x, bottom + 24 }, Qt::AlignHCenter, QString::number(all[slot].step), own ? pen.bold : pen.label,
                 own ? Token::Text : Token::Muted);
        free = x + apart / 2 - 6;
    }
}

}

double BarScene::cell() const
{
    return model && !model->syncs.empty() ? plot.width() / static_cast<double>(model->syncs.size()) : plot.width();
}

int BarScene::slotAt(double x) const
{
    if (!model || model->syncs.empty() || x < plot.left() || x >= plot.right())
        return -1;
    return std::min(static_cast<int>((x - plot.left()) / cell()), static_cast<int>(model->syncs.size()) - 1);
}

const app::BarView* BarScene::bar(const BarSlot& slot) const
{
    return slot.bar ? &model->view.bars[*slot.bar] : nullptr;
}

bool BarScene::isGhostOff() const { return model->view.ghost && model->view.ghost->ms() / 1e3 > axis.high; }

QRectF barPlot(const QSizeF& size)
{
    return { Left, Top, std::max(1.0, size.width() - Left - BarsRight), std::max(1.0, size.height() - Top - Bottom) };
}

ValueAxis makeBarAxis(const TimelineModel& model, BarUnit unit)
{
    if (unit == BarUnit::Percent) {
        ValueAxis axis;
        axis.high = 100;
        axis.ticks = { 0, 25, 50, 75, 100 };
        return axis;
    }
    std::vector<double> totals;
    for (const BarSlot& slot : model.syncs) {
        if (slot.bar)
            totals.push_back(totalUs(model.view.bars[*slot.bar]) / 1e6);
    }
    if (totals.empty())
        return makeValueAxis(0, 0, true, 6);
    const std::optional<double> cut = outlierCut(totals);
    return makeValueAxis(0, cut.value_or(*std::max_element(totals.begin(), totals.end())), true, 6);
}

/// Bars that end above the chart say how long they are.
void paintCut(const BarsPen& pen)
{
    const BarScene& scene = pen.scene;
    if (scene.unit != BarUnit::Seconds)
        return;
    double free = scene.plot.left();
    for (std::size_t at = 0; at < scene.model->syncs.size(); ++at) {
        const app::BarView* bar = scene.bar(scene.model->syncs[at]);
        if (!bar || totalUs(*bar) / 1e6 <= scene.axis.high * 1.0001)
            continue;
        const QString words = QStringLiteral("↑ ") + durationText(totalUs(*bar) / 1e6);
        const double half = QFontMetricsF(pen.bold).horizontalAdvance(words) / 2 + 3;
        if (pen.center(at) - half < free)
            continue;
        free = pen.center(at) + half;
        pen.text({ pen.center(at), scene.plot.top() - 9 }, Qt::AlignHCenter, words, pen.bold, Token::Text);
    }
}

void paintBars(QPainter& painter, const BarScene& scene)
{
    const BarsPen pen(painter, scene);
    paintColumn(pen, scene.hovered, Token::Selection, 0.5);
    paintColumn(pen, scene.selected, Token::Selection, 1);
    paintGrid(pen);
    painter.save();
    painter.setClipRect(scene.plot.adjusted(0, 0, 0, 1), Qt::IntersectClip);
    paintAll(pen);
    painter.restore();
    paintCut(pen);
    paintGhost(pen);
    paintLongest(pen);
    paintSteps(pen);
}

} // namespace deltascope::desktop
