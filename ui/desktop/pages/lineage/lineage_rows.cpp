#include "pages/lineage/lineage_rows.h"

#include "look/format.h"
#include "look/look.h"
#include "look/shield.h"
#include "look/tokens.h"
#include "pages/lineage/chain_painter.h"
#include "pages/lineage/lineage_text.h"
#include "widgets/flat_list.h"

#include <QHeaderView>
#include <QPainter>

namespace deltascope::desktop {

namespace {

using Column = LineageModel::Column;

constexpr int Padding = FlatList::CellPadding;
constexpr int ShieldSide = 16;
constexpr int TriangleSide = 8;
constexpr int FoldIndent = 28; ///< of the text behind the triangle, from the end of the chain column

void paintTriangle(QPainter& painter, const QRect& place, bool open)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color(Token::Muted), 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF c = QRectF(place).center();
    const double s = TriangleSide / 2.0;
    if (open)
        painter.drawPolyline(QPolygonF { c + QPointF(-s, -s / 2), c + QPointF(0, s / 2), c + QPointF(s, -s / 2) });
    else
        painter.drawPolyline(QPolygonF { c + QPointF(-s / 2, -s), c + QPointF(s / 2, 0), c + QPointF(-s / 2, s) });
    painter.restore();
}

}

struct LineageRows::Pen {
    QPainter& painter;
    const QRect& line;
    const QHeaderView& header;
    TextCache& texts;
    bool muted = false; ///< of a branch that was overwritten

    QRect cell(Column column) const
    {
        return { header.sectionViewportPosition(column), line.top(), header.sectionSize(column), line.height() };
    }
    QRect text(Column column) const
    {
        return cell(column).adjusted(Padding, 0, column == LineageModel::Restore ? -FlatList::EdgePadding : -Padding,
                                     0);
    }
    /// Returns the width that was used.
    int write(const QRect& room, const QString& what, const QFont& font, Token ink,
              Qt::Alignment align = Qt::AlignLeft) const
    {
        if (what.isEmpty() || room.width() <= 0)
            return 0;
        painter.setPen(color(muted && ink == Token::Text ? Token::Muted : ink));
        return texts.draw(painter, room, what, font, align);
    }
    int number(Column column, const QString& what, const QFont& font, Token ink) const
    {
        return write(text(column), what, font, ink, Qt::AlignRight);
    }
};

LineageRows::LineageRows() { lookChanged(); }

void LineageRows::lookChanged()
{
    m_plain = typeFont(Type::Table);
    m_strong = typeFont(Type::TableTitle);
    m_label = typeFont(Type::Label);
    m_texts.clear();
}

QRect LineageRows::triangle(const QRect& line, const QHeaderView& header)
{
    const int x = header.sectionViewportPosition(LineageModel::Step) + Padding;
    return { x - 6, line.top(), TriangleSide + 12, line.height() };
}

void LineageRows::paint(QPainter& painter, const Line& line, const LineageModel& model, const QHeaderView& header,
                        const ShownPath& hovered) const
{
    const LineagePicture& picture = *model.picture();
    const LineageItem& item = model.item(line.at);
    const bool isB = item.kind == LineageItem::Kind::Row && model.b() == item.row;
    const Token ground = line.selected || isB ? Token::Selection : line.underMouse ? Token::Window : Token::Surface;
    painter.fillRect(line.rect, color(ground));
    painter.setPen(color(Token::Grid));
    painter.drawLine(line.rect.bottomLeft(), line.rect.bottomRight());
    painter.setBackground(color(ground));

    Pen pen { painter, line.rect, header, m_texts };
    paintChain(painter, pen.cell(LineageModel::Chain), model, line.at, hovered);
    if (item.kind == LineageItem::Kind::Row) {
        paintRow(pen, picture, item);
        if (model.a() == item.row) {
            const QRect room = pen.cell(LineageModel::Step).adjusted(Padding, 0, 0, 0);
            pen.write(room, QStringLiteral("A"), m_strong, Token::Accent);
        } else if (picture.chains()[item.chain].from == item.row && LineageFolding::canFold(picture, item.chain)) {
            paintTriangle(painter, triangle(line.rect, header), true);
        }
    } else if (item.kind == LineageItem::Kind::Fold) {
        paintTriangle(painter, triangle(line.rect, header), false);
        paintFold(pen, picture, item);
    } else {
        paintRestart(pen, picture, item);
    }
    if (line.focused) {
        painter.setPen(QPen(color(Token::Accent), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(line.rect.adjusted(1, 1, -1, -2));
    }
}

void LineageRows::paintRow(Pen& pen, const LineagePicture& picture, const LineageItem& item) const
{
    const app::LineageRowView& row = picture.rows()[item.row];
    const app::StepView& step = *row.step;
    const auto text = [&](Column column) { return lineageText(picture, item, column); };
    pen.muted = isLost(row);
    pen.number(LineageModel::Step, text(LineageModel::Step), m_strong, Token::Text);
    const bool bad = isBroken(row) || isHole(step);
    pen.write(pen.text(LineageModel::Kind), text(LineageModel::Kind), m_plain, bad ? Token::Error : Token::Text);
    pen.number(LineageModel::Age, text(LineageModel::Age), m_plain, Token::Muted);
    pen.number(LineageModel::Changed, text(LineageModel::Changed), m_plain,
               step.changedFraction ? Token::Text : Token::Muted);
    pen.number(LineageModel::Bytes, text(LineageModel::Bytes), isAnchor(step) ? m_strong : m_plain, Token::Text);
    if (!isHole(step)) {
        const QRect room = pen.text(LineageModel::Verified);
        const QPixmap shield = shieldPixmap(row.verified, ShieldSide, pen.painter.device()->devicePixelRatioF());
        pen.painter.drawPixmap(room.left(), room.center().y() - ShieldSide / 2 + 1, shield);
        const QRect behind = room.adjusted(ShieldSide + 6, 0, 0, 0);
        if (const std::optional<std::uint64_t>& differs = picture.remark(item.row).differs) {
            const QString words = LineageModel::tr("%1 differ").arg(countText(differs));
            if (QFontMetrics(m_plain, pen.painter.device()).horizontalAdvance(words) <= behind.width())
                pen.write(behind, words, m_plain, *differs == 0 ? Token::Muted : Token::Text);
        }
    }
    paintNames(pen, picture, item.row);
    const QString restore = text(LineageModel::Restore);
    pen.number(LineageModel::Restore, restore, m_plain, bad ? Token::Text : Token::Muted);
}

void LineageRows::paintNames(Pen& pen, const LineagePicture& picture, std::size_t at) const
{
    const app::LineageRowView& row = picture.rows()[at];
    QRect room = pen.text(LineageModel::Refs);
    QPainter& painter = pen.painter;
    for (const std::string& ref : row.refs) {
        const QString name = shortened(safeName(ref), 40);
        const QFontMetrics measure(m_label, painter.device());
        const int width = measure.horizontalAdvance(name) + 14;
        if (width > room.width())
            break;
        const QRect frame(room.left(), room.center().y() - 9, width, 18);
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(color(Token::Accent));
        painter.drawRoundedRect(QRectF(frame).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
        painter.restore();
        pen.write(frame, name, m_label, Token::Accent, Qt::AlignHCenter);
        room.setLeft(frame.right() + 9);
    }
    const QString restores = restoredText(row);
    room.setLeft(room.left() + pen.write(room, restores, m_plain, Token::Text) + (restores.isEmpty() ? 0 : 9));
    const QString problem = problemText(row);
    const app::ProblemView* const worst = app::gravest(row.step->problems);
    const Token ink = worst && app::isNotice(*worst) ? Token::Muted : Token::Error;
    room.setLeft(room.left() + pen.write(room, problem, m_plain, ink) + (problem.isEmpty() ? 0 : 9));
    pen.write(room, remarkText(picture, at), m_plain,
              picture.remark(at).note.isEmpty() && picture.remark(at).alert.isEmpty() ? Token::Muted : Token::Text);
}

void LineageRows::paintFold(Pen& pen, const LineagePicture& picture, const LineageItem& item) const
{
    const LineageChain& chain = picture.chains()[item.chain];
    pen.muted = isLost(picture.rows()[chain.from]);
    QRect room = pen.cell(LineageModel::Step);
    room.setRight(pen.text(LineageModel::Changed).right());
    room.setLeft(room.left() + FoldIndent);
    const QString steps = foldedSteps(picture, chain);
    room.setLeft(room.left() + pen.write(room, steps, m_strong, Token::Text) + 8);
    pen.write(room, foldedWhat(picture, chain), m_plain, Token::Muted);
    pen.number(LineageModel::Bytes, bytesText(chain.bytes), m_plain, Token::Muted);
    QRect checked = pen.text(LineageModel::Verified);
    checked.setRight(pen.text(LineageModel::Refs).right());
    const int used = pen.write(checked, checkedText(chain), m_plain, Token::Muted);
    const int alerts = std::max(checked.left() + used + 24, pen.text(LineageModel::Refs).left() + 96);
    checked.setLeft(alerts);
    pen.write(checked, alertsText(picture, chain), m_plain, Token::Text);
}

void LineageRows::paintRestart(Pen& pen, const LineagePicture& picture, const LineageItem& item) const
{
    QRect room = pen.line;
    room.setLeft(pen.cell(LineageModel::Step).left() + Padding);
    room.setLeft(room.left() + pen.write(room, restartWhat(picture, item), m_strong, Token::Text));
    pen.write(room, restartWhen(picture, item), m_plain, Token::Muted);
}

} // namespace deltascope::desktop
