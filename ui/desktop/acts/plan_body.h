#pragma once

#include "deltascope/app/view/task_view.h"

#include <QWidget>

class QFormLayout;
class QLabel;

namespace deltascope::desktop {

class TextTable;

/// What an act would do: its facts, the tensors that it changes, and every object that it reads, writes or deletes.
/// GUI thread.
class PlanBody final : public QWidget {
    Q_OBJECT

public:
    explicit PlanBody(QWidget* parent = nullptr);

    void showPlan(const app::PlanView& plan);
    void clear();

private:
    void showFacts(const std::vector<app::PlanFactView>& facts);
    void showChanges(const std::vector<app::ChangedTensorView>& changes);
    void showObjects(const app::ActPlanView& act);
    void showSteps(const app::PlanView& plan);

    QWidget* m_facts;
    QFormLayout* m_factRows;
    QLabel* m_changesTitle;
    TextTable* m_changes;
    QLabel* m_objectsTitle;
    TextTable* m_objects;
    QLabel* m_steps;
    QLabel* m_room;
    QLabel* m_unknown;
};

} // namespace deltascope::desktop
