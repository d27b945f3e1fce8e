#include "pages/heatmap/heat_tools.h"

#include "heat/heat_scale.h"
#include "heat/scale_tools.h"
#include "look/icon.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStyle>

namespace deltascope::desktop {

namespace {

constexpr int RoomForLabels = 940; ///< pixels
constexpr int RoomForValue = 1080;

}

HeatTools::HeatTools(QWidget* parent)
    : QWidget(parent)
    , m_valueLabel(makeLabel(tr("Value"), "muted"))
    , m_value(makeLabel(tr("changed share"), "body"))
    , m_scale(new ScaleTools)
    , m_rowsLabel(makeLabel(tr("Rows"), "muted"))
    , m_rows(new QComboBox)
    , m_filter(new QLineEdit)
{
    m_rows->setAccessibleName(tr("Order of the rows"));
    m_rows->addItem(tr("by layer, model order"), static_cast<int>(RowSort::Model));
    m_rows->addItem(tr("by total change"), static_cast<int>(RowSort::Total));
    m_rows->addItem(tr("by last change"), static_cast<int>(RowSort::Last));
    m_rows->addItem(tr("by name"), static_cast<int>(RowSort::Name));
    m_filter->setAccessibleName(tr("Filter tensors"));
    m_filter->setPlaceholderText(tr("mlp, /attn.*v/, changed>1%"));
    m_filter->addAction(icon(QStringLiteral("filter")), QLineEdit::LeadingPosition);
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(260);
    m_filter->setMinimumWidth(100);
    setFilterError({});
    connect(m_rows, &QComboBox::activated, this, &HeatTools::optionsChanged);
    connect(m_filter, &QLineEdit::textChanged, this, &HeatTools::optionsChanged);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 8, 12, 8);
    row->setSpacing(8);
    row->addWidget(m_valueLabel);
    row->addWidget(m_value);
    row->addSpacing(4);
    row->addWidget(m_scale);
    row->addWidget(m_rowsLabel);
    row->addWidget(m_rows);
    row->addWidget(makePools());
    row->addStretch(1);
    row->addWidget(m_filter, 2);
}

QWidget* HeatTools::makePools()
{
    auto* pools = new QWidget;
    pools->setAccessibleName(tr("Where cells are merged"));
    auto* row = new QHBoxLayout(pools);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    auto* group = new QButtonGroup(this);
    for (const auto& [pool, text, tip] :
         { std::tuple { app::HeatPool::Max, tr("max"), tr("Merged cells show the highest share") },
           std::tuple { app::HeatPool::Mean, tr("mean"), tr("Merged cells show the mean, weighted by elements") } }) {
        QPushButton* button = makeButton(text);
        button->setCheckable(true);
        button->setToolTip(tip);
        button->setChecked(HeatScale::shared().pool() == pool);
        connect(button, &QPushButton::clicked, this, [pool = pool] { HeatScale::shared().setPool(pool); });
        connect(&HeatScale::shared(), &HeatScale::changed, button,
                [button, pool = pool] { button->setChecked(HeatScale::shared().pool() == pool); });
        group->addButton(button);
        row->addWidget(button);
    }
    return pools;
}

RowOptions HeatTools::options() const
{
    return { static_cast<RowSort>(m_rows->currentData().toInt()), m_filter->text().trimmed() };
}

void HeatTools::setOptions(const RowOptions& options)
{
    const QSignalBlocker quietRows(m_rows);
    const QSignalBlocker quietFilter(m_filter);
    m_rows->setCurrentIndex(m_rows->findData(static_cast<int>(options.sort)));
    if (m_filter->text().trimmed() != options.filter)
        m_filter->setText(options.filter);
}

void HeatTools::setFilterError(const QString& error)
{
    m_filter->setProperty("state", error.isEmpty() ? QVariant() : QStringLiteral("invalid"));
    m_filter->setToolTip(error.isEmpty() ? tr("Words, /expression/, changed>1%, dtype:bf16; all have to hold")
                                         : QStringLiteral("✕ ") + error);
    repolish(m_filter);
}

void HeatTools::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_scale->setLabelsVisible(width() >= RoomForLabels);
    m_rowsLabel->setVisible(width() >= RoomForLabels);
    m_valueLabel->setVisible(width() >= RoomForValue);
    m_value->setVisible(width() >= RoomForValue);
}

} // namespace deltascope::desktop
