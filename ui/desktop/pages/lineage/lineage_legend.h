#pragma once

#include <QWidget>

namespace deltascope::desktop {

/// What the marks of the chain column mean. Leaves out from the left what does not fit. GUI thread.
class LineageLegend final : public QWidget {
    Q_OBJECT

public:
    explicit LineageLegend(QWidget* parent = nullptr);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Entry {
        QString text;
        int mark;
    };
    int widthOf(const Entry& entry) const;
    std::vector<Entry> m_entries;
};

} // namespace deltascope::desktop
