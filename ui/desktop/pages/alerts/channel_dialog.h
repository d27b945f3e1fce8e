#pragma once

#include "deltascope/app/alert_channel.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;

namespace deltascope::desktop {

/// Asks where messages should go, and of which level. GUI thread.
class ChannelDialog final : public QDialog {
    Q_OBJECT

public:
    explicit ChannelDialog(QWidget* parent = nullptr);

    void setKind(app::ChannelKind kind);
    QLineEdit* address() { return m_address; }
    void accept() override; ///< stays open, and says why, if what was typed is no channel

signals:
    void chosen(const deltascope::app::AlertChannel& channel);

private:
    void showKind();

    QComboBox* m_kind;
    QLineEdit* m_address;
    QLabel* m_addressName;
    QComboBox* m_level;
    QLineEdit* m_secret;
    QLabel* m_secretName;
    QLabel* m_error;
};

} // namespace deltascope::desktop
