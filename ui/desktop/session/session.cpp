#include "session/session.h"

#include "bridge/background.h"
#include "look/format.h"
#include "session/alert_channels.h"

#include <QDir>
#include <QFileInfo>
#include <QSettings>
#include <QStandardPaths>
#include <QUrl>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr std::size_t MostRecents = 20;
const QString RecentsKey = QStringLiteral("sources/recent");

}

Result<std::unique_ptr<Session>> Session::create()
{
    const app::Settings settings = app::Settings::fromEnvironment();
    DS_TRY(std::unique_ptr<app::Service> service, app::Service::create(settings));
    app::MonitorOptions options;
    options.taskFolder = settings.stateFolder + "/tasks";
    options.alertRules = settings.stateFolder + "/alert-rules.json";
    options.anyFolder = true;
    options.outputFolder = QDir::homePath().toStdString() + "/checkpoints";
    std::unique_ptr<app::Monitor> monitor = app::Monitor::create(*service, options);
    return std::unique_ptr<Session>(new Session(std::move(service), std::move(monitor)));
}

Session::Session(std::unique_ptr<app::Service> service, std::unique_ptr<app::Monitor> monitor)
    : m_service(std::move(service))
    , m_monitor(std::move(monitor))
    , m_bridge(std::make_unique<ServiceBridge>(*m_service, *m_monitor))
    , m_demo(std::make_unique<DemoRun>(*m_bridge))
{
    if (Result<std::vector<app::AlertChannel>> channels = savedChannels(); channels && m_monitor->sender())
        m_monitor->sender()->setChannels(std::move(*channels), {});
    connect(m_bridge.get(), &ServiceBridge::runMoved, this, [this](const RunPointer& before, const RunPointer& now) {
        if (now->demo || !now->run || (before && before->run && before->run->latest == now->run->latest))
            return;
        remember({ QString::fromStdString(now->source), QString::fromStdString(now->base),
                   QString::fromStdString(now->name), now->run->latest.value_or(-1), ServiceBridge::nowUs() });
    });
}

std::unique_ptr<Session> Session::of(std::unique_ptr<app::RemoteServer> server)
{
    return std::unique_ptr<Session>(new Session(std::move(server)));
}

Session::Session(std::unique_ptr<app::RemoteServer> server)
    : m_server(std::move(server))
    , m_bridge(std::make_unique<ServiceBridge>(m_server->service(), m_server->monitor(),
                                               QString::fromStdString(m_server->address().host)))
    , m_demo(std::make_unique<DemoRun>(*m_bridge))
{
}

std::unique_ptr<Session> Session::of(std::unique_ptr<app::OpenedBundle> bundle)
{
    return std::unique_ptr<Session>(new Session(std::move(bundle)));
}

Session::Session(std::unique_ptr<app::OpenedBundle> bundle)
    : m_bundle(std::move(bundle))
    , m_bridge(std::make_unique<ServiceBridge>(m_bundle->service(), m_bundle->monitor(),
                                               QFileInfo(QString::fromStdString(m_bundle->about().path)).fileName()))
    , m_demo(std::make_unique<DemoRun>(*m_bridge))
{
}

QString Session::bundleFile(const std::string& source)
{
    const QString text = QString::fromStdString(source);
    const QUrl url(text);
    if (text.contains(QLatin1String("://")) && !url.isLocalFile())
        return {};
    const QFileInfo file(url.isLocalFile() ? url.toLocalFile() : text);
    const bool bundle = file.suffix().compare(QLatin1String("dscope"), Qt::CaseInsensitive) == 0 && !file.isDir();
    return bundle ? file.absoluteFilePath() : QString();
}

void Session::tryAgain()
{
    if (m_server)
        m_server->tryAgain();
}

Session::~Session()
{
    if (m_server)
        m_server->stop(); // nobody waits for its answers any more
    Background::wait(); // they read views and ask the monitor
}

QString Session::openSource(const app::SourceRequest& request)
{
    const QString key = QString::fromStdString(request.source.text());
    if (const QString known = m_idOfSource.value(key); !known.isEmpty())
        return known;
    const QString id = QString::fromStdString(monitor().follow(request, {}, false));
    if (!id.isEmpty())
        m_idOfSource.insert(key, id);
    return id;
}

std::vector<Session::Recent> Session::recents() const
{
    QSettings settings;
    std::vector<Recent> list;
    const int count = settings.beginReadArray(RecentsKey);
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        list.push_back({ settings.value(QStringLiteral("source")).toString(),
                         settings.value(QStringLiteral("base")).toString(),
                         settings.value(QStringLiteral("run")).toString(),
                         settings.value(QStringLiteral("latest"), -1).toLongLong(),
                         settings.value(QStringLiteral("seen")).toLongLong() });
    }
    return list;
}

void Session::remember(const Recent& recent)
{
    std::vector<Recent> list = recents();
    std::erase_if(list, [&](const Recent& old) { return old.source == recent.source; });
    list.insert(list.begin(), recent);
    if (list.size() > MostRecents)
        list.resize(MostRecents);
    QSettings settings;
    settings.beginWriteArray(RecentsKey, static_cast<int>(list.size()));
    for (std::size_t i = 0; i < list.size(); ++i) {
        settings.setArrayIndex(static_cast<int>(i));
        settings.setValue(QStringLiteral("source"), list[i].source);
        settings.setValue(QStringLiteral("base"), list[i].base);
        settings.setValue(QStringLiteral("run"), list[i].run);
        settings.setValue(QStringLiteral("latest"), static_cast<qlonglong>(list[i].latest));
        settings.setValue(QStringLiteral("seen"), static_cast<qlonglong>(list[i].seenUs));
    }
    settings.endArray();
    emit recentsChanged();
}

void Session::forgetRecent(const QString& source)
{
    std::vector<Recent> list = recents();
    QSettings settings;
    settings.remove(RecentsKey);
    std::erase_if(list, [&](const Recent& old) { return old.source == source; });
    for (auto at = list.rbegin(); at != list.rend(); ++at)
        remember(*at);
    emit recentsChanged();
}

} // namespace deltascope::desktop
