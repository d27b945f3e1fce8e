#include "window/connect_dialog.h"

#include "bridge/background.h"
#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int ConnectDialogWidth = 560;
constexpr int MostServers = 10;
const QString ServersKey = QStringLiteral("servers/recent");

void rememberServer(const QString& url)
{
    QStringList servers = ConnectDialog::knownServers();
    servers.removeAll(url);
    servers.prepend(url);
    QSettings().setValue(ServersKey, QStringList(servers.mid(0, MostServers)));
}

}

QStringList ConnectDialog::knownServers() { return QSettings().value(ServersKey).toStringList(); }

ConnectDialog::ConnectDialog(Connected connected, QWidget* parent)
    : QDialog(parent)
    , m_connected(std::move(connected))
    , m_address(new QComboBox)
    , m_secret(new QLineEdit)
    , m_found(makeLabel({}, "body"))
    , m_connect(makeButton(tr("Connect"), {}, "primary"))
{
    setObjectName(QStringLiteral("connect"));
    setWindowTitle(tr("Connect to a server"));
    setModal(true);
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumWidth(ConnectDialogWidth);
    m_address->setEditable(true);
    m_address->setInsertPolicy(QComboBox::NoInsert);
    m_address->addItems(knownServers());
    m_address->setAccessibleName(tr("Address of the server"));
    m_address->lineEdit()->setAccessibleName(m_address->accessibleName());
    m_address->lineEdit()->setPlaceholderText(tr("what deltascope serve printed, or HOST:PORT"));
    m_secret->setEchoMode(QLineEdit::Password);
    m_secret->setAccessibleName(tr("Code or token"));
    m_secret->setPlaceholderText(tr("the printed one-time code, or a token"));
    auto* form = new QFormLayout;
    form->setSpacing(10);
    form->addRow(tr("Address"), m_address);
    form->addRow(tr("Code or token"), m_secret);
    m_found->setWordWrap(true);
    m_found->setAlignment(Qt::AlignTop);
    m_found->setMinimumHeight(60);
    auto* about = makeLabel(tr("The address is remembered, the code or token is not."), "muted");
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(20, 18, 20, 16);
    all->setSpacing(12);
    all->addWidget(makeLabel(windowTitle(), "sheet"));
    all->addLayout(form);
    all->addWidget(about);
    all->addWidget(m_found);
    auto* buttons = new QHBoxLayout;
    auto* cancel = makeButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_connect, &QPushButton::clicked, this, &ConnectDialog::connectNow);
    m_connect->setDefault(true);
    buttons->addStretch(1);
    buttons->addWidget(cancel);
    buttons->addWidget(m_connect);
    all->addLayout(buttons);
    connect(m_address, &QComboBox::editTextChanged, this, &ConnectDialog::look);
    connect(m_secret, &QLineEdit::textChanged, this, &ConnectDialog::look);
    look();
}

void ConnectDialog::setAddress(const QString& address) { m_address->setEditText(address); }
void ConnectDialog::setSecret(const QString& secret) { m_secret->setText(secret); }

void ConnectDialog::look()
{
    const QString text = m_address->currentText().trimmed();
    const Result<app::ServerAddress> address = app::ServerAddress::parse(text.toStdString());
    if (address && !address->code.empty()) { // a secret does not stay where it can be read
        m_secret->setText(QString::fromStdString(address->code));
        return setAddress(QString::fromStdString(address->url));
    }
    m_connect->setEnabled(!m_busy && address.has_value());
    if (address && address->exposed)
        say(tr("⚑ Neither encrypted nor on this machine: who is on the way can read along and act in your name. An SSH "
               "tunnel or https keeps that out."),
            "body");
    else
        say(text.isEmpty() || address ? QString() : safeName(address.error().text), "muted");
}

void ConnectDialog::connectNow()
{
    Result<app::ServerAddress> address = app::ServerAddress::parse(m_address->currentText().toStdString());
    if (!address || m_busy)
        return;
    setBusy(true);
    say(tr("Connecting to %1…").arg(safeName(address->host)), "muted");
    inBackground(
        this,
        [address = std::move(*address), secret = m_secret->text().trimmed().toStdString()] {
            return app::RemoteServer::connect(address, secret);
        },
        [this](Outcome outcome) { takeOutcome(std::move(outcome)); });
}

void ConnectDialog::connectIfSafe()
{
    const Result<app::ServerAddress> address = app::ServerAddress::parse(m_address->currentText().toStdString());
    if (address && !address->exposed && !m_secret->text().isEmpty())
        connectNow();
    else
        m_secret->setFocus();
}

void ConnectDialog::takeOutcome(Outcome outcome)
{
    setBusy(false);
    if (!outcome) {
        const Error& error = outcome.error();
        QString text = QStringLiteral("✕ %1").arg(safeName(error.text));
        if (!error.remedyText().empty())
            text += QStringLiteral("\n") + safeName(std::string(error.remedyText()));
        QLineEdit* const wrong = error.code == Code::Auth ? m_secret : m_address->lineEdit();
        wrong->setFocus();
        wrong->selectAll();
        return say(text, "error");
    }
    rememberServer(QString::fromStdString((*outcome)->address().url));
    m_connected(std::move(*outcome)); // its window first: the program ends with the last one
    accept();
}

void ConnectDialog::say(const QString& text, const char* role)
{
    m_found->setText(text);
    setRole(m_found, role);
}

void ConnectDialog::setBusy(bool busy)
{
    m_busy = busy;
    m_address->setEnabled(!busy);
    m_secret->setEnabled(!busy);
    m_connect->setEnabled(!busy);
}

} // namespace deltascope::desktop
