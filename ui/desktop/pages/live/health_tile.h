#pragma once

#include "deltascope/app/view/health_view.h"

#include <QFrame>

class QBoxLayout;
class QLabel;
class QPushButton;

namespace deltascope::desktop {

/// The first tile of a run: what can be relied on, and what can be done about what cannot. GUI thread.
class HealthTile final : public QFrame {
    Q_OBJECT

public:
    explicit HealthTile(QWidget* parent = nullptr);
    void setHealth(const app::HealthView& health, int epoch); ///< without a state: hides
    void setMayAct(bool may); ///< whether the run can be written
    const app::HealthView& health() const { return m_health; }
    QString text() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

signals:
    void stepWanted(int epoch, std::int64_t step);
    void verifyWanted(int epoch, std::int64_t step);
    void materializeWanted(int epoch, std::int64_t step);
    void rollBackWanted(int epoch, std::int64_t step);

private:
    app::HealthView m_health;
    int m_epoch = 0;
    bool m_mayAct = true;
    QBoxLayout* m_all; ///< words and acts
    QLabel* m_headline;
    QLabel* m_restorable;
    QLabel* m_remedy;
    QWidget* m_acts;
    QPushButton* m_materialize;
    QPushButton* m_rollBack;
};

} // namespace deltascope::desktop
