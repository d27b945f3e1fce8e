#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;

namespace deltascope::desktop {

class CommandLine;
class DiffTask;

/// What an exact comparison would read, the button that starts it, and how far it is. GUI thread.
class DiffOffer final : public QWidget {
    Q_OBJECT

public:
    /// `task` outlives it.
    explicit DiffOffer(DiffTask& task, QWidget* parent = nullptr);
    QPushButton* startButton() { return m_start; }
    QString text() const; ///< what is said now

signals:
    void startWanted();

private:
    void show();
    void showProgress();

    DiffTask& m_task;
    QLabel* m_title;
    QLabel* m_text;
    QProgressBar* m_progress;
    QPushButton* m_start;
    QPushButton* m_cancel;
    QPushButton* m_again;
    CommandLine* m_command;
};

} // namespace deltascope::desktop
