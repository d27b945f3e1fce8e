#include "pages/alerts/channels_card.h"

#include "bridge/service_bridge.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/alerts/alert_model.h"
#include "pages/alerts/channel_dialog.h"
#include "session/alert_channels.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int CountMs = 1000;

}

ChannelsCard::ChannelsCard(app::AlertSender* sender, QWidget* parent)
    : Card(tr("Who is told"), parent)
    , m_sender(sender)
    , m_rows(new QVBoxLayout)
    , m_error(makeLabel({}, "error"))
{
    m_rows->setContentsMargins(12, 4, 8, 8);
    m_rows->setSpacing(4);
    m_rows->addWidget(makeDesktopRow());
    m_error->setWordWrap(true);
    m_error->hide();
    m_rows->addWidget(m_error);
    content()->addLayout(m_rows);
    if (m_sender) {
        QPushButton* add = makeButton(tr("Add a channel…"), {}, "small");
        connect(add, &QPushButton::clicked, this, &ChannelsCard::askForChannel);
        header()->addWidget(add);
        fill();
        if (const auto saved = savedChannels(); !saved)
            tellError(fail(saved.error()));
    }
    m_clock.setInterval(CountMs);
    connect(&m_clock, &QTimer::timeout, this, &ChannelsCard::showCounts);
}

QWidget* ChannelsCard::makeDesktopRow()
{
    auto* row = new QWidget;
    auto* level = new QComboBox;
    level->setAccessibleName(tr("Notifications of the desktop"));
    level->addItem(tr("all levels"), static_cast<int>(app::AlertLevel::Info));
    level->addItem(tr("from warn"), static_cast<int>(app::AlertLevel::Warn));
    level->addItem(tr("errors only"), static_cast<int>(app::AlertLevel::Error));
    level->addItem(tr("never"));
    const std::optional<app::AlertLevel> now = desktopLevel();
    level->setCurrentIndex(now ? static_cast<int>(*now) : level->count() - 1);
    connect(level, &QComboBox::activated, this, [level] {
        const QVariant data = level->currentData();
        setDesktopLevel(data.isValid() ? std::optional(static_cast<app::AlertLevel>(data.toInt())) : std::nullopt);
    });
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(8);
    line->addWidget(makeLabel(tr("Desktop"), "body"));
    line->addWidget(makeLabel(tr("notifications of this machine"), "muted"));
    line->addStretch(1);
    line->addWidget(level);
    return row;
}

void ChannelsCard::setForeign(const std::vector<app::AlertChannelView>& channels)
{
    if (m_sender)
        return;
    if (channels.size() != m_shown.size()) {
        clear();
        for (const app::AlertChannelView& channel : channels)
            addRow(channel);
        setNote(tr("set up where the server runs"));
    }
    for (std::size_t i = 0; i < channels.size(); ++i)
        showState(i, channels[i], 0);
}

void ChannelsCard::clear()
{
    for (const Row& row : m_shown)
        row.widget->deleteLater();
    m_shown.clear();
}

void ChannelsCard::fill()
{
    clear();
    for (const app::AlertChannelView& channel : m_sender->channels())
        addRow(channel);
    showCounts();
}

void ChannelsCard::addRow(const app::AlertChannelView& channel)
{
    const std::size_t index = m_shown.size();
    const QString kind = QString::fromStdString(channel.kind);
    const QString name = safeName(channel.name);
    Row row { new QWidget, makeLabel({}, "muted") };
    auto* line = new QHBoxLayout(row.widget);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(8);
    line->addWidget(makeLabel(kind.left(1).toUpper() + kind.mid(1), "body"));
    auto* address = makeLabel(shortened(name, 60), "mono");
    address->setToolTip(name);
    line->addWidget(address);
    line->addWidget(makeLabel(tr("from %1").arg(QString::fromStdString(word(channel.minLevel))), "muted"));
    line->addStretch(1);
    line->addWidget(row.status);
    if (m_sender) {
        QPushButton* test = makeButton(tr("Test"), {}, "small");
        test->setAccessibleName(tr("Send a test to %1").arg(name));
        connect(test, &QPushButton::clicked, this, [this, index] {
            m_sender->test(index, ServiceBridge::nowUs());
            showCounts();
        });
        QPushButton* gone = makeButton(tr("Remove"), {}, "small");
        gone->setAccessibleName(tr("Remove %1").arg(name));
        connect(gone, &QPushButton::clicked, this, [this, index] { remove(index); });
        line->addWidget(test);
        line->addWidget(gone);
    }
    m_rows->insertWidget(m_rows->count() - 1, row.widget);
    m_shown.push_back(row);
}

QString ChannelsCard::statusOf(std::size_t channel) const { return m_shown[channel].status->text(); }

void ChannelsCard::showCounts()
{
    if (!m_sender)
        return;
    const std::vector<app::SentCounts> counts = m_sender->counts();
    const std::vector<app::AlertChannelView> channels = m_sender->channels();
    for (std::size_t i = 0; i < std::min({ counts.size(), channels.size(), m_shown.size() }); ++i)
        showState(i, channels[i], counts[i].waiting);
}

void ChannelsCard::showState(std::size_t index, const app::AlertChannelView& channel, std::uint64_t waiting)
{
    QStringList parts;
    if (waiting > 0)
        parts += tr("sending…");
    if (channel.sent > 0)
        parts += tr("%1 sent").arg(exactText(channel.sent));
    const bool fails = channel.lastArrived == false;
    if (channel.failed > 0)
        parts += (fails ? tr("✕ %1 failed") : tr("%1 failed")).arg(exactText(channel.failed));
    QLabel* status = m_shown[index].status;
    status->setText(parts.join(QStringLiteral(", ")));
    status->setToolTip(channel.lastFailedUs
                           ? tr("failed %1: %2").arg(fullTimeText(*channel.lastFailedUs), safeName(channel.lastFailure))
                           : QString());
    setRole(status, fails ? "error" : "muted");
}

Result<void> ChannelsCard::add(const app::AlertChannel& channel)
{
    DS_TRY(std::vector<app::AlertChannel> channels, savedChannels());
    channels.push_back(channel);
    DS_CHECK(saveChannels(std::move(channels), *m_sender));
    fill();
    return {};
}

void ChannelsCard::remove(std::size_t channel)
{
    Result<std::vector<app::AlertChannel>> channels = savedChannels();
    if (!channels)
        return tellError(fail(channels.error()));
    if (channel < channels->size())
        channels->erase(channels->begin() + static_cast<std::ptrdiff_t>(channel));
    tellError(saveChannels(std::move(*channels), *m_sender));
    fill();
}

void ChannelsCard::tellError(const Result<void>& outcome)
{
    m_error->setVisible(!outcome);
    m_error->setText(outcome ? QString() : QStringLiteral("✕ ") + safeName(outcome.error().text));
}

void ChannelsCard::askForChannel()
{
    auto* dialog = new ChannelDialog(this);
    connect(dialog, &ChannelDialog::chosen, this,
            [this](const app::AlertChannel& channel) { tellError(add(channel)); });
    dialog->open();
}

void ChannelsCard::showEvent(QShowEvent* event)
{
    Card::showEvent(event);
    m_clock.start();
}

void ChannelsCard::hideEvent(QHideEvent* event)
{
    Card::hideEvent(event);
    m_clock.stop();
}

} // namespace deltascope::desktop
