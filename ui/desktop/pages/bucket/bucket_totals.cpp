#include "pages/bucket/bucket_totals.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>

namespace deltascope::desktop {

namespace {

constexpr int WidthForShare = 760;

}

/// Anchors, deltas and the rest in one bar.
class BucketTotals::Share final : public QWidget {
public:
    Share()
    {
        setFixedHeight(12);
        setMinimumWidth(60);
        setMaximumWidth(280);
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    }
    void setShares(double anchors, double deltas)
    {
        m_anchors = anchors;
        m_deltas = deltas;
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.fillRect(rect(), color(Token::Sunken));
        QColor light = color(Token::Accent);
        light.setAlphaF(0.4F);
        const double anchors = m_anchors * width();
        const double deltas = m_deltas * width();
        painter.fillRect(QRectF(0, 0, anchors, height()), light);
        painter.fillRect(QRectF(anchors, 0, deltas, height()), color(Token::Accent));
    }

private:
    double m_anchors = 0;
    double m_deltas = 0;
};

BucketTotals::BucketTotals(QWidget* parent)
    : QWidget(parent)
    , m_text(makeLabel({}, "body"))
    , m_anchors(makeLabel({}, "muted"))
    , m_share(new Share)
    , m_deltas(makeLabel({}, "muted"))
{
    setRole(this, "chrome");
    setAttribute(Qt::WA_StyledBackground);
    for (QLabel* label : { m_text, m_anchors, m_deltas })
        label->setFont(typeFont(Type::Table));
    m_text->setToolTip(tr("Of the whole source, as it was last listed"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 8, 16, 8);
    row->setSpacing(10);
    row->addWidget(m_text);
    row->addStretch(1);
    row->addWidget(m_anchors);
    row->addWidget(m_share, 2);
    row->addWidget(m_deltas);
}

void BucketTotals::showTotals(const app::ListingTotals& totals)
{
    const std::uint64_t all = totals.anchorBytes + totals.deltaBytes + totals.otherBytes;
    const auto part = [](std::uint64_t count, const QString& words, std::uint64_t bytes) {
        return QStringLiteral("%1 %2  %3").arg(exactText(count), words, bytesText(bytes));
    };
    m_text->setText(QStringList {
        part(totals.deltas, totals.deltas == 1 ? tr("delta object") : tr("delta objects"), totals.deltaBytes),
        part(totals.anchors, totals.anchors == 1 ? tr("anchor object") : tr("anchor objects"), totals.anchorBytes),
        part(totals.other, tr("other"), totals.otherBytes) }
                        .join(QStringLiteral("   ·   ")));
    const double anchors = all == 0 ? 0 : static_cast<double>(totals.anchorBytes) / static_cast<double>(all);
    const double deltas = all == 0 ? 0 : static_cast<double>(totals.deltaBytes) / static_cast<double>(all);
    m_empty = all == 0;
    showShare();
    m_anchors->setText(tr("anchors %1").arg(percentText(anchors)));
    m_deltas->setText(tr("deltas %1").arg(percentText(deltas)));
    m_share->setShares(anchors, deltas);
    m_share->setAccessibleName(tr("Anchors %1, deltas %2 of all bytes").arg(percentText(anchors), percentText(deltas)));
}

/// The bar is the first to go where there is no room.
void BucketTotals::showShare()
{
    const bool shown = !m_empty && width() >= WidthForShare;
    m_anchors->setVisible(shown);
    m_share->setVisible(shown);
    m_deltas->setVisible(shown);
}

void BucketTotals::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    showShare();
}

} // namespace deltascope::desktop
