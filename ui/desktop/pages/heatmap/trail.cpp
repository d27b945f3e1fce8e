#include "pages/heatmap/trail.h"

#include "look/format.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QPushButton>

namespace deltascope::desktop {

Trail::Trail(const QString& top, QWidget* parent)
    : QFrame(parent)
    , m_tensorLink(makeButton({}, {}, "link"))
    , m_tensor(makeLabel({}, "title"))
    , m_arrow(makeLabel(QStringLiteral("›"), "muted"))
    , m_elements(makeLabel({}, "title"))
{
    setAccessibleName(tr("Inside of the heatmap"));
    QPushButton* up = makeButton(top, {}, "link");
    up->setToolTip(tr("One level up (Backspace)"));
    connect(up, &QPushButton::clicked, this, &Trail::topWanted);
    connect(m_tensorLink, &QPushButton::clicked, this, &Trail::tensorWanted);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 6, 12, 6);
    row->setSpacing(6);
    row->addWidget(up);
    row->addWidget(makeLabel(QStringLiteral("›"), "muted"));
    row->addWidget(m_tensorLink);
    row->addWidget(m_tensor);
    row->addWidget(m_arrow);
    row->addWidget(m_elements);
    row->addStretch(1);
}

void Trail::setPlace(const QString& tensor, const QString& elements)
{
    const bool inside = !elements.isEmpty();
    m_tensor->setText(shortened(tensor, 90));
    m_tensorLink->setText(shortened(tensor, 90));
    m_tensor->setVisible(!inside);
    m_tensorLink->setVisible(inside);
    m_arrow->setVisible(inside);
    m_elements->setVisible(inside);
    m_elements->setText(elements);
}

} // namespace deltascope::desktop
