#pragma once

#include <QObject>
#include <QStringList>

class QLocalServer;

namespace deltascope::desktop {

/// One process per user and configuration: a second start hands its words to the first one and ends. GUI thread.
class SingleInstance final : public QObject {
    Q_OBJECT

public:
    explicit SingleInstance(QObject* parent = nullptr);

    /// Whether another process took the words.
    bool handOver(const QStringList& words);
    /// Becomes the one to which words are handed over, unless another process is. Whether it did.
    bool listen();

signals:
    void called(const QStringList& words); ///< by a second start; absolute paths

private:
    QString m_name;
    QLocalServer* m_server;
};

} // namespace deltascope::desktop
