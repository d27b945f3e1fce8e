#pragma once

#include "bridge/calculation.h"
#include "pages/diff/diff_contents.h"
#include "pages/diff/diff_report.h"
#include "pages/diff/diff_task.h"
#include "pages/page.h"

class QPushButton;
class QStackedWidget;

namespace deltascope::desktop {

class DiffChoice;
class DiffOffer;
class DiffResult;
class Segments;

/// What is different between the steps A and B: touched, an upper bound from the counts of the deltas, or different,
/// bit by bit.
class DiffPage final : public Page {
    Q_OBJECT

public:
    explicit DiffPage(PageContext& context, QWidget* parent = nullptr);

    QLineEdit* filterField() override;
    QAbstractItemView* mainList() override;
    QString exportName() const override;
    QByteArray exportText() override;

    enum Mode { Touched, Different };
    void setMode(Mode mode);

    DiffTask& task() { return *m_task; }
    DiffResult& result() { return *m_result; }
    DiffOffer& offer() { return *m_offer; }
    QWidget* shown() const; ///< of the parts of the page
    QString sentence() const { return m_sentence; } ///< what is said in big letters; empty: nothing

protected:
    void refresh() override;
    void runOpened() override;

private:
    struct TouchedAnswer {
        TouchedPointer view; ///< null: see problem
        std::optional<app::ProblemView> problem;
    };

    QWidget* makeHeader();
    QWidget* makeMessage();
    void makeExports();
    void showHeader();
    void showTouched();
    void showDifferent();
    void showResult();
    void say(const QString& title, const QString& text, bool offersExact = false);
    std::optional<DiffPair> wantedPair() const;
    std::optional<DiffReport> report() const;
    void askForFile(const QString& type, QByteArray (DiffReport::*write)() const);

    DiffTask* m_task;
    QWidget* m_header;
    QLabel* m_a;
    QLabel* m_aNote;
    QLabel* m_b;
    QLabel* m_bNote;
    QPushButton* m_swap;
    Segments* m_mode;
    QLabel* m_status;
    QPushButton* m_export;
    QStackedWidget* m_parts;
    DiffChoice* m_choice;
    DiffOffer* m_offer;
    DiffResult* m_result;
    QWidget* m_message;
    QLabel* m_messageTitle;
    QLabel* m_messageText;
    QPushButton* m_exact;
    QString m_sentence;

    std::optional<DiffPair> m_touchedPair; ///< that was asked for
    RunPointer m_touchedRun;
    TouchedAnswer m_touched;
    Calculation<TouchedAnswer> m_calculation;
    Calculation<QString> m_saving; ///< what went wrong, or nothing
};

} // namespace deltascope::desktop
