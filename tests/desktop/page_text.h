#pragma once

#include "model_text.h"

#include "pages/page.h"

#include <QAbstractItemView>
#include <QLabel>

#include <string>

namespace deltascope::desktop {

inline QString said(const QWidget& widget)
{
    QString text;
    for (const QLabel* label : widget.findChildren<QLabel*>()) {
        if (label->isVisible())
            text += label->text() + QLatin1Char('\n');
    }
    return text;
}

/// All that a page says: labels, lists and what it exports.
inline std::string textOf(Page& page)
{
    QString text = QString::fromUtf8(page.exportText()) + said(page);
    for (const QAbstractItemView* view : page.findChildren<QAbstractItemView*>()) {
        if (view->isVisible() && view->model())
            text += modelText(*view->model());
    }
    return text.toStdString();
}

} // namespace deltascope::desktop
