#include "widgets/kpi_tile.h"

#include "look/icon.h"
#include "look/look.h"

#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>

namespace deltascope::desktop {

namespace {

constexpr int Side = 12;
constexpr int Top = 8;
constexpr int MarkSide = 10;
constexpr int IconSide = 14;

QFont unitFont() { return typeFont(Type::Section); }

QFont strongLabel()
{
    QFont font = typeFont(Type::Label);
    font.setWeight(QFont::DemiBold);
    return font;
}

}

KpiTile::KpiTile(QWidget* parent)
    : QAbstractButton(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setAttribute(Qt::WA_Hover);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void KpiTile::setContent(Content content)
{
    if (content == m_content)
        return;
    m_content = std::move(content);
    setAccessibleName(spoken());
    update();
}

QString KpiTile::spoken() const
{
    QString text = QStringLiteral("%1 %2").arg(m_content.label, m_content.value.text());
    if (!m_content.badge.text.isEmpty())
        text += QStringLiteral(", ") + m_content.badge.text;
    QString context;
    for (const Run& run : m_content.context)
        context += run.text;
    return context.isEmpty() ? text : QStringLiteral("%1, %2").arg(text, context);
}

QSize KpiTile::sizeHint() const { return { 167, minimumSizeHint().height() }; }

QSize KpiTile::minimumSizeHint() const
{
    const int label = QFontMetrics(typeFont(Type::Label)).height();
    return { 96, std::max(84, 2 * Top + 2 * label + QFontMetrics(typeFont(Type::Kpi)).height()) };
}

void KpiTile::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool framed = hasFocus();
    const Token frame = m_content.bad ? Token::Error : underMouse() ? Token::StrongBorder : Token::Border;
    painter.setBrush(color(isDown() ? Token::Pressed : Token::Raised));
    painter.setPen(QPen(color(framed ? Token::Accent : frame), framed ? 2 : 1));
    const double inset = framed ? 1 : 0.5;
    painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), 6, 6);

    const int right = width() - Side;
    const auto draw = [&](int x, int baseline, const QString& text, const QFont& font, Token token) {
        const QFontMetrics metrics(font);
        const QString shown = metrics.elidedText(text, Qt::ElideRight, std::max(0, right - x));
        painter.setFont(font);
        painter.setPen(color(token));
        painter.drawText(x, baseline, shown);
        return x + metrics.horizontalAdvance(shown);
    };
    const QFont label = typeFont(Type::Label);
    const QFontMetrics labelMetrics(label);
    int x = Side;
    int baseline = Top + labelMetrics.ascent();
    if (m_content.paused) {
        painter.fillRect(x, baseline - MarkSide + 1, MarkSide, MarkSide, color(Token::Pause));
        x += MarkSide + 6;
    }
    x = draw(x, baseline, m_content.label, label, Token::Muted);
    if (!m_content.badge.text.isEmpty())
        draw(x + 8, baseline, m_content.badge.text, m_content.badge.strong ? strongLabel() : label,
             m_content.badge.token);

    const int unitRoom =
        m_content.value.unit.isEmpty() ? 0 : 5 + QFontMetrics(unitFont()).horizontalAdvance(m_content.value.unit);
    QFont value = typeFont(Type::Kpi);
    if (QFontMetrics(value).horizontalAdvance(m_content.value.value) + unitRoom > right - Side)
        value = typeFont(Type::PageNumber); // a number is never cut
    const int bottom = height() - Top - labelMetrics.descent();
    const int middle = (Top + labelMetrics.height() + bottom - labelMetrics.ascent()) / 2;
    const QFontMetrics valueMetrics(value);
    baseline = middle + valueMetrics.capHeight() / 2;
    x = draw(Side - 1, baseline, m_content.value.value, value, Token::Text);
    if (!m_content.value.unit.isEmpty())
        draw(x + 5, baseline, m_content.value.unit, unitFont(), Token::Muted);

    x = Side;
    if (!m_content.icon.isEmpty()) {
        painter.drawPixmap(x, bottom - IconSide + 3,
                           iconPixmap(m_content.icon, color(Token::Accent), IconSide, devicePixelRatioF()));
        x += IconSide + 5;
    }
    bool first = true;
    for (const Run& run : m_content.context) {
        const QFont font = run.strong ? strongLabel() : label;
        if (!first && x + QFontMetrics(font).horizontalAdvance(run.text) > right + Side / 2)
            break; // half a number is worse than none
        x = draw(x, bottom, run.text, font, run.strong ? Token::Text : run.token);
        first = run.text.isEmpty() && first;
    }
}

void KpiTile::enterEvent(QEnterEvent* event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void KpiTile::leaveEvent(QEvent* event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

void KpiTile::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        click();
    else
        QAbstractButton::keyPressEvent(event);
}

} // namespace deltascope::desktop
