#include "help/page_help.h"

#include "actions/action_registry.h"
#include "help/help_text.h"
#include "look/look.h"
#include "pages/pages.h"
#include "widgets/cards.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int Width = 560;
constexpr int KeyWidth = 150;

QString titleOf(const QString& page)
{
    const auto info =
        std::find_if(pageInfos().begin(), pageInfos().end(), [&](const PageInfo& one) { return one.id == page; });
    return info == pageInfos().end() ? PageHelp::tr("Welcome") : info->title;
}

/// Acts that move in a page or change how it is seen.
bool isOfPages(const ActionSpec& spec)
{
    static const QStringList Groups { QStringLiteral("step."), QStringLiteral("cursor."), QStringLiteral("row."),
                                      QStringLiteral("view."), QStringLiteral("run.") };
    return std::any_of(Groups.begin(), Groups.end(), [&](const QString& group) { return spec.id.startsWith(group); });
}

void addKeys(QGridLayout& rows, const QString& keys, const QString& what)
{
    const int row = rows.rowCount();
    auto* text = makeLabel(what, "body");
    text->setWordWrap(true);
    rows.addWidget(makeLabel(keys, "mono"), row, 0, Qt::AlignTop);
    rows.addWidget(text, row, 1);
}

}

PageHelp::PageHelp(const QString& page, ActionRegistry& actions, QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(tr("Help: %1").arg(titleOf(page)));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(Width, 620);
    if (parent)
        addActions(parent->actions());
    const HelpText help = helpText(page);
    auto* shows = makeLabel(help.shows, "body");
    shows->setWordWrap(true);
    auto* list = new QWidget;
    auto* rows = new QGridLayout(list);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setHorizontalSpacing(16);
    rows->setVerticalSpacing(6);
    rows->setColumnMinimumWidth(0, KeyWidth);
    rows->setColumnStretch(1, 1);
    for (const auto& [keys, what] : help.keys)
        addKeys(*rows, keys, what);
    for (const ActionSpec& spec : actions.specs()) {
        const QKeySequence keys = actions.shortcutOf(spec.id);
        if (!keys.isEmpty() && isOfPages(spec) && actions.isEnabled(spec.id))
            addKeys(*rows, keys.toString(QKeySequence::NativeText), spec.text);
    }
    rows->setRowStretch(rows->rowCount(), 1);
    auto* scroll = new QScrollArea;
    scroll->setAccessibleName(tr("Keys"));
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(list);
    auto* close = new QDialogButtonBox;
    close->addButton(makeButton(tr("Close")), QDialogButtonBox::RejectRole);
    connect(close, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(20, 18, 20, 16);
    all->setSpacing(12);
    all->addWidget(makeLabel(titleOf(page), "sheet"));
    all->addWidget(shows);
    all->addWidget(makeLabel(tr("Keys"), "title"));
    all->addWidget(scroll, 1);
    all->addWidget(close);
}

} // namespace deltascope::desktop
