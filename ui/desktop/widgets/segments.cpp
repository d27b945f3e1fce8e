#include "widgets/segments.h"

#include "widgets/cards.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>

namespace deltascope::desktop {

Segments::Segments(const QString& accessibleName, const QStringList& choices, QWidget* parent)
    : QWidget(parent)
    , m_group(new QButtonGroup(this))
{
    setAccessibleName(accessibleName);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    for (int i = 0; i < choices.size(); ++i) {
        QPushButton* button = makeButton(choices[i]);
        button->setCheckable(true);
        button->setAutoDefault(false);
        button->setChecked(i == 0);
        button->setAccessibleName(QStringLiteral("%1: %2").arg(accessibleName, choices[i]));
        m_group->addButton(button, i);
        // Tab comes to the choice that holds, as in a group of radio buttons.
        const auto takeFocus = [button](bool holds) {
            button->setFocusPolicy(holds ? Qt::StrongFocus : Qt::ClickFocus);
        };
        connect(button, &QPushButton::toggled, this, takeFocus);
        takeFocus(i == 0);
        row->addWidget(button);
    }
    connect(m_group, &QButtonGroup::idClicked, this, &Segments::chosenByUser);
}

int Segments::chosen() const { return m_group->checkedId(); }

void Segments::choose(int index)
{
    if (QAbstractButton* button = m_group->button(index))
        button->setChecked(true);
}

} // namespace deltascope::desktop
