#pragma once

#include "spawned.h"

#include <QCoreApplication>
#include <QDBusConnection>
#include <QDBusConnectionInterface>
#include <QDBusContext>
#include <QDBusUnixFileDescriptor>
#include <QVariantMap>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

namespace deltascope::desktop {

/// A message bus of its own, with nobody on it.
class PrivateBus {
public:
    PrivateBus()
        : m_daemon({ "dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address" }) // package dbus
        , m_address(QString::fromStdString(m_daemon.readLine()))
    {
        EXPECT_FALSE(m_address.isEmpty());
    }
    ~PrivateBus()
    {
        for (const QString& name : m_names)
            QDBusConnection::disconnectFromBus(name);
    }
    /// A new member of the bus.
    QDBusConnection member()
    {
        m_names.append(QStringLiteral("member%1").arg(s_members++));
        QDBusConnection connection = QDBusConnection::connectToBus(m_address, m_names.back());
        EXPECT_TRUE(connection.isConnected()) << connection.lastError().message().toStdString();
        return connection;
    }

private:
    Spawned m_daemon;
    QString m_address;
    QStringList m_names;
    static inline int s_members = 0;
};

/// Shows no notification but remembers all.
class NotificationServer final : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")

public:
    struct Shown {
        uint id = 0;
        uint replaces = 0;
        QString title;
        QString text;
        QStringList actions;
        QVariantMap hints;
    };

    explicit NotificationServer(QDBusConnection bus)
        : m_bus(std::move(bus))
    {
        EXPECT_TRUE(m_bus.registerObject(QStringLiteral("/org/freedesktop/Notifications"), this,
                                         QDBusConnection::ExportAllSlots | QDBusConnection::ExportAllSignals));
        EXPECT_TRUE(m_bus.registerService(QStringLiteral("org.freedesktop.Notifications")));
    }
    std::vector<Shown> shown;

public slots:
    uint Notify(const QString&, uint replaces, const QString&, const QString& title, const QString& text,
                const QStringList& actions, const QVariantMap& hints, int)
    {
        const uint id = replaces > 0 ? replaces : ++m_last;
        shown.push_back({ id, replaces, title, text, actions, hints });
        return id;
    }

signals:
    void ActionInvoked(uint id, const QString& key);
    void NotificationClosed(uint id, uint reason);

private:
    QDBusConnection m_bus;
    uint m_last = 0;
};

/// Stands for logind, which runs only where a system does: hands out pipes as inhibitor locks.
class SleepManager final : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.login1.Manager")

public:
    explicit SleepManager(QDBusConnection bus)
        : m_bus(std::move(bus))
    {
        EXPECT_TRUE(
            m_bus.registerObject(QStringLiteral("/org/freedesktop/login1"), this, QDBusConnection::ExportAllSlots));
        EXPECT_TRUE(m_bus.registerService(QStringLiteral("org.freedesktop.login1")));
    }
    ~SleepManager() override { ::close(m_readEnd); }
    QString asked;
    /// Whether somebody still holds the lock.
    bool isHeld() const
    {
        char byte = 0;
        return m_readEnd >= 0 && ::read(m_readEnd, &byte, 1) < 0; // at the end of the file once it is let go
    }

public slots:
    QDBusUnixFileDescriptor Inhibit(const QString& what, const QString& who, const QString& why, const QString& mode)
    {
        asked = QStringList { what, who, why, mode }.join(QLatin1Char('|'));
        int ends[2] = {};
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        m_readEnd = ends[0];
        QDBusUnixFileDescriptor lock(ends[1]);
        ::close(ends[1]);
        return lock;
    }

private:
    QDBusConnection m_bus;
    int m_readEnd = -1;
};

} // namespace deltascope::desktop
