#pragma once

#include <QFont>
#include <QHash>
#include <QStaticText>

class QPainter;
class QRect;

namespace deltascope::desktop {

/// Short texts that are drawn again and again, laid out once. Fonts are told apart by where they are: clear() when one
/// of them changes. GUI thread.
class TextCache {
public:
    /// One line, in the middle of the height, at the left of `room` or, with Qt::AlignRight, at its right, or in its
    /// center; elided at the end if it does not fit. Takes pen and font of the painter. Returns the width that it
    /// takes.
    int draw(QPainter& painter, const QRect& room, const QString& what, const QFont& font, Qt::Alignment align);
    void clear() { m_texts.clear(); }

private:
    struct Text {
        QStaticText layout;
        int width = 0; ///< of all of it
    };
    const Text& textOf(const QString& what, const QFont& font);

    QHash<std::pair<const QFont*, QString>, Text> m_texts;
};

} // namespace deltascope::desktop
