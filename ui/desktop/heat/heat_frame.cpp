#include "heat/heat_frame.h"

#include "look/format.h"
#include "look/look.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

QString frameText(const char* text) { return QCoreApplication::translate("Heatmap", text); }

/// Restores a painter.
class Saved {
public:
    explicit Saved(QPainter& painter)
        : m_painter(painter)
    {
        m_painter.save();
    }
    ~Saved() { m_painter.restore(); }
    Saved(const Saved&) = delete;
    Saved& operator=(const Saved&) = delete;

private:
    QPainter& m_painter;
};

QFont labelFont(QFont::Weight weight = QFont::Medium)
{
    QFont font = typeFont(Type::Label);
    font.setWeight(weight);
    return font;
}

void chevron(QPainter& painter, double x, double y, bool open)
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color(Token::Muted), 1.4));
    const QPointF down[] = { { x - 3.5, y - 2 }, { x, y + 2 }, { x + 3.5, y - 2 } };
    const QPointF right[] = { { x - 2, y - 3.5 }, { x + 2, y }, { x - 2, y + 3.5 } };
    painter.drawPolyline(open ? down : right, 3);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

/// "–" of unit-less bars: "0 – 1.3 %".
void swatch(QPainter& painter, const QRect& box, const QString& name, bool zero)
{
    if (zero)
        painter.fillRect(box, color(Token::ZeroCell));
    else
        paintUnknown(painter, box);
    painter.setPen(color(Token::OtherSeries));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    painter.setPen(color(Token::Muted));
    painter.drawText(QRect(box.right() + 7, box.y() - 4, 200, box.height() + 8), Qt::AlignLeft | Qt::AlignVCenter,
                     name);
}

void tag(QPainter& painter, const QRect& box, double middle, const QString& text, bool filled)
{
    painter.setFont(labelFont(QFont::DemiBold));
    const int wide = std::max(40, painter.fontMetrics().horizontalAdvance(text) + 12);
    const double left =
        std::clamp(middle - wide / 2.0, box.left() - 2.0, std::max(box.left() - 2.0, box.right() + 3.0 - wide));
    const QRect rect(qRound(left), box.y() + 1, wide, box.height() - 2);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(filled ? Qt::NoPen : QPen(color(Token::Text), 1));
    painter.setBrush(filled ? color(Token::Text) : color(Token::Surface));
    painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(filled ? color(Token::Surface) : color(Token::Text));
    painter.drawText(rect, Qt::AlignCenter, text);
}

}

void paintTree(QPainter& painter, const QRect& box, const HeatModel& model)
{
    if (model.isEmpty())
        return;
    const Saved saved(painter);
    painter.setClipRect(box, Qt::IntersectClip);
    const QFont plain = labelFont();
    const QFont strong = labelFont(QFont::DemiBold);
    const int room = QFontMetrics(plain).height() - 2; // names may come closer than lines of text
    int free = INT_MIN; // bottom of the last name
    const auto& tops = model.tops();
    for (int at = std::max(0, model.firstSeenRow()); at < model.endOfSeenRows(); ++at) {
        const auto place = static_cast<std::size_t>(at);
        const ViewRow& row = model.rows()[place];
        const int height = tops[place + 1] - tops[place];
        const int middle = box.y() + tops[place] - model.scroll() + height / 2;
        const bool current = model.cursor() && model.cursor()->row == at;
        if (current)
            painter.fillRect(QRect(box.x(), middle - std::max(height, room) / 2, box.width(), std::max(height, room)),
                             color(Token::Selection));
        if (middle - room / 2 < free && !current)
            continue;
        free = middle + room / 2;
        const int x = box.x() + 14 + row.depth * 8;
        if (row.isGroup())
            chevron(painter, x, middle, row.kind == ViewRow::Kind::Head);
        painter.setFont(row.kind == ViewRow::Kind::Head || current ? strong : plain);
        painter.setPen(row.kind == ViewRow::Kind::Band && !current ? color(Token::Muted) : color(Token::Text));
        const int left = x + 12;
        const int width = box.right() - 8 - left;
        const QString name = painter.fontMetrics().elidedText(model.labelOf(row), Qt::ElideLeft, width);
        painter.drawText(QRect(left, middle - room, width, 2 * room), Qt::AlignLeft | Qt::AlignVCenter, name);
    }
}

void paintSteps(QPainter& painter, const QRect& box, const HeatModel& model, const HeatMarks& marks)
{
    if (model.isEmpty())
        return;
    const Saved saved(painter);
    const Axis& axis = model.axis();
    const HeatPlan& plan = *model.plan();
    painter.setFont(labelFont());
    const QFontMetrics metrics = painter.fontMetrics();
    const auto middleOf = [&](int column) { return box.x() + axis.toPixel(column + 0.5); };
    const auto inView = [&](int column) {
        return column >= 0 && middleOf(column) >= box.left() - 1 && middleOf(column) <= box.right() + 1;
    };
    const long long every = tickStep(axis.cell, 80);
    const int end = std::min(plan.columns, static_cast<int>(std::ceil(axis.first + axis.seen())));
    const QString word = frameText("step");
    painter.setPen(color(Token::Muted));
    bool first = true;
    double free = -1e9; // right end of the last label
    for (int at = std::max(0, static_cast<int>(axis.first)); at < end; ++at) {
        const std::int64_t step = plan.column(at).step;
        if (step % every != 0)
            continue;
        const QString text = first ? word + QLatin1Char(' ') + QString::number(step) : QString::number(step);
        const double half = metrics.horizontalAdvance(text) / 2.0;
        const double middle = std::max(middleOf(at), box.left() + half);
        const bool hidden = (inView(marks.b) && std::abs(middle - middleOf(marks.b)) < half + 24)
            || (inView(marks.a) && std::abs(middle - middleOf(marks.a)) < half + 32);
        if (hidden || middle + half > box.right() + 8 || middle - half < free)
            continue;
        painter.drawText(QRectF(middle - half - 4, box.y(), 2 * half + 8, box.height()), Qt::AlignCenter, text);
        free = middle + half + 10;
        first = false;
    }
    if (inView(marks.a))
        tag(painter, box, middleOf(marks.a), QStringLiteral("A %1").arg(plan.column(marks.a).step), false);
    if (inView(marks.b))
        tag(painter, box, middleOf(marks.b), QString::number(plan.column(marks.b).step), true);
}

void paintGutter(QPainter& painter, const QRect& box, const HeatModel& model)
{
    if (model.isEmpty())
        return;
    const Saved saved(painter);
    const HeatPlan& plan = *model.plan();
    const auto& tops = model.tops();
    const int from = std::max(0, model.firstSeenRow());
    const int end = model.endOfSeenRows();
    const auto shareOf = [&](int at) {
        const ViewRow& row = model.rows()[static_cast<std::size_t>(at)];
        return plan.meanShareOf(row.first, row.count);
    };
    double most = 0;
    for (int at = from; at < end; ++at)
        most = std::max(most, shareOf(at));
    painter.setFont(labelFont());
    painter.setPen(color(Token::Muted));
    painter.drawText(QRect(box.x(), box.y() - 40, 200, 38), Qt::AlignLeft | Qt::AlignBottom,
                     most > 0                     ? frameText("mean, 0 – %1").arg(shareText(most))
                         : plan.knownColumns == 0 ? frameText("mean unknown")
                                                  : frameText("mean, 0"));
    if (most <= 0)
        return;
    painter.setClipRect(box, Qt::IntersectClip);
    for (int at = from; at < end; ++at) {
        const int top = box.y() + tops[static_cast<std::size_t>(at)] - model.scroll();
        const int height = tops[static_cast<std::size_t>(at) + 1] - tops[static_cast<std::size_t>(at)];
        const int bar = std::clamp(height - 2, 1, 6);
        const int length = qRound(shareOf(at) / most * box.width());
        painter.fillRect(box.x(), top + (height - bar) / 2, length, bar, color(Token::OtherSeries));
    }
}

void paintLegend(QPainter& painter, const QRect& bar, const HeatColors& colors)
{
    const Saved saved(painter);
    const int length = bar.height();
    for (int i = 0; i < length; ++i)
        painter.fillRect(bar.x(), bar.bottom() - i, bar.width(), 1,
                         QColor::fromRgb(colorAt(colors.map, i / static_cast<double>(std::max(1, length - 1)))));
    painter.setFont(labelFont());
    painter.setPen(color(Token::Text));
    const int text = painter.fontMetrics().height();
    const double decades = std::log10(colors.window.high / colors.window.low);
    const auto label = [&](double share, const QString& words) {
        const double at = std::log10(share / colors.window.low) / decades * (length - 1);
        const double y = std::clamp(bar.bottom() - at, bar.top() + 4.0, bar.bottom() - 4.0);
        painter.drawText(QRectF(bar.right() + 6, y - text, 120, 2 * text), Qt::AlignLeft | Qt::AlignVCenter, words);
    };
    for (int power = -6; power <= 0; ++power) {
        for (const double times : { 1.0, 3.0 }) {
            const double share = times * std::pow(10.0, power);
            if (share < colors.window.low * 0.999 || share > colors.window.high * 1.001)
                continue;
            if (times > 1 && length / decades < 3 * text)
                continue;
            label(share, shareText(share));
        }
    }
    const int side = 12;
    swatch(painter, QRect(bar.x(), bar.bottom() + 12, side, side), frameText("zero"), true);
    swatch(painter, QRect(bar.x(), bar.bottom() + 12 + std::max(18, text + 2), side, side), frameText("unknown"),
           false);
}

void paintStatus(QPainter& painter, const QRect& box, const CellText& text)
{
    const Saved saved(painter);
    painter.fillRect(QRect(box.x(), box.y(), box.width(), 1), color(Token::Border));
    painter.fillRect(QRect(box.x(), box.bottom(), box.width(), 1), color(Token::Border));
    QFont plain = typeFont(Type::Table);
    QFont strong = plain;
    strong.setWeight(QFont::DemiBold);
    int x = box.x() + 12;
    const int end = box.right() - 12;
    const auto add = [&](const QString& words, bool bold, Token token, int gap, int most = INT_MAX) {
        if (words.isEmpty() || x >= end)
            return;
        painter.setFont(bold ? strong : plain);
        painter.setPen(color(token));
        const QString cut = painter.fontMetrics().elidedText(words, Qt::ElideMiddle, std::min(most, end - x));
        const int wide = painter.fontMetrics().horizontalAdvance(cut);
        painter.drawText(QRect(x, box.y(), wide + 2, box.height()), Qt::AlignLeft | Qt::AlignVCenter, cut);
        x += wide + gap;
    };
    add(text.name, true, Token::Text, 20, box.width() / 2);
    add(text.step, false, Token::Text, 20);
    add(text.share, true, Token::Text, text.counts.isEmpty() ? 20 : 8);
    add(text.counts, false, Token::Muted, 20);
    add(text.tensor, false, Token::Muted, 20);
    painter.setFont(plain);
    const int hint = painter.fontMetrics().horizontalAdvance(text.hint);
    if (x + hint < end) {
        painter.setPen(color(Token::Muted));
        painter.drawText(QRect(end - hint - 2, box.y(), hint + 2, box.height()), Qt::AlignRight | Qt::AlignVCenter,
                         text.hint);
    }
}

void paintOverview(QPainter& painter, const QRect& box, const HeatModel& model, const QImage& strip)
{
    if (model.isEmpty())
        return;
    const Saved saved(painter);
    const Axis& axis = model.axis();
    painter.setFont(labelFont());
    painter.setPen(color(Token::Muted));
    painter.drawText(QRect(0, box.y() - 8, box.x() - 8, box.height() + 16), Qt::AlignRight | Qt::AlignVCenter,
                     frameText("whole run, max"));
    paintUnknown(painter, box);
    if (!strip.isNull())
        painter.drawImage(QRectF(box), strip, QRectF(strip.rect()));
    const double scale = box.width() / static_cast<double>(std::max(1, axis.count));
    const double left = box.x() + axis.first * scale;
    const double wide = std::clamp(axis.seen() * scale, 4.0, static_cast<double>(box.width()));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color(Token::Surface), 4));
    painter.drawRect(QRectF(left, box.y() - 1, wide, box.height() + 1));
    painter.setPen(QPen(color(Token::Text), 2));
    painter.drawRect(QRectF(left, box.y() - 1, wide, box.height() + 1));
    painter.setPen(color(Token::Muted));
    const HeatPlan& plan = *model.plan();
    const int last = plan.columns - 1;
    const QFontMetrics metrics = painter.fontMetrics();
    const QString ends[] = { frameText("step %1").arg(plan.column(0).step), QString::number(plan.column(last).step) };
    const QRect below(box.x(), box.bottom() + 3, box.width(), metrics.height() + 2);
    painter.drawText(below, Qt::AlignLeft | Qt::AlignTop, ends[0]);
    if (last == 0)
        return;
    painter.drawText(below, Qt::AlignRight | Qt::AlignTop, ends[1]);
    double free = below.left() + metrics.horizontalAdvance(ends[0]) + 16;
    const double end = below.right() - metrics.horizontalAdvance(ends[1]) - 16;
    const long long every = tickStep(scale, 140);
    for (int at = 0; at < plan.columns; ++at) {
        const std::int64_t step = plan.column(at).step;
        if (step % every != 0)
            continue;
        const QString text = QString::number(step);
        const double half = metrics.horizontalAdvance(text) / 2.0;
        const double x = box.x() + (at + 0.5) * scale;
        if (x - half < free || x + half > end)
            continue;
        painter.drawText(QRectF(x - half - 4, below.y(), 2 * half + 8, below.height()), Qt::AlignHCenter | Qt::AlignTop,
                         text);
        free = x + half + 16;
    }
}

void paintColumnMark(QPainter& painter, const QRect& box, const HeatModel& model, int column, bool dashed)
{
    if (column < 0 || model.isEmpty())
        return;
    const Saved saved(painter);
    painter.setClipRect(box.adjusted(-1, -1, 1, 1), Qt::IntersectClip);
    const double x = model.axis().toPixel(column);
    const double width = std::max(2.0, model.axis().cell);
    QColor line = color(Token::Text);
    line.setAlphaF(0.85F);
    QPen pen(line, 1);
    if (dashed)
        pen.setDashPattern({ 3, 3 });
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    const int height = std::min(box.height(), model.tops().back() - model.scroll());
    painter.drawRect(QRect(box.x() + qRound(x), box.y(), std::max(1, qRound(width) - 1), height - 1));
}

void paintCellCursor(QPainter& painter, const QRect& box, const HeatModel& model)
{
    if (!model.cursor() || model.isEmpty())
        return;
    const Saved saved(painter);
    painter.setClipRect(box.adjusted(-2, -2, 2, 2), Qt::IntersectClip);
    const QRectF cell = model.rectOf(*model.cursor()).translated(box.topLeft());
    QRectF frame(0, 0, std::max(6.0, cell.width()), std::max(6.0, cell.height()));
    frame.moveCenter(cell.center());
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color(Token::Surface), 4));
    painter.drawRect(frame);
    painter.setPen(QPen(color(Token::Text), 2));
    painter.drawRect(frame);
}

} // namespace deltascope::desktop
