#pragma once

#include "heat/heat_rows.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace deltascope::desktop {

class ScaleTools;

/// The bar above the heatmap: colors, order of rows, how cells are merged, filter. GUI thread.
class HeatTools final : public QWidget {
    Q_OBJECT

public:
    explicit HeatTools(QWidget* parent = nullptr);

    RowOptions options() const;
    void setOptions(const RowOptions& options); ///< without a signal
    void setFilterError(const QString& error); ///< empty: understood
    QLineEdit* filter() { return m_filter; }

signals:
    void optionsChanged(); ///< by the user

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makePools();

    QLabel* m_valueLabel;
    QLabel* m_value;
    ScaleTools* m_scale;
    QLabel* m_rowsLabel;
    QComboBox* m_rows;
    QLineEdit* m_filter;
};

} // namespace deltascope::desktop
