#pragma once

#include "look/text_cache.h"
#include "pages/lineage/lineage_model.h"

#include <QFont>
#include <QFontMetrics>

class QHeaderView;
class QPainter;
class QRect;

namespace deltascope::desktop {

/// Paints the lines of the list of versions: one call per line, no style sheet in between. GUI thread.
class LineageRows {
public:
    LineageRows();
    void lookChanged(); ///< fonts are others now

    struct Line {
        int at = 0; ///< row of the model
        QRect rect;
        bool selected = false;
        bool underMouse = false;
        bool focused = false; ///< the keyboard is here
    };
    void paint(QPainter& painter, const Line& line, const LineageModel& model, const QHeaderView& header,
               const ShownPath& hovered) const;
    /// Where the triangle is that folds and opens, in a line.
    static QRect triangle(const QRect& line, const QHeaderView& header);

private:
    struct Pen; ///< a painter that writes into the columns of a line
    void paintRow(Pen& pen, const LineagePicture& picture, const LineageItem& item) const;
    void paintFold(Pen& pen, const LineagePicture& picture, const LineageItem& item) const;
    void paintRestart(Pen& pen, const LineagePicture& picture, const LineageItem& item) const;
    void paintNames(Pen& pen, const LineagePicture& picture, std::size_t row) const;

    QFont m_plain, m_strong, m_label;
    mutable TextCache m_texts;
};

} // namespace deltascope::desktop
