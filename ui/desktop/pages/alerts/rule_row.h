#pragma once

#include "deltascope/app/view/alert_view.h"

#include <QFrame>

class QCheckBox;
class QDoubleSpinBox;
class QLabel;
class QPushButton;

namespace deltascope::desktop {

/// One rule: on or off, its threshold, and when it would have fired. GUI thread.
class RuleRow final : public QFrame {
    Q_OBJECT

public:
    explicit RuleRow(const app::AlertRuleView& rule, QWidget* parent = nullptr);

    void setRule(const app::AlertRuleView& rule);
    const app::AlertRuleView& rule() const { return m_rule; }
    void setTesting(); ///< the back-test goes on
    void setBacktest(const app::BacktestView& view);
    void clearBacktest(); ///< of another run, or by another threshold
    void setError(const QString& text);
    QString resultText() const;
    void edit(); ///< focuses the threshold, or the switch

signals:
    /// `threshold`: nothing keeps the default.
    void changed(const std::string& rule, bool on, std::optional<double> threshold);
    void backtestWanted(const std::string& rule);
    void stepWanted(std::int64_t step);

private:
    void tell();

    app::AlertRuleView m_rule;
    QCheckBox* m_on;
    QDoubleSpinBox* m_threshold;
    QLabel* m_unit;
    QLabel* m_what;
    QLabel* m_level;
    QPushButton* m_test;
    QLabel* m_result;
    QWidget* m_steps; ///< links to what it would have fired at
};

} // namespace deltascope::desktop
