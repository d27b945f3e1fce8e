#include "window/table_twin.h"

#include "canvas/canvas.h"
#include "look/look.h"
#include "widgets/table_header.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

TableTwin::TableTwin(Canvas& canvas, QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(tr("%1, as a table").arg(canvas.accessibleName()));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(900, 560);
    if (parent)
        addActions(parent->actions());
    auto* view = new QTableView;
    TableHeader::give(*view);
    view->setModel(canvas.table());
    view->setAccessibleName(windowTitle());
    view->verticalHeader()->setDefaultSectionSize(metrics().row);
    view->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view->setCurrentIndex(canvas.currentCell());
    view->scrollTo(canvas.currentCell());
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(view);
    connect(view->selectionModel(), &QItemSelectionModel::currentChanged, &canvas,
            [&canvas](const QModelIndex& cell) { canvas.setCurrentCell(cell); });
    connect(&canvas, &QObject::destroyed, this, &QDialog::close);
    auto* copy = new QShortcut(QKeySequence::Copy, view);
    connect(copy, &QShortcut::activated, view, [view] { QApplication::clipboard()->setText(asTabSeparated(*view)); });
}

QString asTabSeparated(const QAbstractItemView& view)
{
    const QAbstractItemModel& model = *view.model();
    QModelIndexList cells = view.selectionModel()->selectedIndexes();
    std::sort(cells.begin(), cells.end());
    QString text;
    int row = -1;
    for (const QModelIndex& cell : std::as_const(cells)) {
        if (cell.row() != row)
            text += (row < 0 ? QString() : QStringLiteral("\n"))
                + (view.inherits("QTableView")
                       ? model.headerData(cell.row(), Qt::Vertical).toString() + QLatin1Char('\t')
                       : QString());
        else
            text += QLatin1Char('\t');
        row = cell.row();
        text += cell.data().toString();
    }
    return text;
}

} // namespace deltascope::desktop
