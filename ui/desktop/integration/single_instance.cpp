#include "integration/single_instance.h"

#include <QCryptographicHash>
#include <QDataStream>
#include <QLocalServer>
#include <QLocalSocket>
#include <QStandardPaths>

namespace deltascope::desktop {

namespace {

constexpr int ConnectMs = 300;
constexpr int AnswerMs = 2000;
constexpr qint64 MostBytes = 64 * 1024;

}

SingleInstance::SingleInstance(QObject* parent)
    : QObject(parent)
    , m_server(new QLocalServer(this))
{
    // Installations with a configuration of their own do not know each other.
    const QByteArray home = qgetenv("DELTASCOPE_HOME") + '\n' + qgetenv("XDG_CONFIG_HOME") + '\n' + qgetenv("HOME");
    const QString key =
        QString::fromLatin1(QCryptographicHash::hash(home, QCryptographicHash::Sha256).toHex().left(16));
    m_name = QStandardPaths::writableLocation(QStandardPaths::RuntimeLocation) + QStringLiteral("/deltascope-desktop-")
        + key;
    m_server->setSocketOptions(QLocalServer::UserAccessOption);
    connect(m_server, &QLocalServer::newConnection, this, [this] {
        QLocalSocket* caller = m_server->nextPendingConnection();
        connect(caller, &QLocalSocket::disconnected, caller, &QObject::deleteLater);
        connect(caller, &QLocalSocket::readyRead, this, [this, caller] {
            if (caller->bytesAvailable() > MostBytes)
                return caller->abort();
            QDataStream stream(caller);
            stream.startTransaction();
            QStringList words;
            stream >> words;
            if (!stream.commitTransaction())
                return;
            caller->write("ok");
            caller->flush();
            emit called(words);
        });
    });
}

bool SingleInstance::handOver(const QStringList& words)
{
    QLocalSocket socket;
    socket.connectToServer(m_name);
    if (!socket.waitForConnected(ConnectMs))
        return false;
    QByteArray bytes;
    QDataStream stream(&bytes, QIODevice::WriteOnly);
    stream << words;
    socket.write(bytes);
    return socket.waitForBytesWritten(AnswerMs) && socket.waitForReadyRead(AnswerMs) && socket.readAll() == "ok";
}

bool SingleInstance::listen()
{
    QLocalSocket socket;
    socket.connectToServer(m_name);
    if (socket.waitForConnected(ConnectMs))
        return false;
    QLocalServer::removeServer(m_name); // left behind by a crash: nobody answered
    return m_server->listen(m_name);
}

} // namespace deltascope::desktop
