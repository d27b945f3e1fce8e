#pragma once

#include "session/session.h"

#include <QDialog>
#include <QTimer>

class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace deltascope::desktop {

/// Asks for a source and shows what it is before it is opened: layout, versions, what is wrong.
class OpenDialog final : public QDialog {
    Q_OBJECT

public:
    OpenDialog(Session& session, const QString& source, QWidget* parent);

signals:
    void chosen(const deltascope::app::SourceRequest& request);

private:
    app::SourceRequest request() const;
    void lookLater();
    void look();
    void showAnswer(const Result<app::JobResult>& answer);
    void browse(QLineEdit* field, const QString& title);

    Session& m_session;
    QLineEdit* m_source;
    QLineEdit* m_base;
    QLineEdit* m_layout;
    QSpinBox* m_depth;
    QLabel* m_found;
    QPushButton* m_open;
    QTimer m_later;
    std::uint64_t m_generation = 0;
};

} // namespace deltascope::desktop
