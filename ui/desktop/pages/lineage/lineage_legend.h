#pragma once

#include <QWidget>

namespace deltascope::desktop {

/// What the marks of the chain column mean. Leaves out from the left what does not fit. GUI thread.
class LineageLegend final : public QWidget {
    Q_OBJECT

public:
    explicit LineageLegend(QWidget* parent = nullptr);
    void setOtherWays(bool shown); ///< whether any version can be had in several ways
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Entry {
        QString text;
        int mark;
    };
    void tell(); ///< for those who do not see it
    int widthOf(const Entry& entry) const;
    std::vector<Entry> m_entries;
};

} // namespace deltascope::desktop
