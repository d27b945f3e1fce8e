#include "pages/alerts/channel_dialog.h"

#include "look/format.h"
#include "pages/alerts/alert_model.h"
#include "widgets/cards.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int Width = 480;

}

ChannelDialog::ChannelDialog(QWidget* parent)
    : QDialog(parent)
    , m_kind(new QComboBox)
    , m_address(new QLineEdit)
    , m_addressName(makeLabel({}, "muted"))
    , m_level(new QComboBox)
    , m_secret(new QLineEdit)
    , m_secretName(makeLabel(tr("Key"), "muted"))
    , m_error(makeLabel({}, "error"))
{
    setWindowTitle(tr("Add a channel"));
    setAttribute(Qt::WA_DeleteOnClose);
    resize(Width, 0);
    m_kind->addItems({ tr("Webhook"), QStringLiteral("Slack"), QStringLiteral("Discord"), tr("Command") });
    m_kind->setAccessibleName(tr("Kind"));
    for (const app::AlertLevel level : { app::AlertLevel::Info, app::AlertLevel::Warn, app::AlertLevel::Error })
        m_level->addItem(alertLevelText(level));
    m_level->setCurrentIndex(static_cast<int>(app::AlertLevel::Warn));
    m_level->setAccessibleName(tr("Lowest level"));
    m_secret->setAccessibleName(tr("Key of the signature"));
    m_secret->setEchoMode(QLineEdit::Password);
    m_secret->setPlaceholderText(tr("none: messages are not signed"));
    m_error->setWordWrap(true);
    m_error->hide();
    auto* form = new QFormLayout;
    form->setVerticalSpacing(8);
    form->addRow(makeLabel(tr("Kind"), "muted"), m_kind);
    form->addRow(m_addressName, m_address);
    form->addRow(makeLabel(tr("From level"), "muted"), m_level);
    form->addRow(m_secretName, m_secret);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    buttons->addButton(makeButton(tr("Add"), {}, "primary"), QDialogButtonBox::AcceptRole);
    connect(buttons, &QDialogButtonBox::accepted, this, &ChannelDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &ChannelDialog::reject);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(20, 18, 20, 16);
    all->setSpacing(12);
    all->addWidget(makeLabel(windowTitle(), "sheet"));
    all->addLayout(form);
    all->addWidget(m_error);
    all->addWidget(buttons);
    connect(m_kind, &QComboBox::currentIndexChanged, this, &ChannelDialog::showKind);
    showKind();
    m_address->setFocus();
}

void ChannelDialog::setKind(app::ChannelKind kind) { m_kind->setCurrentIndex(static_cast<int>(kind)); }

void ChannelDialog::showKind()
{
    const auto kind = static_cast<app::ChannelKind>(m_kind->currentIndex());
    const bool command = kind == app::ChannelKind::Command;
    m_addressName->setText(command ? tr("Program") : tr("URL"));
    m_address->setAccessibleName(m_addressName->text());
    m_address->setPlaceholderText(command ? tr("/usr/local/bin/page-me, gets the message on standard input")
                                          : tr("https://…, a secret: kept in a file that only you can read"));
    m_secret->setVisible(kind == app::ChannelKind::Webhook);
    m_secretName->setVisible(kind == app::ChannelKind::Webhook);
}

void ChannelDialog::accept()
{
    static const char* const Kinds[] = { "webhook", "slack", "discord", "command" };
    const QString address = m_address->text().trimmed();
    QString line = QString::fromStdString(word(static_cast<app::AlertLevel>(m_level->currentIndex()))) + QChar(u' ')
        + address + QStringLiteral(" kind=") + QString::fromLatin1(Kinds[m_kind->currentIndex()]);
    if (!m_secret->isHidden() && !m_secret->text().isEmpty())
        line += QStringLiteral(" secret=") + m_secret->text();
    const Result<app::AlertChannel> channel = app::parseChannel(line.toStdString());
    m_error->setVisible(!channel);
    if (!channel) {
        m_error->setText(m_kind->currentIndex() == static_cast<int>(app::ChannelKind::Command)
                             ? tr("✕ This needs the whole path of a program, without spaces.")
                             : tr("✕ This needs an address that begins with https:// or http://, without spaces."));
        return m_address->setFocus();
    }
    emit chosen(*channel);
    QDialog::accept();
}

} // namespace deltascope::desktop
