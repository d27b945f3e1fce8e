#pragma once

#include <QDialog>

class QAbstractItemView;

namespace deltascope::desktop {

class Canvas;

/// What a canvas shows, as a real table with the same selection; copies as tab-separated text.
class TableTwin final : public QDialog {
    Q_OBJECT

public:
    /// Closes itself when the canvas goes.
    TableTwin(Canvas& canvas, QWidget* parent);
};

/// The selected cells of a view, or all of a model, as tab-separated text with headers.
QString asTabSeparated(const QAbstractItemView& view);

} // namespace deltascope::desktop
