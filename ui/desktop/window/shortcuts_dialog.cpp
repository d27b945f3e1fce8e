#include "window/shortcuts_dialog.h"

#include "actions/action_registry.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/table_header.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace deltascope::desktop {

ShortcutsDialog::ShortcutsDialog(ActionRegistry& actions, QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(tr("Shortcuts"));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(560, 640);
    auto* filter = new QLineEdit;
    filter->setPlaceholderText(tr("Filter"));
    filter->setAccessibleName(tr("Filter"));
    auto* list = new QTreeWidget;
    list->setAccessibleName(windowTitle());
    TableHeader::give(*list);
    list->setHeaderLabels({ tr("act"), tr("keys") });
    list->setRootIsDecorated(false);
    list->setUniformRowHeights(true);
    list->header()->setStretchLastSection(false);
    list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    for (const ActionSpec& spec : actions.specs()) {
        const QKeySequence keys = actions.shortcutOf(spec.id);
        auto* item =
            new QTreeWidgetItem({ spec.menu.isEmpty() ? spec.text : QStringLiteral("%1: %2").arg(spec.menu, spec.text),
                                  keys.toString(QKeySequence::NativeText) });
        item->setData(0, Qt::UserRole, spec.id);
        list->addTopLevelItem(item);
    }
    auto* keys = new QKeySequenceEdit;
    keys->setAccessibleName(tr("New keys of the selected act"));
    auto* bind = makeButton(tr("Bind"));
    bind->setEnabled(false);
    connect(list, &QTreeWidget::currentItemChanged, this, [&actions, keys, bind](const QTreeWidgetItem* item) {
        bind->setEnabled(item != nullptr);
        if (item)
            keys->setKeySequence(actions.shortcutOf(item->data(0, Qt::UserRole).toString()));
    });
    connect(bind, &QPushButton::clicked, this, [&actions, list, keys] {
        QTreeWidgetItem* item = list->currentItem();
        actions.rebind(item->data(0, Qt::UserRole).toString(), keys->keySequence());
        item->setText(1, keys->keySequence().toString(QKeySequence::NativeText));
    });
    connect(filter, &QLineEdit::textChanged, list, [list](const QString& text) {
        for (int i = 0; i < list->topLevelItemCount(); ++i) {
            QTreeWidgetItem* item = list->topLevelItem(i);
            item->setHidden(!item->text(0).contains(text, Qt::CaseInsensitive)
                            && !item->text(1).contains(text, Qt::CaseInsensitive));
        }
    });
    auto* plain = new QCheckBox(tr("Single keys act while a picture or a list has the focus"));
    plain->setChecked(actions.plainKeys());
    connect(plain, &QCheckBox::toggled, &actions, &ActionRegistry::setPlainKeys);
    auto* row = new QHBoxLayout;
    row->addWidget(keys, 1);
    row->addWidget(bind);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(20, 18, 20, 16);
    all->addWidget(makeLabel(windowTitle(), "sheet"));
    all->addWidget(filter);
    all->addWidget(list, 1);
    all->addLayout(row);
    all->addWidget(plain);
}

} // namespace deltascope::desktop
