#pragma once

#include "look/tokens.h"

#include <QWidget>

#include <vector>

namespace deltascope::desktop {

/// Colors and what they stand for, in the header of a chart. Entries that do not fit are left out from the right; the
/// tooltip tells all. GUI thread.
class PlotLegend final : public QWidget {
    Q_OBJECT

public:
    enum class Mark { None, Line, FaintLine, Square };
    struct Entry {
        QString text;
        Mark mark = Mark::None;
        Token token = Token::Text;

        bool operator==(const Entry&) const = default;
    };

    explicit PlotLegend(QWidget* parent = nullptr);
    void setEntries(std::vector<Entry> entries);
    QString text() const; ///< all entries as words

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return { 0, 16 }; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int widthOf(const Entry& entry) const;

    std::vector<Entry> m_entries;
};

} // namespace deltascope::desktop
