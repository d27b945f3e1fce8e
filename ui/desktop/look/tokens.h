#pragma once

#include <QColor>

namespace deltascope::desktop {

/// What a color means; the same words as in ui/web/src/styles/tokens.css.
enum class Token {
    Window, ///< ground of bars and docks
    Surface, ///< ground of pages
    Raised, ///< cards, fields, buttons
    Sunken, ///< wells, rails of progress bars
    Border,
    StrongBorder,
    Grid,
    Text,
    Muted,
    Accent, ///< selected, an act, or the one plain series
    OnAccent,
    Selection,
    Pressed,
    Pause, ///< no tokens are being produced, and nothing else; never text
    Error,
    ErrorGround,
    Warn, ///< no contact, and nothing else
    WarnGround,
    Ok,
    Upload,
    Fetch, ///< fetch and stage
    Verify,
    Diff, ///< diff and encode
    Resume,
    Waiting,
    OtherSeries,
    ZeroCell,
    Scrim,
};
constexpr int TokenCount = static_cast<int>(Token::Scrim) + 1;

enum class Shade { Light, Dark };

/// Of a given theme.
QColor color(Token token, Shade shade);
/// Of the theme that the application shows now. GUI thread.
QColor color(Token token);
/// GUI thread.
Shade currentShade();
/// What color(Token) answers from now on; applyLook() calls it. GUI thread.
void setCurrentShade(Shade shade);

} // namespace deltascope::desktop
