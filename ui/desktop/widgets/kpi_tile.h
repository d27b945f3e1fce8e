#pragma once

#include "look/format.h"
#include "look/tokens.h"

#include <QAbstractButton>

#include <vector>

namespace deltascope::desktop {

/// One number with its label and a line of context. A click, Enter or Space asks for the page it comes from. GUI
/// thread.
class KpiTile final : public QAbstractButton {
    Q_OBJECT

public:
    /// A stretch of text of one look.
    struct Run {
        QString text;
        bool strong = false;
        Token token = Token::Muted;

        bool operator==(const Run&) const = default;
    };
    struct Content {
        QString label;
        Run badge; ///< behind the label
        Quantity value;
        std::vector<Run> context; ///< parts that find no room are left out from the right; say them in the tooltip
        bool paused = false; ///< a mark in the color of pauses before the label
        QString icon; ///< before the context; empty: none
        bool bad = false; ///< framed as an error

        bool operator==(const Content&) const = default;
    };

    explicit KpiTile(QWidget* parent = nullptr);
    void setContent(Content content);
    const Content& content() const { return m_content; }
    /// Label, value and context as one sentence.
    QString spoken() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    Content m_content;
};

} // namespace deltascope::desktop
