#pragma once

#include <QAbstractItemModel>
#include <QString>

namespace deltascope::desktop {

/// All that a list or tree says, to be compared.
inline QString modelText(const QAbstractItemModel& model, const QModelIndex& parent = {})
{
    QString text;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        for (int column = 0; column < model.columnCount(parent); ++column)
            text += model.index(row, column, parent).data().toString() + QLatin1Char('\t');
        text += QLatin1Char('\n') + modelText(model, model.index(row, 0, parent));
    }
    return text;
}

} // namespace deltascope::desktop
