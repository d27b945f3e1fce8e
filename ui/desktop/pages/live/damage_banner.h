#pragma once

#include "pages/live/damage.h"

#include <QFrame>

class QBoxLayout;
class QLabel;
class QPushButton;

namespace deltascope::desktop {

/// Says which step is damaged, why, and what can be done about it. GUI thread.
class DamageBanner final : public QFrame {
    Q_OBJECT

public:
    explicit DamageBanner(QWidget* parent = nullptr);
    void setDamage(std::optional<Damage> damage); ///< nothing: hides
    QString text() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

signals:
    void stepWanted(int epoch, std::int64_t step);
    void verifyWanted(int epoch, std::int64_t step);
    void materializeWanted(int epoch, std::int64_t step);

private:
    std::optional<Damage> m_damage;
    QBoxLayout* m_all; ///< words and acts
    QLabel* m_headline;
    QLabel* m_what;
    QLabel* m_why;
    QPushButton* m_verify;
    QPushButton* m_materialize;
};

} // namespace deltascope::desktop
