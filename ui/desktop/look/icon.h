#pragma once

#include "look/tokens.h"

#include <QIcon>
#include <QString>

namespace deltascope::desktop {

/// One of resources/icons in the color of the text around it: follows the theme, gray where the widget is disabled.
/// GUI thread.
QIcon icon(const QString& name);
/// In one color of the theme.
QIcon icon(const QString& name, Token token);
QPixmap iconPixmap(const QString& name, const QColor& color, int side, qreal ratio);

} // namespace deltascope::desktop
