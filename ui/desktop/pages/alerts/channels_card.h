#pragma once

#include "deltascope/app/alert_sender.h"
#include "widgets/cards.h"

#include <QTimer>

#include <vector>

class QComboBox;

namespace deltascope::desktop {

/// Where alerts go: the desktop, and channels of the user, which can be added, tested and removed. GUI thread.
class ChannelsCard final : public Card {
    Q_OBJECT

public:
    /// `sender` outlives it; null: another process tells, its channels are only shown.
    explicit ChannelsCard(app::AlertSender* sender, QWidget* parent = nullptr);

    /// Of another process.
    void setForeign(const std::vector<app::AlertChannelView>& channels);
    /// Keeps a channel. Errors: Usage, Io.
    Result<void> add(const app::AlertChannel& channel);
    void remove(std::size_t channel);
    QString statusOf(std::size_t channel) const; ///< "2 sent, 1 failed"

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    struct Row {
        QWidget* widget = nullptr;
        QLabel* status = nullptr;
    };
    QWidget* makeDesktopRow();
    void fill();
    void addRow(const app::AlertChannelView& channel);
    void clear();
    void showCounts();
    void showState(std::size_t index, const app::AlertChannelView& channel, std::uint64_t waiting);
    void askForChannel();
    void tellError(const Result<void>& outcome);

    app::AlertSender* m_sender;
    QVBoxLayout* m_rows;
    std::vector<Row> m_shown; ///< in the order of the channels
    QLabel* m_error;
    QTimer m_clock; ///< looks at what became of messages
};

} // namespace deltascope::desktop
