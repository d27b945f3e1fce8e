#include "heat/row_spark.h"

#include "heat/color_map.h"
#include "look/look.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr int BoxMargin = 8; ///< of the box around the line
constexpr int LineHeight = 34;

}

RowSpark makeRowSpark(const HeatModel& model, int row, app::HeatPool pool)
{
    RowSpark spark { row, std::vector<double>(RowSpark::Width, -1.0), 0 };
    const Axis& axis = model.axis();
    const int from = static_cast<int>(axis.first);
    const int to = std::min(model.plan()->columns, static_cast<int>(std::ceil(axis.first + axis.seen())));
    const int lines = model.rows()[static_cast<std::size_t>(row)].lines();
    for (int column = from; column < to; ++column) {
        double& share =
            spark.shares[static_cast<std::size_t>((column - from) * RowSpark::Width / std::max(1, to - from))];
        for (int line = 0; line < lines; ++line) {
            if (const auto code = model.codeAt({ row, line, column }, pool))
                share = std::max(share, app::heatShare(*code));
        }
        spark.most = std::max(spark.most, share);
    }
    return spark;
}

QRect sparkBox(const QRect& gutter, const HeatModel& model, const RowSpark& spark)
{
    const int text = QFontMetrics(typeFont(Type::Label)).height();
    const auto row = static_cast<std::size_t>(spark.row);
    const int middle = gutter.y() + (model.tops()[row] + model.tops()[row + 1]) / 2 - model.scroll();
    QRect box(0, 0, RowSpark::Width + 2 * BoxMargin, LineHeight + text + 2 * BoxMargin);
    box.moveRight(gutter.left() - 6);
    box.moveTop(
        std::clamp(middle - box.height() / 2, gutter.top(), std::max(gutter.top(), gutter.bottom() - box.height())));
    return box;
}

void paintRowSpark(QPainter& painter, const QRect& box, const HeatModel& model, const RowSpark& spark)
{
    painter.save();
    painter.setPen(color(Token::StrongBorder));
    painter.setBrush(color(Token::Raised));
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    painter.setFont(typeFont(Type::Label));
    const int text = painter.fontMetrics().height();
    const QRect words(box.x() + BoxMargin, box.y() + BoxMargin - 2, RowSpark::Width, text);
    const QString most = QCoreApplication::translate("Heatmap", "at most %1").arg(shareText(spark.most));
    painter.setPen(color(Token::Muted));
    painter.drawText(words, Qt::AlignRight | Qt::AlignVCenter, most);
    painter.setPen(color(Token::Text));
    const ViewRow& row = model.rows()[static_cast<std::size_t>(spark.row)];
    painter.drawText(
        words, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(model.labelOf(row), Qt::ElideLeft,
                                         words.width() - painter.fontMetrics().horizontalAdvance(most) - BoxMargin));
    const int bottom = box.bottom() - BoxMargin;
    painter.fillRect(QRect(words.x(), bottom, RowSpark::Width, 1), color(Token::Border));
    for (int x = 0; x < RowSpark::Width && spark.most > 0; ++x) {
        const double share = spark.shares[static_cast<std::size_t>(x)];
        if (share >= 0)
            painter.fillRect(QRect(words.x() + x, bottom - qRound(share / spark.most * LineHeight), 1,
                                   std::max(1, qRound(share / spark.most * LineHeight))),
                             color(Token::Accent));
    }
    painter.restore();
}

} // namespace deltascope::desktop
