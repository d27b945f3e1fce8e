#pragma once

#include "pages/page.h"

#include <QString>

class QSplitter;
class QTableView;

namespace deltascope::desktop {

class AlertDetails;
class AlertModel;
class Card;
class ChannelsCard;
class RulesCard;

/// What fires, what did, and the rules. GUI thread.
class AlertsPage final : public Page {
    Q_OBJECT

public:
    AlertsPage(PageContext& context, QWidget* parent = nullptr);

    QLineEdit* filterField() override { return m_filter; }
    QAbstractItemView* mainList() override;
    QString exportName() const override { return QStringLiteral("alerts.tsv"); }
    QByteArray exportText() override;
    std::optional<StepId> stepAtCursor() override; ///< of the selected alert

    /// Shows a rule, its threshold ready to be changed.
    void editRule(const std::string& rule);

    RulesCard& rules() { return *m_rules; }
    ChannelsCard& channels() { return *m_channels; }
    const AlertModel& model() const { return *m_model; }
    QTableView& list() { return *m_list; }
    AlertDetails& details() { return *m_details; }

protected:
    void refresh() override;
    void cursorMoved() override { } // nothing here is about B
    void resizeEvent(QResizeEvent* event) override;

private:
    friend class AlertFilterCommand;
    QWidget* makeHistory();
    void setFilter(const QString& text); ///< without the history
    void showAlerts();
    void showDetails();
    void fitColumns();
    void goTo(const std::string& run, std::int64_t step);

    QSplitter* m_halves;
    RulesCard* m_rules;
    ChannelsCard* m_channels;
    Card* m_history = nullptr;
    QLineEdit* m_filter;
    AlertModel* m_model;
    QTableView* m_list;
    QLabel* m_nothing;
    AlertDetails* m_details;
    QString m_shownFilter;
};

} // namespace deltascope::desktop
