#pragma once

#include <QWidget>

class QComboBox;
class QLabel;
class QToolButton;

namespace deltascope::desktop {

/// Which shares get which colors: window, lock and map of HeatScale::shared(). GUI thread.
class ScaleTools final : public QWidget {
    Q_OBJECT

public:
    explicit ScaleTools(QWidget* parent = nullptr);
    void setLabelsVisible(bool visible); ///< where there is no room the controls stand alone

private:
    void show();

    QLabel* m_windowLabel;
    QComboBox* m_window;
    QToolButton* m_lock;
    QLabel* m_mapLabel;
    QComboBox* m_map;
};

} // namespace deltascope::desktop
